"""The change of a maintained table by source rows, as a record. It becomes a MERGE, or a cheaper statement (`known_rows.py`),
once it is known what is fetched of these rows. Only then is it a tree.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sqlglot import exp

from dbt_idivm.algebra.block import hinted, subquery
from dbt_idivm.algebra.expressions import column, conjunction, identifier, same

TARGET, SOURCE = "v", "d"  # the view and the diff
OP = "idivm_op"
_COMPARISONS = {"=": (exp.EQ, operator.eq), "<": (exp.LT, operator.lt), ">": (exp.GT, operator.gt)}


@dataclass(frozen=True)
class Comparison:
    """The condition that a column of the source compares with a literal. It does not depend on the stored row."""

    name: str
    comparison: Literal["=", "<", ">"]
    value: str | int

    def holds(self, cell: object) -> bool | None:
        """Whether it is true for this cell of the column; None if the cell has another type than the literal."""
        return bool(_COMPARISONS[self.comparison][1](cell, self.value)) if isinstance(cell, type(self.value)) else None

    @property
    def tree(self) -> exp.Expr:
        return _COMPARISONS[self.comparison][0](this=column(self.name, SOURCE), expression=exp.convert(self.value))


@dataclass(frozen=True)
class Key:
    """The condition that a stored column is the same as the column `given` of the source.

    `unless`: a column of the source that is true for the rows that this key does not restrict.
    """

    stored: str
    given: str
    unless: str | None = None

    @property
    def tree(self) -> exp.Expr:
        test = same(column(self.stored, TARGET), column(self.given, SOURCE))
        return test if self.unless is None else exp.paren(exp.or_(column(self.unless, SOURCE), test))


Condition: TypeAlias = Comparison | Key | exp.Expr  # an expression depends on the stored row in another way than a key


def op_is(value: str) -> Comparison:
    """The condition that the source row has this operation."""
    return Comparison(OP, "=", value)


def tree_of(condition: Condition) -> exp.Expr:
    return condition.copy() if isinstance(condition, exp.Expr) else condition.tree


@dataclass(frozen=True)
class Clause:
    """What is done with source rows that satisfy all `conditions`, and match a stored row unless the action is an insert.

    `values`: stored column → its new value, for an update or an insert.
    """

    action: Literal["delete", "update", "insert"]
    conditions: tuple[Condition, ...] = ()
    values: Mapping[str, exp.Expr] = field(default_factory=dict)

    @property
    def is_matched(self) -> bool:
        return self.action != "insert"

    @property
    def tree(self) -> exp.When:
        names, values = [column(name) for name in self.values], [value.copy() for value in self.values.values()]
        then: exp.Expr = exp.Var(this="DELETE")
        if self.action == "update":
            pairs = zip(names, values, strict=True)
            then = exp.Update(expressions=[exp.EQ(this=name, expression=value) for name, value in pairs])
        elif self.action == "insert":
            then = exp.Insert(this=exp.Tuple(expressions=names), expression=exp.Tuple(expressions=values))
        return exp.When(matched=self.is_matched, condition=conjunction(map(tree_of, self.conditions)), then=then)


@dataclass(frozen=True)
class Matching:
    """How source rows are applied: a row matches the stored rows for which all conditions `on` are true, and of the clauses for
    matched rows it fires the first one that it satisfies. `unmatched`: the rows that satisfy it certainly match no stored row.
    """

    on: tuple[Condition, ...]
    clauses: tuple[Clause, ...]
    unmatched: Comparison | None = None


@dataclass(frozen=True)
class Merge:
    """The rows of `source`, a query, and how they are applied to `table`. `broadcast`: whether the source gets a hint. `times`:
    column of the table that has the time of writing → type."""

    table: exp.Table
    source: exp.Query
    matching: Matching
    broadcast: bool = False
    times: Mapping[str, exp.DataType] = field(default_factory=dict)

    @property
    def target(self) -> exp.Expr:
        """The table under its alias."""
        return exp.alias_(self.table, TARGET, table=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the source that conditions and clauses use, each once."""
        parts = (self._on, self._whens)
        return tuple(dict.fromkeys(each.name for part in parts for each in part.find_all(exp.Column) if each.table == SOURCE))

    @property
    def tree(self) -> exp.Merge:
        source = self.source.copy()
        if self.broadcast:
            source = hinted(exp.Select(expressions=[exp.Star()]).from_(subquery(source, "z")), ["z"])
        return exp.Merge(this=self.target, using=subquery(source, SOURCE), on=self._on, whens=self._whens)

    @property
    def _on(self) -> exp.Expr:
        return conjunction(map(tree_of, self.matching.on)) or exp.true()

    @property
    def _whens(self) -> exp.Whens:
        # Spark requires every WHEN MATCHED to come before the first WHEN NOT MATCHED
        clauses = sorted(self.matching.clauses, key=lambda clause: not clause.is_matched)
        return exp.Whens(expressions=[clause.tree for clause in clauses])


def insert_into(table: exp.Table, names: Sequence[str], query: exp.Query) -> exp.Insert:
    """INSERT of the query's rows. Its columns are the columns `names` of the table, in this order."""
    return exp.Insert(this=exp.Schema(this=table, expressions=[identifier(name) for name in names]), expression=query)
