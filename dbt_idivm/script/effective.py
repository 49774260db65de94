"""The effective application: the exact net change of the view, one source row per view row, unchanged rows left out.

    old_rows  the stored rows that some i-diff names, with a mark whether an i-diff removes them (`idivm_dead`)
    new_rows  the recomputed and the inserted rows
    source    old_rows ⟗ new_rows by full ID; remaining old_rows get the values that updates assign; unchanged rows are left out

The view is read once. If its IDs are not unique (inputs without a key), rows are compared by their number of copies: one D row
removes all copies of a changed row, and one I row for each copy in the post-state inserts them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from dbt_idivm.algebra.bags import Concat, union_all
from dbt_idivm.algebra.block import Block, hinted, subquery
from dbt_idivm.algebra.core import exists, project
from dbt_idivm.algebra.expressions import alias, column, conjunction, same
from dbt_idivm.algebra.lookups import Known, Named, named_block
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import distinguishable
from dbt_idivm.fresh_name import fresh_name
from dbt_idivm.idiff.idiff import INS, REC, UPD, IDiff
from dbt_idivm.optimize import optimize_rows
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.merge import OP, Merge
from dbt_idivm.script.replace import COPIES, STORED, counted, exploded, replace_by_id, replace_copies, stored_rows
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.tuple_based import are_comparable, compared
from dbt_idivm.script.ways import Application, WayName

OLD, NEW = "old_rows", "new_rows"
_HIT, _DEAD, _WEIGHT = "idivm_hit", "idivm_dead", "idivm_weight"
Branches = tuple[tuple[exp.Expr, exp.Expr], ...]  # (test, value), as in CASE: the first test that is true decides


@dataclass(frozen=True, kw_only=True)
class Effective(Application):
    """I-diffs, each a CTE, and for each REC among them, in order, the view restricted to its values (`evaluated`).

    `root`: the view, if its states can be compared instead.
    """

    evaluated: tuple[Relation, ...]
    root: Operator | None = None
    before: tuple[Named, ...] = ()  # CTEs that i-diffs use
    after: tuple[Named, ...] = ()  # CTEs that `evaluated` uses, and that may use old_rows

    @property
    def shape(self) -> Literal["effective"]:
        return "effective"

    @property
    def relations(self) -> tuple[Relation, ...]:
        return (*(diff.relation for diff in self.idiffs), *self.evaluated)

    @property
    def reads_view(self) -> bool:
        return True

    @property
    def covering(self) -> tuple[IDiff, ...]:
        """The i-diffs that remove the old rows they name. A fresh INS names no old row."""
        return tuple(diff for diff in self.idiffs if diff.kind is not UPD and not diff.fresh)

    @property
    def naming(self) -> dict[tuple[str, ...], tuple[IDiff, ...]]:
        """The i-diffs by which old rows are looked up, by their IDs. An update that was looked up for another update names no
        further rows."""
        updates = tuple(diff for diff in self.idiffs if diff.kind is UPD)
        found: dict[tuple[str, ...], tuple[IDiff, ...]] = {}
        for diff in self.covering + tuple(
            diff
            for diff in updates
            if not any(set(other.ids) < set(diff.ids) and other.origins == diff.origins for other in updates)
        ):
            found[diff.ids] = (*found.get(diff.ids, ()), diff)
        return found

    @property
    def over_reached(self) -> Application:
        if self.root is None or not self.naming or not are_comparable(self.root):
            return self
        before, columns = self.root.in_state("pre"), self.root.columns
        old = (project(before.restrict(ids, _values(ids, diffs)), columns) for ids, diffs in self.naming.items())
        return compared(self, self.root, (*self.relations, *map(optimize_rows, old)))

    @property
    def assigned(self) -> frozenset[str]:
        found = {name for diff in self.idiffs for name in diff.assigned}
        return frozenset(found.union(*(set(rows.columns) for rows in self.evaluated)))

    @property
    def has_whole_rows(self) -> bool:
        return True

    def statement(self, view: Stored, binder: StatementBinder, target: str) -> Merge:
        return effective_merge(view, self, binder, target)


def effective(way: WayName, root: Operator, idiffs: tuple[IDiff, ...], *, optimised: bool = True) -> Effective:
    """The application of the exact effect on `root` of `idiffs`, at least one.
    `optimised`: recompute with fewer reads (pass 4).
    """
    named = _named_once(idiffs)
    rows = (project(root.restrict(diff.ids, diff.relation), root.columns) for diff in named if diff.kind is REC)
    return Effective(way, named, evaluated=tuple(optimize_rows(each) if optimised else each for each in rows), root=root)


def _values(ids: tuple[str, ...], idiffs: Sequence[IDiff]) -> Relation:
    """The values of `ids` in the i-diffs, with copies."""
    parts = tuple(project(diff.relation, ids) for diff in idiffs)
    return parts[0] if len(parts) == 1 else Concat(parts)


def _named_once(idiffs: tuple[IDiff, ...]) -> tuple[IDiff, ...]:
    """The i-diffs with their rows as CTEs, because the statement may use them several times."""
    found: dict[str, IDiff] = {}
    for diff in idiffs:
        occurrences = dict.fromkeys(origin.occurrence for origin in sorted(diff.origins))
        name = fresh_name(f"v_{diff.kind}__{'_'.join(occurrences)}", found.__contains__)
        found[name] = diff.over(Named(name, diff.relation))
    return tuple(found.values())


@dataclass(frozen=True)
class _Work:
    """The i-diffs of one statement, grouped by their effect on the view's rows. `few`: whether the source has few rows."""

    view: Stored
    application: Effective
    binder: StatementBinder
    few: bool

    @property
    def idiffs(self) -> tuple[IDiff, ...]:
        return self.application.idiffs

    def of(self, kind: str) -> tuple[IDiff, ...]:
        return tuple(diff for diff in self.idiffs if diff.kind == kind)

    @property
    def updates(self) -> tuple[IDiff, ...]:
        return self.of(UPD)

    @property
    def brings(self) -> bool:
        """Whether there are new_rows."""
        return bool(self.of(REC) or self.of(INS))


