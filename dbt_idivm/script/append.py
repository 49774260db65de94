"""The append: if i-diffs only insert rows that are certainly new, they are added without reading or rewriting the view."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.expressions import alias
from dbt_idivm.idiff.idiff import INS, IDiff
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.direct import Direct, rows_of
from dbt_idivm.script.merge import insert_into
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.times import definitions
from dbt_idivm.script.ways import Shape


@dataclass(frozen=True)
class Append(Direct):
    """I-diffs that pass `is_append`, at least one. They pass `is_direct` as well, and update no stored row."""

    @property
    def shape(self) -> Shape:
        return "append"

    def statement(self, view: Stored, binder: StatementBinder, target: str) -> exp.Insert:
        parts = []
        for number, diff in enumerate(self.idiffs):
            block = rows_of(view, self.idiffs[:number], diff, binder)
            values = {column.name: block.output[column.attribute] for column in view.columns} | definitions(view)
            names = [alias(values[name], name) for name in view.names]
            parts.append(block.select().select(*names, append=False, copy=False))
        return insert_into(binder.binding.dialect.table(target, None), view.names, binder.attach(union_all(parts)))


def is_append(idiffs: tuple[IDiff, ...]) -> bool:
    """Whether every i-diff inserts, and the view has no row with its IDs."""
    return all(diff.kind is INS and diff.fresh for diff in idiffs)
