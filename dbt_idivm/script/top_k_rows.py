"""The relations of the way `topk`: the netted changes of ω's input, their ranking with the stored rows, and the lost partitions.

    changed_rows     the net signed rows of R as the view shows them, each with its weight
    ranked_rows      per partition, in the order O: the stored rows, marked if Δ⁻ deletes them, and the rows of Δ⁺
    lost_partitions  the partitions in which a row that is not stored may be among the first k

In ranked_rows, `idivm_place` counts the rows up to this one, in the order O, that are not deleted. `idivm_bound` is the place of
the k-th stored row; NULL if fewer rows are stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import Binder, Block, hinted, isolate, subquery
from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.core import Filter, Unary
from dbt_idivm.algebra.expressions import alias, column, conjunction, same
from dbt_idivm.algebra.lookups import Named, named_block
from dbt_idivm.algebra.operator import SIGN
from dbt_idivm.algebra.relation import Provenance, Relation
from dbt_idivm.algebra.types import is_float
from dbt_idivm.cached import cached_property
from dbt_idivm.operators.scan import Scan
from dbt_idivm.script.dialect import WEIGHT, net_rows

OLD = "old_rows"  # the stored rows of the touched partitions
LIVE, PLACE, BOUND = "idivm_live", "idivm_place", "idivm_bound"
_STORED, _RANK = "idivm_stored", "idivm_rank"
# Estimated fraction of the deleted rows that were among the first of their partition.
_AMONG_FIRST = 1 / 10
_INT = exp.DataType.build("int")
_ZERO, _ONE = exp.Literal.number(0), exp.Literal.number(1)


@dataclass(frozen=True)
class NetRows(Unary):
    """The distinct rows of `child`, which are signed rows, with the sum of their signs where it is not 0.

    `certain`: (attribute, type) for the attributes whose types are certain.
    """

    certain: tuple[tuple[str, exp.DataType], ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return (*self._names, WEIGHT)

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return {**self.child.types, WEIGHT: _INT}

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(name for name in self.child.columns if name != SIGN)

    def with_children(self, *children: Relation) -> Relation:
        (child,) = children
        return NetRows(child, self.certain)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return ()

    def block(self, binder: Binder) -> Block:
        signed = subquery(self.child.block(binder).select(), "signed_rows")
        query = net_rows(signed, [(name, name, self._type(name)) for name in self._names], column(SIGN))
        return isolate(query, self.columns, binder.alias("net_rows"))

    def _type(self, name: str) -> exp.DataType:
        """The type for netting. Floating-point values are cast back to their type, so it
        must be certain; otherwise it is UNKNOWN.
        """
        kind = self.child.types[name]
        return dict(self.certain).get(name, exp.DataType.build("unknown")) if is_float(kind) else kind

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return NetRows(self.child.restrict(on, keys), self.certain)

    def narrowed(self, names: frozenset[str]) -> Relation:
        return self

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return None

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0]

    def label(self) -> str:
        return "net rows"


@dataclass(frozen=True)
class WithStored(Unary):
    """The rows of `child`, which are net rows, in order with stored rows of their partitions. It is read as a whole."""

    child: Named

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(name for name in self.child.columns if name != WEIGHT)

    def with_children(self, *children: Relation) -> Relation:
        (child,) = children
        assert isinstance(child, Named)
        return replace(self, child=child)

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        raise AssertionError("rows in order are not restricted")

    def narrowed(self, names: frozenset[str]) -> Relation:
        return self

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return None


@dataclass(frozen=True)
class Ranked(WithStored):
    """The net rows ranked with `OLD`. `removing`: whether there may be rows with negative weight."""

    ids: tuple[str, ...]
    partition: tuple[str, ...]
    order: tuple[exp.Expr, ...]
    count: int
    removing: bool

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return (*self._names, PLACE, *((LIVE, BOUND) if self.removing else ()))

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return {**self.child.types, PLACE: _INT, LIVE: _INT, BOUND: _INT}

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return self.order

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0].with_rows(inputs[0].rows * (1 + self.count))

    def label(self) -> str:
        return f"stored and new rows by {', '.join(self.partition)}, in order"

    def block(self, binder: Binder) -> Block:
        new = self._changed(binder, exp.GT)
        old = named_block(OLD, self._names, binder.alias(OLD))
        if not self.removing:
            rows = subquery(union_all([old.select(), new.select()]), "candidates")
            names: list[exp.Expr] = [column(name) for name in self._names]
            place = self._over(exp.RowNumber(), self.order, None)
            query = exp.Select(expressions=[*names, alias(place, PLACE)])
            return isolate(query.from_(rows), self.columns, binder.alias("ranked"))
        candidates = union_all([self._survivors(old, binder), new.select().select(alias(_ONE, LIVE), alias(_ZERO, _STORED))])
        counted = [alias(self._up_to(LIVE), PLACE), alias(self._up_to(_STORED), _RANK)]
        ranked = exp.Select(expressions=[*(column(name) for name in (*self._names, LIVE, _STORED)), *counted]).from_(
            subquery(candidates, "candidates")
        )
        query = exp.Select(expressions=[*(column(name) for name in (*self._names, PLACE, LIVE)), alias(self._bound(), BOUND)])
        return isolate(query.from_(subquery(ranked, "counted")), self.columns, binder.alias("ranked"))

    def _changed(self, binder: Binder, sign: type[exp.Binary]) -> Block:
        rows = self.child.block(binder).filter(sign(this=column(WEIGHT), expression=_ZERO.copy()))
        return Block(rows.sources, {name: rows.output[name] for name in self._names}, rows.where, rows.broadcast)

    # Wrong without the mark: the first row of a partition is deleted and a row after it is inserted. The deleted row would stay.
    def _survivors(self, old: Block, binder: Binder) -> exp.Select:
        """The stored rows, with LIVE = 0 for those that are deleted."""
        gone = self._changed(binder, exp.LT)
        gone = Block(gone.sources, {name: gone.output[name] for name in self.ids}, gone.where, gone.broadcast)
        name = binder.alias("gone")
        found = gone.select().select(alias(_ONE, _STORED), copy=False)
        on = conjunction(same(old.output[each], column(each, name)) for each in self.ids)
        live = exp.Case(
            ifs=[exp.If(this=exp.Is(this=column(_STORED, name), expression=exp.null()), true=_ONE.copy())], default=_ZERO.copy()
        )
        query = old.select().select(alias(live, LIVE), alias(_ONE, _STORED), copy=False)
        query = query.join(exp.Join(this=subquery(found, name), side="LEFT", on=on), copy=False)
        return hinted(query, [name] if gone.broadcast else [])

    def _up_to(self, name: str) -> exp.Expr:
        """The sum of a mark over the rows of the partition up to this one.

        If O does not distinguish a deleted stored row and a new row, the new one comes first: it also
        comes before all rows that are not stored.
        """
        order = (*self.order, exp.Ordered(this=column(LIVE), desc=True))
        frame = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
        return exp.Cast(this=self._over(exp.Sum(this=column(name)), order, frame), to=_INT.copy())

    def _bound(self) -> exp.Expr:
        last = exp.and_(
            exp.EQ(this=column(_STORED), expression=_ONE.copy()),
            exp.EQ(this=column(_RANK), expression=exp.Literal.number(self.count)),
        )
        place = exp.Case(ifs=[exp.If(this=last, true=column(PLACE))])
        return self._over(exp.Max(this=place), (), None)

    def _over(self, function: exp.Expr, order: Sequence[exp.Expr], frame: exp.WindowSpec | None) -> exp.Window:
        by = exp.Order(expressions=[each.copy() for each in order]) if order else None
        return exp.Window(this=function, partition_by=[column(name) for name in self.partition], order=by, spec=frame)


def first_of(ranked: Named, count: int) -> Relation:
    """The first rows of the partitions whose first k rows are certainly among the ranked ones."""
    tests: list[exp.Expr] = [exp.LTE(this=column(PLACE), expression=exp.Literal.number(count))]
    if BOUND in ranked.columns:
        complete = exp.or_(
            exp.Is(this=column(BOUND), expression=exp.null()), exp.GTE(this=column(BOUND), expression=exp.Literal.number(count))
        )
        tests += [exp.EQ(this=column(LIVE), expression=_ONE.copy()), exp.paren(complete)]
    return Filter(ranked, exp.and_(*tests))


def incomplete(ranked: Named, count: int) -> Relation:
    """The rows of all other partitions."""
    return Filter(ranked, exp.LT(this=column(BOUND), expression=exp.Literal.number(count)))


@dataclass(frozen=True)
class LostPartitions(Named):
    """A CTE of the keys of lost partitions: few, or none.

    With the broadcast hint, a semijoin with an empty one reads nothing: the engine knows that it is empty before it reads the
    other side. Without the hint it would shuffle that side at the same time.
    """

    scans: tuple[Scan, ...]

    def block(self, binder: Binder) -> Block:
        name = binder.alias(self.name)
        rows = named_block(self.name, self.columns, name, binder.are_few(self.definition))
        return isolate(rows.select(), self.columns, binder.alias("lost"))

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return None

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        deleted = sum(sizes.changes(scan.occurrence, "del", frozenset()) for scan in self.scans)
        return inputs[0].with_rows(min(deleted * _AMONG_FIRST, inputs[0].rows))


@dataclass(frozen=True)
class IfAny(Unary):
    """The rows of `child`, which are read only if `keys` is not empty. Estimates take that into account."""

    keys: LostPartitions

    def with_children(self, *children: Relation) -> Relation:
        (child,) = children
        return IfAny(child, self.keys)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return ()

    def block(self, binder: Binder) -> Block:
        return self.child.block(binder)

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return IfAny(self.child.restrict(on, keys), self.keys)

    def narrowed(self, names: frozenset[str]) -> Relation:
        return IfAny(self.child.narrowed(names), self.keys)

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0]

    def label(self) -> str:
        return "if any partition lost a row"