def effective_merge(view: Stored, application: Effective, binder: StatementBinder, target: str) -> Merge:
    """The MERGE of the i-diffs' exact effect."""
    for each in (*application.before, *(diff.relation for diff in application.idiffs)):
        if isinstance(each, Named):
            binder.define(each)
        else:
            assert isinstance(each, Known), "an i-diff that is not named"
    work = _Work(view, application, binder, binder.is_source_broadcast(*(diff.relation for diff in application.idiffs)))
    binder.definitions[OLD] = _old_rows(work, target)
    for name in application.after:
        binder.define(name)
    query, matching = (
        (_by_id(work), replace_by_id(view, update="U")) if view.root.unique else (_by_copies(work), replace_copies(view))
    )
    return Merge(binder.binding.dialect.table(target, None), binder.attach(query), matching, broadcast=work.few)


def _old_rows(work: _Work, target: str) -> exp.Select:
    """The view's rows that an i-diff names, in one read. I-diffs with the same IDs share a join."""
    block = stored_rows(work.view, work.binder, target)
    groups = work.application.naming
    names = [work.binder.alias("named") for _ in groups]
    # a LEFT JOIN leaves the mark NULL if no key of the group names the row
    marks = [column(_DEAD, name) for name in names]
    dead = exp.or_(*(exp.Is(this=mark.copy(), expression=exp.true()) for mark in marks)) if marks else exp.false()
    hit = exp.or_(*(exp.Not(this=exp.Is(this=mark, expression=exp.null())) for mark in marks)) if marks else exp.false()
    query = block.select().select(alias(dead, _DEAD), copy=False)
    for name, (ids, diffs) in zip(names, groups.items(), strict=True):
        on = conjunction(same(block.output[i], column(i, name)) for i in ids) or exp.true()
        side = None if len(groups) == 1 else "LEFT"
        query = query.join(exp.Join(this=subquery(_named(work, ids, diffs), name), side=side, on=on), copy=False)
    naming = [diff.relation for diffs in groups.values() for diff in diffs]
    query = hinted(query, names if work.few or work.binder.is_broadcast(*naming) else [])
    return query if len(groups) == 1 else query.where(hit, copy=False)


