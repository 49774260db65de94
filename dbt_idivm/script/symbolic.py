"""A Δ-script before any refresh, for display: base i-diffs appear by name instead of as rows, and tables without versions."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_idivm.algebra.block import Block
from dbt_idivm.algebra.lookups import named_block
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.operators.scan import DiffRows
from dbt_idivm.script.binding import Binding, StatementBinder
from dbt_idivm.script.dialect import DELTA, Dialect
from dbt_idivm.script.diff import FeedDiff, NetChanges
from dbt_idivm.script.plan import Plan


@dataclass(frozen=True)
class SymbolicBinding(Binding):
    """A binding in which every table changed in unknown ways: no i-diff is empty."""

    def statement(self) -> StatementBinder:
        return _SymbolicBinder(self)


class _SymbolicBinder(StatementBinder):
    def diff(self, leaf: DiffRows) -> Block:
        return named_block(leaf.name, leaf.columns, self.alias(leaf.name))

    def is_broadcast(self, *relations: Relation) -> bool:
        return False


def symbolic(plan: Plan, dialect: Dialect = DELTA) -> SymbolicBinding:
    """The binding of a refresh in which every input of `plan` changed."""
    return SymbolicBinding(
        changes=NetChanges({scan.table: FeedDiff(scan.table, 0, 1) for scan in plan.scans}),
        dialect=dialect,
        columns=plan.column_names,
    )
