"""The direct application: the i-diffs themselves are the source, if no two of them can hit the same view row. The view is not
read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import Block
from dbt_idivm.algebra.core import exists
from dbt_idivm.algebra.expressions import alias, column, same
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import distinguishable
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff, Kind
from dbt_idivm.operators.scan import reads_tables
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.merge import OP, SOURCE, TARGET, Clause, Condition, Key, Matching, Merge, op_is
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.ways import Application, Change, Shape


@dataclass(frozen=True)
class Direct(Application):
    """I-diffs that pass `is_direct`, at least one."""

    @property
    def shape(self) -> Shape:
        return "direct"

    @property
    def relations(self) -> tuple[Relation, ...]:
        return tuple(diff.relation for diff in self.idiffs)

    @property
    def reads_view(self) -> bool:
        return False

    @property
    def assigned(self) -> frozenset[str]:
        return frozenset(name for diff in self.idiffs for name in diff.assigned if diff.kind is UPD or not diff.fresh)

    def statement(self, view: Stored, binder: StatementBinder, target: str) -> Change:
        return direct_merge(view, self.idiffs, binder, target)


def is_direct(idiffs: tuple[IDiff, ...]) -> bool:
    """Whether no view row can be matched by two source rows. It is proved pair by pair from kind, origin and freshness."""
    return all(diff.kind is not REC for diff in idiffs) and all(are_disjoint(*pair) for pair in combinations(idiffs, 2))


def are_disjoint(one: IDiff, other: IDiff) -> bool:
    """Whether two i-diffs never name the same view row. Two INS may: they insert equal rows, which are deduplicated."""
    if _differ_in_constants(one, other):
        return True
    kinds = {one.kind, other.kind}
    if INS in kinds:
        inserts = [diff for diff in (one, other) if diff.kind is INS]
        return UPD not in kinds or all(diff.fresh for diff in inserts)
    # The classes of one net diff have disjoint keys, so i-diffs of the same occurrence with the same IDs are disjoint. With
    # different IDs they need not be: a row (l, r) is named by the update of l and by the deletion of r.
    return (
        one.ids == other.ids
        and len(one.origins) == len(other.origins) == 1
        and one.origins != other.origins
        and {o.occurrence for o in one.origins} == {o.occurrence for o in other.origins}
        and (one.kind is not other.kind or not any(reads_tables(diff.relation) for diff in (one, other)))
    )


def _differ_in_constants(one: IDiff, other: IDiff) -> bool:
    """Whether an attribute by which both name rows is a different literal in each, such as the branch of a ∪."""
    fixed = dict(one.constants)
    return any(fixed.get(name, value) != value for name, value in other.constants)


class _Effect(NamedTuple):
    """What i-diffs do to view rows by the same clauses of MERGE."""

    kind: Kind
    assigned: tuple[str, ...]
    fresh: bool

    @classmethod
    def of(cls, diff: IDiff) -> _Effect:
        return cls(diff.kind, diff.assigned, diff.fresh)


def direct_merge(view: Stored, idiffs: tuple[IDiff, ...], binder: StatementBinder, target: str) -> Merge:
    """The MERGE that applies the i-diffs. There must be at least one, and they must pass `is_direct`."""
    effects = tuple(dict.fromkeys(map(_Effect.of, idiffs)))
    tags = {each: f"{each.kind}_{number}" if len(effects) > 1 else None for number, each in enumerate(effects, 1)}
    naming = tuple(name for name in view.root.columns if any(name in d.ids for d in idiffs))
    partial = tuple(name for name in naming if any(name not in d.ids for d in idiffs))
    columns = tuple(name for name in view.root.columns if any(name in diff.attributes for diff in idiffs))
    parts = [
        _tagged(rows_of(view, idiffs[:number], diff, binder), diff, tags[_Effect.of(diff)], columns, partial)
        for number, diff in enumerate(idiffs)
    ]
    broadcast = binder.is_source_broadcast(*(diff.relation for diff in idiffs))
    on = tuple(_match(view, name, name in partial) for name in naming)
    clauses = tuple(clause for effect, tag in tags.items() for clause in _clauses(view, effect, tag))
    table = binder.binding.dialect.table(target, None)
    return Merge(table, binder.attach(union_all(parts)), Matching(on, clauses), broadcast=broadcast)


def rows_of(view: Stored, earlier: tuple[IDiff, ...], diff: IDiff, binder: StatementBinder) -> Block:
    """The rows of an i-diff. An INS leaves out rows that an earlier INS contains as well, unless the two cannot overlap.

    Without that exception n branches of a UNION ALL would need n² tests.
    """
    block = diff.relation.block(binder)
    if diff.kind is not INS:
        return block
    tests = tuple(
        exp.Not(this=exists(other.relation.block(binder), block, view.root.ids))
        for other in earlier
        if other.kind is INS and not _differ_in_constants(other, diff)
    )
    return Block(block.sources, block.output, block.where + tests, block.broadcast)


def _tagged(block: Block, diff: IDiff, tag: str | None, columns: tuple[str, ...], partial: tuple[str, ...]) -> exp.Select:
    have = diff.attributes
    output = {name: block.output[name] if name in have else exp.null() for name in columns}
    output |= {f"any_{name}": exp.Boolean(this=name not in diff.ids) for name in partial}
    named = {**({OP: exp.Literal.string(tag)} if tag else {}), **output}
    query = Block(block.sources, {}, block.where, block.broadcast).select()
    # DEL(()), for the single row of a view without IDs, has no columns
    return query.select(*(alias(value, name) for name, value in named.items()), append=not named, copy=False)


def _match(view: Stored, name: str, partial: bool) -> Condition:
    """The condition that a stored row has the value of `name` in the source row. `partial`: not for i-diffs that lack it."""
    return Key(view.stored(name), name, f"any_{name}" if partial else None)


def _clauses(view: Stored, effect: _Effect, tag: str | None) -> Iterator[Clause]:
    tagged: tuple[Condition, ...] = (op_is(tag),) if tag else ()
    if effect.kind is DEL:
        yield Clause("delete", tagged)
        return
    assigned = {c.name: column(c.attribute, SOURCE) for c in view.columns if c.attribute in effect.assigned}
    if assigned and not effect.fresh:  # an INS with IDs only does not change a stored row
        types = {c.name: view.root.types[c.attribute] for c in view.columns}
        equal = exp.and_(
            *(
                same(distinguishable(column(name, TARGET), types[name]), distinguishable(value.copy(), types[name]))
                for name, value in assigned.items()
            )
        )
        yield Clause("update", (*tagged, exp.Not(this=exp.paren(equal))), assigned)
    if effect.kind is INS:
        yield Clause("insert", tagged, {c.name: column(c.attribute, SOURCE) for c in view.columns})