def _named(work: _Work, ids: tuple[str, ...], diffs: Sequence[IDiff]) -> exp.Select:
    """The distinct values of `ids` in `diffs`, and whether one of these i-diffs removes the rows."""
    parts = []
    for diff in diffs:
        dead = exp.Boolean(this=diff.kind is not UPD)
        parts.append(
            project(diff.relation, ids).block(work.binder).select().select(alias(dead, _DEAD), append=bool(ids), copy=False)
        )
    keys = [column(name) for name in ids]
    mark = alias(exp.Max(this=column(_DEAD)), _DEAD)
    query = exp.Select(expressions=[*(key.copy() for key in keys), mark]).from_(subquery(union_all(parts), "keys"))
    if keys:
        return query.group_by(*keys, copy=False)
    # without GROUP BY there is a row even if there are no keys
    return query.having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0)), copy=False)


def _left(rows: exp.Select, name: str, on: Sequence[exp.Expr]) -> exp.Join:
    """LEFT JOIN of rows that are marked with `_HIT`."""
    marked = rows.select(exp.alias_(exp.true(), _HIT))
    return exp.Join(this=subquery(marked, name), side="LEFT", on=conjunction(on) or exp.true())


def _named_by(idiffs: Sequence[IDiff], block: Block, binder: StatementBinder) -> list[exp.Expr]:
    """For each i-diff, the condition that it names the row of `block`."""
    return [exists(project(diff.relation, diff.ids).block(binder), block, diff.ids) for diff in idiffs]


def _without(block: Block, idiffs: Sequence[IDiff], binder: StatementBinder) -> Block:
    """The rows that none of `idiffs` names. Rows are united by exclusion, because UNION would
    drop copies and UNION ALL would add some.
    """
    return replace(block, where=block.where + tuple(exp.Not(this=t) for t in _named_by(idiffs, block, binder)))


def _new_rows(work: _Work) -> list[exp.Query]:
    """The rows of recompute and insert i-diffs, as disjoint queries."""
    recs, inserts, columns = work.of(REC), work.of(INS), work.view.root.columns
    rows = [each.block(work.binder) for each in work.application.evaluated]
    rows += [project(diff.relation, columns).block(work.binder) for diff in inserts]
    bringing = [*recs, *inserts]
    return [_without(each, bringing[:number], work.binder).select() for number, each in enumerate(rows)]


def _updating(work: _Work) -> tuple[list[exp.Join], dict[str, Branches]]:
    """(LEFT JOINs, assignments): a join with old_rows for each update, and attribute → the values that updates assign to it."""
    names = [work.binder.alias("upd") for _ in work.updates]
    pairs = list(zip(names, work.updates, strict=True))
    joins = [
        _left(diff.relation.block(work.binder).select(), name, [same(column(i, OLD), column(i, name)) for i in diff.ids])
        for name, diff in pairs
    ]
    return joins, {
        attribute: tuple((column(_HIT, name), column(attribute, name)) for name, diff in pairs if attribute in diff.assigned)
        for attribute in work.view.root.columns
    }


