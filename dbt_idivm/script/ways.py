"""The ways to maintain a view. Each of them alone keeps the same stored columns equal to the query.

A way contains what is known before any change: its i-diffs or signed rows. An *application* says what the way does in one
refresh, in which some base i-diffs are empty: which relations are evaluated, in which shape they are applied, and what is read
and written. Both exist before the SQL, so that they can be printed, compared and chosen. Rendering makes no further decisions
(ADR 0015).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sqlglot import exp

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.idiff.idiff import REC, IDiff
from dbt_idivm.operators.scan import DiffRows, Scan
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.diff import NetDiff
from dbt_idivm.script.leaves import diff_leaves, length, tables
from dbt_idivm.script.merge import Merge
from dbt_idivm.script.stored import Stored

WayName = Literal["additive", "topk", "tail", "id", "recompute", "tuple", "whole"]
Shape = Literal["append", "direct", "effective", "additive", "tuple"]
# how changes are propagated: as i-diffs, as rows to be recomputed, or as whole tuples
Strategy = Literal["id", "recompute", "tuple"]
IsEmpty = Callable[[DiffRows], bool]
Write: TypeAlias = exp.Merge | exp.Insert | exp.Update | exp.Delete
Change: TypeAlias = Merge | exp.Insert

# The ways that a strategy allows, in order of preference.
STRATEGIES: Mapping[Strategy, tuple[WayName, ...]] = {
    "id": ("additive", "topk", "tail", "id"),
    "recompute": ("recompute",),
    "tuple": ("additive", "tuple"),
}
ALL_WAYS: tuple[WayName, ...] = ("additive", "topk", "tail", "id", "recompute", "tuple", "whole")


@dataclass(frozen=True)
class Application(ABC):
    """What a way does in one refresh. `idiffs`: the i-diffs that it applies; additive and tuple-based ways apply none.

    If it is the form of another application for reached rows, that one is `instead_of`, and `reached` are the relations that say
    which rows these are.
    """

    way: WayName
    idiffs: tuple[IDiff, ...] = ()
    instead_of: Application | None = field(default=None, kw_only=True)
    reached: tuple[Relation, ...] = field(default=(), kw_only=True)

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """How the source rows are applied to the stored view."""

    @property
    @abstractmethod
    def relations(self) -> tuple[Relation, ...]:
        """The relations that are evaluated over the inputs."""

    @property
    @abstractmethod
    def reads_view(self) -> bool:
        """Whether stored rows are read in addition to those that MERGE matches."""

    @property
    def view_mentions(self) -> int:
        """How often stored rows are read, if `reads_view`."""
        return 1

    @property
    @abstractmethod
    def assigned(self) -> frozenset[str]:
        """The attributes of the view whose stored values it may update."""

    @property
    def perhaps(self) -> tuple[Relation, ...]:
        """The relations that are evaluated in addition to `relations` if the answer to a question requires it."""
        return ()

    @abstractmethod
    def statement(self, view: Stored, binder: StatementBinder, target: str) -> Change:
        """The MERGE into `target`, or the INSERT if rows are only appended.

        If the rows of a MERGE's source are fetched, it may become another statement (`known_rows.py`).
        """

    @property
    def has_whole_rows(self) -> bool:
        """Whether each source row of its MERGE is a whole row of a view with unique IDs.

        If `OP` is D, it is a stored row to be deleted. Otherwise it is a row of the new view,
        which replaces any stored row with that ID.
        """
        return False

    @property
    def depends_on(self) -> tuple[Relation, ...]:
        """The relations that say which rows of tables matter."""
        return self.reached or (*self.relations, *self.perhaps)

    @property
    def over_reached(self) -> Application:
        """The same change, in the form for inputs of which only the reached rows are evaluated; itself, if there is none."""
        return self

    @property
    def original(self) -> Application:
        """The application of which this is the form for reached rows; itself, if it is none."""
        return self.instead_of or self

    @property
    def recomputed(self) -> tuple[IDiff, ...]:
        """The i-diffs by which a part of the view is recomputed."""
        return tuple(diff for diff in self.idiffs if diff.kind is REC)

    @property
    def length(self) -> int:
        """The number of nodes of all relations that may be evaluated."""
        return length(*self.relations, *self.perhaps)

    @property
    def mentions(self) -> int:
        """How often tables are read in these relations."""
        return length(*self.relations, *self.perhaps, kind=Scan)

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables whose rows are read, each once."""
        return tables(*self.relations, *self.perhaps)

    @property
    def net_diffs(self) -> tuple[str, ...]:
        """The names of the base i-diffs that are read, each once."""
        return tuple(dict.fromkeys(leaf.name for leaf in diff_leaves(*self.relations)))


@dataclass(frozen=True)
class Way(ABC):
    """A way to maintain a view."""

    name: WayName

    @property
    @abstractmethod
    def base_idiffs(self) -> tuple[DiffRows, ...]:
        """The classes of net diffs from which it starts."""

    @abstractmethod
    def holds(self, diffs: Mapping[str, NetDiff]) -> bool:
        """The guard: whether the way is exact for these net diffs."""

    @abstractmethod
    def application(self, is_empty: IsEmpty, *, optimised: bool = True) -> Application | None:
        """The application for a refresh in which the base i-diffs that satisfy `is_empty` have
        no rows; None if the view does not change.

        `optimised` selects the Δ-script after semantic optimisation, instead of the one as propagated.
        """
