"""UPDATE or DELETE of rows by known keys, instead of a MERGE in which only that clause can apply.

MERGE INTO v USING VALUES (4, 'Anne'), (5, 'Bob') AS d(id, name) ON v.id <=> d.id
WHEN MATCHED AND NOT (v.name <=> d.name) THEN UPDATE SET name = d.name

UPDATE v SET name = m[v.id] WHERE v.id IN (4, 5) AND NOT (v.name <=> m[v.id])     m: the literal map 4 → 'Anne', 5 → 'Bob'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, conjunction
from dbt_idivm.algebra.types import DIALECT, is_float, type_of
from dbt_idivm.cached import cached_property
from dbt_idivm.script.dialect import decode, literal
from dbt_idivm.script.diff import INLINE_ROWS, INTEGERS, Row, Value
from dbt_idivm.script.merge import SOURCE, TARGET, Clause, Condition, Key, Merge, tree_of
from dbt_idivm.script.source_rows import SourceRows

_PLAIN = INTEGERS | {"boolean", "string"}


def by_key(merge: Merge, clause: Clause, source: SourceRows) -> exp.Update | exp.Delete | None:
    """The UPDATE or DELETE equivalent to `merge`, if only its `clause`, for matched rows, can apply to the rows of `source`.

    None if the rows cannot be identified by literals: a key is NULL or floating-point, or two source rows have the same key. Also
    if they are many, because Spark looks a value up by comparing it with each.
    """
    found = _named_by_literals(merge.matching.on, source) if len(source.rows) <= INLINE_ROWS else None
    if found is None:
        return None
    keys, rest = found
    rest = [*rest, *_open(clause.conditions, source)]
    where = conjunction([*keys.tests(), *(keys.looked_up(tree_of(each)) for each in rest)])
    changes = exp.Where(this=where) if where is not None else None
    if clause.action == "delete":
        return exp.Delete(this=merge.target, where=changes)
    values = [exp.EQ(this=column(name), expression=keys.looked_up(value)) for name, value in clause.values.items()]
    return exp.Update(this=merge.target, expressions=values, where=changes)


def _named_by_literals(on: Iterable[Condition], source: SourceRows) -> tuple[Keys, list[Condition]] | None:
    """(keys by which the source rows identify rows of the view, other conditions of ON).

    None if literals cannot identify the rows: a key is NULL or floating-point, or two source rows have the same key.
    """
    parts = _open((_decided(each, source) for each in on), source)
    given = [each.name for part in parts for each in tree_of(part).find_all(exp.Column) if _is_of_source(each)]
    # Spark optimises `v.x <=> 0.0 AND CAST(v.x AS STRING) <=> '0.0'` wrongly: the literal replaces v.x in both, so that -0.0
    # passes
    if any(is_float(type_of(source.type(name))) for name in given):
        return None
    found = [part for part in parts if isinstance(part, Key) and part.unless is None]
    keys = Keys(source, tuple((key.given, key.stored) for key in found))
    return (keys, [part for part in parts if part not in found]) if keys.are_usable else None


def _decided(condition: Condition, source: SourceRows) -> Condition:
    """The condition for these rows. `any_id OR v.id <=> d.id` becomes `v.id <=> d.id` if `any_id` is false in all of them."""
    if not isinstance(condition, Key) or condition.unless is None:
        return condition
    is_needed = all(source.cell(row, condition.unless) is False for row in source.rows)
    return replace(condition, unless=None) if is_needed else condition


def _open(conditions: Iterable[Condition], source: SourceRows) -> list[Condition]:
    """The conditions that are not known to be true for all source rows."""
    return [each for each in conditions if any(source.holds((each,), row) is not True for row in source.rows)]


def _is_of_source(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.table == SOURCE


@dataclass(frozen=True)
class Keys:
    """The keys of the source rows. `columns`: pairs (column of the source, column of the view that must have its value)."""

    source: SourceRows
    columns: tuple[tuple[str, str], ...]

    @cached_property
    def values(self) -> tuple[Row, ...]:
        return tuple(tuple(self.source.cell(row, name) for name, _ in self.columns) for row in self.source.rows)

    @property
    def are_usable(self) -> bool:
        return len(set(self.values)) == len(self.values) and all(cell is not None for value in self.values for cell in value)

    def tests(self) -> Iterator[exp.Expr]:
        """Conditions that a row of the view has one of the keys."""
        for name, stored in self.columns:
            cells = tuple(dict.fromkeys(self.source.cell(row, name) for row in self.source.rows))
            yield is_one_of(column(stored, TARGET), cells, self.source.type(name))
        if len(self.columns) > 1 and len(self.values) > 1:
            yield exp.ArrayContains(this=self._array(), expression=self._of_stored_row())

    def looked_up(self, expression: exp.Expr) -> exp.Expr:
        """The expression with each source column replaced by its value in the source row that has the key of the stored row."""
        return expression.transform(lambda node: self._value_of(node.name) if _is_of_source(node) else node)

    def _value_of(self, name: str) -> exp.Expr:
        cells, kind = tuple(self.source.cell(row, name) for row in self.source.rows), self.source.type(name)
        if len(set(cells)) == 1:
            # next to a decimal, the literal 3 counts as one digit, but an INT as ten
            return literal(cells[0]) if kind == "string" and cells[0] is not None else decode(literal(cells[0]), kind)
        found = exp.Map(keys=self._array(), values=_array(cells, kind))
        return exp.Bracket(this=found, expressions=[self._of_stored_row()])

    def _array(self) -> exp.Expr:
        kinds = [self.source.type(name) for name, _ in self.columns]
        if len(kinds) == 1:
            return _array([cell for (cell,) in self.values], kinds[0])
        return exp.Array(
            expressions=[
                _struct([decode(literal(cell), kind) for cell, kind in zip(value, kinds, strict=True)]) for value in self.values
            ]
        )

    def _of_stored_row(self) -> exp.Expr:
        """The key of the stored row, in the form of the elements of `_array`."""
        if len(self.columns) == 1:
            return column(self.columns[0][1], TARGET)
        return _struct([_cast(column(stored, TARGET), self.source.type(name)) for name, stored in self.columns])


def is_one_of(of: exp.Column, cells: Sequence[Value], kind: str) -> exp.Expr:
    """The condition that a column is one of these different values, as literals. It uses IN, by which Delta skips files."""
    values = [_value(cell, kind) for cell in cells if cell is not None]
    found: list[exp.Expr] = []
    if values:
        found = [exp.EQ(this=of.copy(), expression=values[0]) if len(values) == 1 else exp.In(this=of.copy(), expressions=values)]
    if len(values) < len(cells):
        found.append(exp.Is(this=of.copy(), expression=exp.null()))
    return exp.or_(*found)


def is_exactly(of: exp.Column, cell: Value, kind: str) -> exp.Expr:
    """The condition that a column has this value, as a literal, or is NULL as it is. It is never NULL itself."""
    return exp.NullSafeEQ(this=of.copy(), expression=exp.null() if cell is None else _value(cell, kind))


def _struct(values: Sequence[exp.Expr]) -> exp.Struct:
    return exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(f"k{number}"), expression=value) for number, value in enumerate(values, 1)
        ]
    )


def _array(cells: Sequence[Value], kind: str) -> exp.Expr:
    found = exp.Array(expressions=[_value(cell, kind) for cell in cells])
    return _cast(found, f"array<{kind}>") if kind in INTEGERS and kind != "int" else found  # an integral literal is an INT


def _value(cell: Value, kind: str) -> exp.Expr:
    """The cell as a literal. For integral types it is a plain literal, to be cast by a comparison or by the array."""
    return literal(cell) if kind in _PLAIN else decode(literal(cell), kind)


def _cast(value: exp.Expr, kind: str) -> exp.Expr:
    if kind == "timestamp":  # its name may mean another type in the session, and no value needs a cast to it
        return value
    return exp.Cast(this=value, to=exp.DataType.build(kind, dialect=DIALECT))