def _by_id(work: _Work) -> exp.Select:
    """One source row for each view row that differs."""
    ids = work.view.root.ids
    joins, assigned = _updating(work)
    dead: exp.Expr = column(_DEAD, OLD)
    inserted: exp.Expr = exp.false()
    if work.brings:
        work.binder.definitions[NEW] = union_all(_new_rows(work))
        arrived = column(_HIT, NEW)
        inserted = exp.Is(this=column(_HIT, OLD), expression=exp.null())
        dead = exp.and_(dead, exp.Is(this=arrived.copy(), expression=exp.null()))
        assigned = {name: ((arrived, column(name, NEW)), *branches) for name, branches in assigned.items()}
        on = conjunction(same(column(name, OLD), column(name, NEW)) for name in ids) or exp.true()
        joins.insert(0, exp.Join(this=_marked(NEW), side="FULL", kind="OUTER", on=on))
    op = _case((inserted, exp.Literal.string("I")), (dead, exp.Literal.string("D")), default=exp.Literal.string("U"))
    values = (alias(_case(*branches, default=column(name, OLD)), name) for name, branches in assigned.items())
    query = exp.Select(expressions=[alias(op, OP), *values]).from_(_marked(OLD))
    for join in joins:
        query = query.join(join, copy=False)
    equal = _unchanged(work, {name: branches for name, branches in assigned.items() if name not in ids})
    return query.where(exp.or_(inserted, dead, exp.Not(this=exp.paren(equal))))


def _unchanged(work: _Work, assigned: Mapping[str, Branches]) -> exp.Expr:
    """The condition that the assigned values equal those of old_rows.

    Each branch is compared by itself. `old <=> CASE WHEN .. END` would repeat expressions of the select list, and for each of
    these that a condition contains Spark derives the whole condition once more: 2^n conditions for n attributes.
    """
    types = work.view.root.types

    def compared(name: str, value: exp.Expr) -> exp.Expr:
        return same(distinguishable(column(name, OLD), types[name]), distinguishable(value, types[name]))

    groups: dict[tuple[exp.Expr, ...], list[str]] = {}
    for name, branches in assigned.items():
        if branches:
            groups.setdefault(tuple(test for test, _ in branches), []).append(name)
    cases = (
        _case(
            *(
                (test, conjunction(compared(name, assigned[name][place][1]) for name in names) or exp.true())
                for place, test in enumerate(tests)
            ),
            default=exp.true(),
        )
        for tests, names in groups.items()
    )
    return conjunction(cases) or exp.true()


def _case(*branches: tuple[exp.Expr, exp.Expr], default: exp.Expr) -> exp.Expr:
    """The value of the first branch whose test is true."""
    ifs = [exp.If(this=test.copy(), true=value.copy()) for test, value in branches]
    return exp.Case(ifs=ifs, default=default.copy()) if ifs else default.copy()


def _marked(name: str) -> exp.Subquery:
    rows = exp.Select(expressions=[exp.Star(), exp.alias_(exp.true(), _HIT)]).from_(name)
    return subquery(rows, name)


def _by_copies(work: _Work) -> exp.Select:
    """One D row for each distinct row whose number of copies changes, and one I row for each copy in the post-state."""
    names = work.view.root.columns
    parts = _new_rows(work)
    if work.updates:
        parts.append(_updated_rows(work))
    work.binder.definitions[NEW] = union_all(parts) if parts else named_block(OLD, names, OLD).filter(exp.false()).select()
    return exploded(work.view, _changed(work.view))


def _updated_rows(work: _Work) -> exp.Select:
    """The old rows that are not removed, with the values that updates assign."""
    joins, assigned = _updating(work)
    query = exp.Select(
        expressions=[alias(_case(*branches, default=column(name, OLD)), name) for name, branches in assigned.items()]
    ).from_(OLD)
    for join in joins:
        query = query.join(join, copy=False)
    return query.where(exp.Not(this=column(_DEAD, OLD)), copy=False)


def _changed(view: Stored) -> exp.Select:
    """The distinct rows whose number of copies differs between old_rows and new_rows, with their number of copies in new_rows."""
    parts = [
        exp.Select(
            expressions=[
                *(column(name) for name in view.root.columns),
                *(exp.alias_(exp.convert(value), name) for value, name in zip(values, (_WEIGHT, COPIES, STORED), strict=True)),
            ]
        ).from_(source)
        for source, values in ((NEW, (1, 1, 0)), (OLD, (-1, 0, 1)))
    ]
    total = exp.Sum(this=exp.column(_WEIGHT))
    return counted(view, parts).having(exp.NEQ(this=total, expression=exp.Literal.number(0)))
