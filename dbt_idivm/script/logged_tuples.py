"""The tuple-based application to a change log: the view's net tuples are appended to it, and no view is read or written.

Copies are netted over the user's columns only: a deleted and an inserted row that differ only in hidden columns cancel out.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.operator import SIGN
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.change_log import OWN, Entry, inner_names, logged
from dbt_idivm.script.dialect import net_rows
from dbt_idivm.script.merge import insert_into
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.tuple_based import TupleBased, Tuples, type_in
from dbt_idivm.script.ways import Application, IsEmpty, Shape


@dataclass(frozen=True)
class LoggingTuples(TupleBased):
    """The tuple-based way for a change log."""

    entry: Entry

    def application(self, is_empty: IsEmpty, *, optimised: bool = True) -> LoggedTuples | None:
        done = super().application(is_empty, optimised=optimised)
        return None if done is None else LoggedTuples.of(done, self.entry)


@dataclass(frozen=True, kw_only=True)
class LoggedTuples(Tuples):
    """Appends the net tuples to the log. `entry`: the values that all rows of the refresh have in common."""

    entry: Entry

    @classmethod
    def of(cls, done: Tuples, entry: Entry) -> LoggedTuples:
        return cls(done.way, root=done.root, rows=done.rows, instead_of=done.instead_of, reached=done.reached, entry=entry)

    @property
    def over_reached(self) -> Application:
        done = super().over_reached
        return done if done is self or not isinstance(done, Tuples) else LoggedTuples.of(done, self.entry)

    @property
    def shape(self) -> Shape:
        return "append"

    @property
    def reads_view(self) -> bool:
        return False

    @property
    def has_whole_rows(self) -> bool:
        return False

    @property
    def assigned(self) -> frozenset[str]:
        return frozenset()

    def statement(self, view: Stored, binder: StatementBinder, target: str) -> exp.Insert:
        """The INSERT into the log."""
        shown = [each for each in view.columns if not each.hidden]
        names = tuple(each.name for each in shown)
        signed = subquery(self.rows.block(binder).select(), "signed_rows")
        columns = [
            (each.attribute, inner, type_in(view, each.attribute)) for each, inner in zip(shown, inner_names(shown), strict=True)
        ]
        net = net_rows(signed, columns, column(SIGN))
        query = binder.attach(logged(net, names, self.entry))
        return insert_into(binder.binding.dialect.table(target, None), (*names, *OWN), query)
