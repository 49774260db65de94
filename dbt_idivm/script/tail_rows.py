"""The relations of the way `tail`: the last stored row of each partition that gets rows, and the new rows that continue it.

    changed_rows     the net signed rows of R as the view shows them, each with the parts of its running values
    last_rows        for each of their partitions, the last stored row in the order O, if any, with its values as parts
    continued_rows   both, and for each row the values over the parts up to it

A partition is *late* if a new row does not come after its last stored row. Spark's own ORDER BY decides which row is last and
what comes after it, never a comparison of values: so NULLS FIRST, NaN and -0.0 are treated as in the window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.bags import Distinct, union_all
from dbt_idivm.algebra.block import Binder, Block, hinted, isolate, subquery
from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.core import Filter, project
from dbt_idivm.algebra.expressions import alias, column, conjunction, same
from dbt_idivm.algebra.lookups import Named, named_block
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.passes.running import Running
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.dialect import WEIGHT
from dbt_idivm.script.replace import stored_rows
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.top_k_rows import WithStored

LAST = "last_rows"
STORED, LATE = "idivm_stored", "idivm_late"
_CAME, _PLACE = "idivm_came", "idivm_place"
_INT = exp.DataType.build("int")
_ZERO, _ONE = exp.Literal.number(0), exp.Literal.number(1)


def last_rows(view: Stored, running: Running, changed: Named, binder: StatementBinder, target: str) -> exp.Select:
    """The last stored row of each partition of `changed`: Pt, O and the values.

    Among rows that O does not distinguish, any will do. Their values are equal, because RANGE frames include all of them, and
    calls with other frames are maintained only if O distinguishes all rows.
    """
    names = running.kept
    rows, name = stored_rows(view, binder, target), binder.alias("touched")
    keys = Distinct(project(changed, running.partition)).block(binder).select()
    on = conjunction(same(rows.output[each], column(each, name)) for each in running.partition)
    partition = [rows.output[each].copy() for each in running.partition]
    order = exp.Order(expressions=[_reversed(each, rows) for each in running.order])
    place = exp.Window(this=exp.RowNumber(), partition_by=partition, order=order)
    ranked = exp.Select(expressions=[*(alias(rows.output[each], each) for each in names), alias(place, _PLACE)])
    ranked = Block(rows.sources, {}).select().select(*ranked.expressions, append=False, copy=False)
    ranked = ranked.join(exp.Join(this=subquery(keys, name), on=on), copy=False)
    ranked = hinted(ranked, [name] if binder.are_few(changed) else [])
    query = exp.Select(expressions=[column(each) for each in names]).from_(subquery(ranked, "ranked"))
    return query.where(exp.EQ(this=column(_PLACE), expression=_ONE.copy()))


def _reversed(item: exp.Expr, rows: Block) -> exp.Expr:
    """An item of ORDER BY in the opposite direction, with NULLs at the other end."""
    assert isinstance(item, exp.Ordered)
    return exp.Ordered(
        this=rows.output[item.this.name].copy(), desc=not item.args.get("desc"), nulls_first=not item.args.get("nulls_first")
    )


# Wrong without peers: in ω_{cid; sum(price) by placed} a second row on the last day changes the sum of the first one.
def with_late(running: Running, changed: Named, binder: StatementBinder) -> exp.Select:
    """The rows of LAST with LATE: whether a new row comes before the row, or is a peer of it in the order O."""
    names = running.kept
    order = exp.Order(expressions=[each.copy() for each in running.order])
    came = exp.Window(
        this=exp.Sum(this=exp.Sub(this=_ONE.copy(), expression=column(STORED))),
        partition_by=[column(name) for name in running.partition],
        order=order,
    )
    counted = exp.Select(expressions=[*(column(name) for name in names), column(STORED), alias(came, _CAME)])
    counted = counted.from_(subquery(_candidates(names, (), names, changed, binder), "candidates"))
    late = exp.GT(this=column(_CAME), expression=_ZERO.copy())
    query = exp.Select(expressions=[*(column(name) for name in names), alias(late, LATE)]).from_(subquery(counted, "counted"))
    return query.where(exp.EQ(this=column(STORED), expression=_ONE.copy()))


def late_partitions(running: Running, changed: Named, binder: StatementBinder) -> exp.Select:
    """The partitions that are late: Pt and LATE."""
    names = (*running.partition, LATE)
    rows = subquery(with_late(running, changed, binder), "ranked")
    return exp.Select(expressions=[column(name) for name in names]).from_(rows).where(column(LATE))


def _candidates(last: Sequence[str], missing: Sequence[str], names: Sequence[str], changed: Named, binder: Binder) -> exp.Query:
    """The last stored rows and the new rows, distinguished by STORED. The attributes `missing` are NULL in stored rows."""
    old = named_block(LAST, tuple(last), binder.alias(LAST))
    values = [alias(exp.null() if name in missing else old.output[name], name) for name in names]
    stored = Block(old.sources, {}).select().select(*values, alias(_ONE, STORED), append=False, copy=False)
    rows = changed.block(binder).filter(exp.GT(this=column(WEIGHT), expression=_ZERO.copy()))
    new = Block(rows.sources, {name: rows.output[name] for name in names}, rows.where, rows.broadcast)
    return union_all([stored, new.select().select(alias(_ZERO, STORED), copy=False)])


@dataclass(frozen=True)
class Continued(WithStored):
    """The net rows, and the rows of LAST, with their running values. STORED is 1 for rows of LAST."""

    running: Running

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self._names, STORED)

    @property
    def types(self) -> Mapping[str, exp.DataType]:
        return {**self.child.types, **{name: self.running.window.types[name] for name in self.running.values}, STORED: _INT}

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return self.running.order

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0]

    def label(self) -> str:
        return f"new rows by {', '.join(self.running.partition)}, in order, after the last stored one"

    def block(self, binder: Binder) -> Block:
        last, values = self.running.kept, {each.call.name: each for each in self.running.calls}
        missing = tuple(name for name in self._names if name not in last)
        candidates = _candidates(last, missing, self._names, self.child, binder)
        cells = (
            alias(values[name].over_parts(self.running.partition), name) if name in values else column(name)
            for name in self._names
        )
        query = exp.Select(expressions=[*cells, column(STORED)]).from_(subquery(candidates, "candidates"))
        return isolate(query, self.columns, binder.alias("continued"))


def new_of(continued: Named) -> Relation:
    """The new rows of `continued`."""
    return Filter(continued, exp.EQ(this=column(STORED), expression=_ZERO.copy()))
