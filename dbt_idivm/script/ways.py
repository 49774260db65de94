"""The ways to maintain a view: each by itself keeps the same stored columns equal to the query.

A way contains what is known before any change: its i-diffs or signed rows. An *application* is what it does in one refresh, in
which some base i-diffs are empty: which relations are evaluated, in which shape they are applied, what is read and written. Both
exist before the SQL, so that they can be printed, compared and chosen; rendering adds nothing to them (ADR 0015).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlglot import exp

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.idiff.idiff import REC, IDiff
from dbt_idivm.operators.scan import DiffRows, Scan
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.diff import NetDiff
from dbt_idivm.script.leaves import diff_leaves, leaves, length
from dbt_idivm.script.source_rows import SourceQuery, SourceRows
from dbt_idivm.script.stored import Stored

WayName = Literal["additive", "topk", "tail", "id", "recompute", "tuple", "whole"]
Shape = Literal["append", "direct", "effective", "additive", "tuple"]
# how changes are propagated: as i-diffs, as rows to recompute, or as whole tuples
Strategy = Literal["id", "recompute", "tuple"]
IsEmpty = Callable[[DiffRows], bool]
Write: TypeAlias = exp.Merge | exp.Insert | exp.Update | exp.Delete

# The ways that a strategy names, in order of preference.
STRATEGIES: Mapping[Strategy, tuple[WayName, ...]] = {
    "id": ("additive", "topk", "tail", "id"),
    "recompute": ("recompute",),
    "tuple": ("additive", "tuple"),
}
ALL_WAYS: tuple[WayName, ...] = ("additive", "topk", "tail", "id", "recompute", "tuple", "whole")


@dataclass(frozen=True)
class Application(ABC):
    """What a way does in one refresh. `idiffs` are those that it applies; additive and tuple-based ways apply none."""

    way: WayName
    idiffs: tuple[IDiff, ...] = ()

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """How the rows meet the stored view."""

    @property
    @abstractmethod
    def relations(self) -> tuple[Relation, ...]:
        """What is evaluated over the inputs."""

    @property
    @abstractmethod
    def reads_view(self) -> bool:
        """Whether stored rows are read besides those that MERGE matches."""

    @property
    def view_mentions(self) -> int:
        """How often they are read, if they are."""
        return 1

    @property
    @abstractmethod
    def assigned(self) -> frozenset[str]:
        """The attributes of the view whose stored values it may update."""

    @property
    def perhaps(self) -> tuple[Relation, ...]:
        """What is evaluated besides `relations` if the answer to the question demands it."""
        return ()

    def question(self, view: Stored, binder: StatementBinder, target: str) -> SourceQuery | None:
        """What has to be asked before there is a statement; None if nothing has."""
        return None

    def answered(self, rows: SourceRows | None) -> Application:
        """What is done if these rows are the answer; None: they are too many, or have no text."""
        return self

    @abstractmethod
    def statement(self, view: Stored, binder: StatementBinder, target: str) -> Write:
        """The MERGE into `target`, or the INSERT if rows are only appended. Rows of a MERGE's source that are known may make
        another statement of it (`known_rows.py`)."""

    @property
    def unmatched(self) -> str | None:
        """The operation of source rows that surely match no row of the view; None if there is no such operation."""
        return None

    @property
    def has_whole_rows(self) -> bool:
        """Whether each row of the source of its MERGE is a whole row of a view with unique IDs: one that is stored and leaves,
        if the operation in `OP` is D, else one that is to be in the view, in place of a stored one with that ID."""
        return False

    @property
    def recomputed(self) -> tuple[IDiff, ...]:
        """The i-diffs by which a part of the view is recomputed."""
        return tuple(diff for diff in self.idiffs if diff.kind is REC)

    @property
    def length(self) -> int:
        """The number of nodes of what is evaluated."""
        return length(*self.relations, *self.perhaps)

    @property
    def mentions(self) -> int:
        """How often tables are read in it."""
        return length(*self.relations, *self.perhaps, kind=Scan)

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables whose rows are read, each once."""
        read = (*self.relations, *self.perhaps)
        return tuple(dict.fromkeys(leaf.table for each in read for leaf in leaves(each) if isinstance(leaf, Scan)))

    @property
    def net_diffs(self) -> tuple[str, ...]:
        """The base i-diffs that are read, each once."""
        return tuple(dict.fromkeys(leaf.name for leaf in diff_leaves(*self.relations)))


@dataclass(frozen=True)
class Way(ABC):
    """One way to maintain a view."""

    name: WayName

    @property
    @abstractmethod
    def base_idiffs(self) -> tuple[DiffRows, ...]:
        """The classes of net diffs that it starts from."""

    @abstractmethod
    def holds(self, diffs: Mapping[str, NetDiff]) -> bool:
        """The guard: whether the way is exact for these net diffs."""

    @abstractmethod
    def application(self, is_empty: IsEmpty, *, optimised: bool = True) -> Application | None:
        """What is to be done where these base i-diffs are empty; None if the view does not change.

        `optimised` chooses between the Δ-script as propagated and the one after semantic optimisation.
        """
