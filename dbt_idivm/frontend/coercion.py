"""The branches of UNION are cast to the types of its columns before any rule is applied, as Spark does.

    SELECT k, q AS x FROM a        q INT              π CAST(q AS DECIMAL(12,2))
    UNION ALL                                    →       ∪
    SELECT k, p FROM b             p DECIMAL(10,2)    π CAST(p AS DECIMAL(12,2))

Otherwise an i-diff would carry a branch's own value, such as '7' where the view has '7.00'. And a restriction of the output would
be pushed down to the branch's column, where '7' and '07' are one INT but two STRINGs.

In a chain of UNION ALLs the left one is cast first: in (INT ∪ DECIMAL) ∪ STRING, 1 becomes '1.0', if that has a type at all.
The rows of VALUES are branches as well; Spark casts all of them to their common type in one step.

Spark decides the type. It need not be asked if the types of all branches are certain and the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from dbt_idivm.algebra.core import Compute, Pair
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.inference import VOID, stored_type
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import type_of
from dbt_idivm.context import UnionTypes
from dbt_idivm.frontend.names import Names
from dbt_idivm.operators import Project, UnionAll


def needs_types(union: UnionAll) -> bool:
    """Whether the engine has to be asked for the union's types: types of branches are not certain, or they differ."""
    return any(None in kinds or len(set(kinds)) > 1 for kinds in zip(*_certain_sources(union), strict=True))


def _certain_sources(union: UnionAll) -> list[tuple[exp.DataType | None, ...]]:
    """For each branch, the certain types of its columns in the order of the outputs; None for a type that is not certain."""
    found = []
    for part, sources in zip(union.inputs, union.sources, strict=True):
        known = part.certain_types
        found.append(tuple(known.get(name) if name is not None else VOID for name in sources))
    return found


@dataclass(frozen=True)
class UntypedUnion:
    """A ∪ whose types the engine has to be asked for.

    `at_once`: its branches are the rows of VALUES, which Spark casts to their common type in one step. A chain
    of UNION ALLs is cast from left to right.
    """

    union: UnionAll
    at_once: bool = False

    @property
    def rows(self) -> int:
        """The number of rows of types in the answer: one per branch, and one for the first two, three, … branches up to all."""
        branches = len(self.union.parts)
        return branches + (1 if self.at_once else branches - 1)


def question(unions: Sequence[UntypedUnion]) -> Relation:
    """A relation whose column types are the answer: for each union the types of the branches' columns, then those of its own.

    If it is cast in steps, the types of its first two branches, its first three, and so on come in between.
    """
    parts: list[Relation] = []
    asked: list[tuple[str, exp.Expr]] = []
    for each in unions:
        union, first = each.union, len(parts)
        rows: list[tuple[Relation, Sequence[str | None]]] = [*zip(union.parts, union.sources, strict=True)]
        for n in () if each.at_once else range(2, len(union.parts) + 1):
            whole = replace(union, parts=union.parts[:n], sources=union.sources[:n])
            rows.append((whole, whole.outputs))
        for part, names in rows:
            columns = (exp.null() if name is None else column(name) for name in names)
            parts.append(Compute(part, tuple((f"c{len(parts)}_{i}", value) for i, value in enumerate(columns))))
        asked += [(name, column(name)) for part in parts[first:] for name in part.columns]
        if each.at_once:
            asked += _unified(parts[first:])
    return Compute(reduce(lambda left, right: Pair(left, right, exp.true()), parts), tuple(asked))


def _unified(rows: Sequence[Relation]) -> Iterator[tuple[str, exp.Expr]]:
    """The columns of VALUES. UNION would not do: it accepts fewer structs than VALUES,
    whose common types are those of COALESCE.
    """
    for names in zip(*(row.columns for row in rows), strict=True):
        first, *others = (column(name) for name in names)
        yield f"{names[-1]}_of_all", exp.Coalesce(this=first, expressions=others)


def answers(unions: Sequence[UntypedUnion], types: Sequence[str]) -> list[UnionTypes]:
    """The types of the columns of `question`, for each union."""
    rest, found = list(types), []
    for each in unions:
        width, branches = len(each.union.outputs), len(each.union.parts)
        rows = [tuple(rest[i * width : (i + 1) * width]) for i in range(each.rows)]
        rest = rest[width * len(rows) :]
        found.append(UnionTypes(tuple(rows[:branches]), rows[-1], tuple(rows[branches:-1])))
    return found


def coerced(
    part: Operator, sources: tuple[str, ...], casts: tuple[tuple[str, ...], ...], name: str, names: Names
) -> tuple[Operator, tuple[str, ...]]:
    """(the branch with its columns cast to the types of the union, the attributes that have the cast values).

    `casts`: for each column the types that it is cast to, in order. A cast makes another attribute, and the original one stays
    in the branch: an ID is passed on unchanged, as a hidden column.
    """
    definitions: dict[str, exp.Expr] = {each: column(each) for each in part.columns}
    outputs = []
    for source, kinds in zip(sources, casts, strict=True):
        output = source
        if kinds:
            output = names.attribute(name, f"{source}_as_{kinds[-1]}")
            definitions[output] = reduce(_cast, kinds, definitions[source])
        outputs.append(output)
    same = tuple(outputs) == sources
    return part if same else Project(part, tuple(definitions.items())), tuple(outputs)


def _cast(value: exp.Expr, kind: str) -> exp.Expr:
    return exp.Cast(this=value, to=type_of(kind).copy())


def check(union: UnionAll, types: UnionTypes) -> None:
    """Raise ValueError if a column of a branch does not have the type of the union's column."""
    for part, sources, have in zip(union.inputs, union.sources, types.branches, strict=True):
        known = part.certain_types
        for source, old, new in zip(sources, have, types.whole, strict=True):
            if old != new and (source is None or known.get(source) != stored_type(type_of(new))):
                raise ValueError(f"∪ has {source} of {old} in a column of {new}")
