"""Laws of maintenance: nothing for nothing, there and back, one by one or at once, any order, twice, and no row too many."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from hypothesis import assume, given, reject
from hypothesis import strategies as st

from dbt_idivm.idiff.idiff import DEL, INS, UPD, IDiff
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.diff import Row
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.prune_empty import non_empty
from tests.property.coverage import RANDOM
from tests.property.drawn import drawn
from tests.property.harness import VIEW, Options, World
from tests.property.nodes import Bag, evaluate
from tests.property.plans import idiff_way
from tests.property.profiles import fewer
from tests.property.strategies import Case, Content, cases, value

BY_IDIFFS = st.builds(
    Options,
    optimised=st.booleans(),
    additive=st.just(False),
    feed=st.booleans(),
    strategy=st.sampled_from(("id", "id", "recompute")),
    caches=st.sampled_from((None, None, "all")),
)
ADDITIVE = st.builds(Options, feed=st.booleans(), caches=st.sampled_from((None, "all")))
TUPLES = st.builds(Options, additive=st.just(False), feed=st.booleans(), strategy=st.just("tuple"))
WAYS = BY_IDIFFS | BY_IDIFFS | ADDITIVE | TUPLES
# Each test of a row repeats its inputs in several states: the tuple-based statement for seven occurrences can have a megabyte.
MOST_OF_TUPLES = 4


@contextmanager
def world_of(case: Case, options: Options) -> Iterator[World]:
    """The world of a case; a tuple-based one only if its statement is of a sensible size."""
    with drawn(case, options) as world:
        if options.strategy == "tuple" and len(world.plan.scans) > MOST_OF_TUPLES:
            reject()
        yield world


@fewer
@given(case=cases(), options=WAYS, data=st.data())
def test_nothing_that_the_view_reads_changes(case: Case, options: Options, data: st.DataObject) -> None:
    """No statement: for no change, and for changes of columns that the view does not depend on."""
    RANDOM.cases += 1
    with world_of(case, replace(options, feed=False)) as world:
        world.load(case.start)
        assert world.script({}) is None
        diffs = world.change({name: irrelevant(world, name, rows, data) for name, rows in case.start.items()})
        assert world.script(diffs) is None and not any(world.touched.values())
        assert world.maintained() == world.recomputed()


def irrelevant(world: World, name: str, rows: list[Row], data: st.DataObject) -> list[Row]:
    """The rows with other values in the columns that no occurrence of the table reads."""
    table = next(each for each in world.tables if each.name == name)
    used = {a.name for scan in world.plan.base_scans if scan.table == name for a in scan.base_columns} | set(table.key or ())
    return [
        tuple(old if column in used else data.draw(value(kind)) for (column, kind), old in zip(table.columns, row, strict=True))
        for row in rows
    ]


@fewer
@given(case=cases(), options=WAYS)
def test_a_batch_and_its_inverse_restore_the_view(case: Case, options: Options) -> None:
    RANDOM.cases += 1
    with world_of(case, options) as world:
        world.load(case.start)
        before = world.stored()
        world.refresh(case.batches[0])
        world.refresh({name: case.start[name] for name in case.batches[0]})
        assert world.stored() == before
        assert not world.wrong_caches()


@fewer
@given(case=cases(), options=WAYS)
def test_batches_one_by_one_or_at_once(case: Case, options: Options) -> None:
    RANDOM.cases += 1
    with world_of(case, options) as world:
        world.load(case.start)
        for batch in case.batches:
            world.refresh(batch)
        one_by_one = world.stored()
        world.load(case.start)
        world.refresh(all_of(case))
        assert world.stored() == one_by_one


def all_of(case: Case) -> Content:
    return {name: rows for batch in case.batches for name, rows in batch.items()}


@fewer
@given(case=cases(), options=BY_IDIFFS | TUPLES)
def test_a_refresh_twice_is_a_refresh_once(case: Case, options: Options) -> None:
    """Not where something is added up or appended, sums, copies of a tuple or new rows: the refresh driver applies it to the
    state that it was made for, and to no other.

    Tuples by ID, and in a view with copies the rows of a fresh INS, are written again in place of themselves: neither reads the
    view.
    """
    RANDOM.cases += 1
    with world_of(case, options) as world:
        assume(options.strategy != "tuple" or world.plan.root.unique)
        world.load(case.start)
        for batch in case.batches:
            script = world.refresh(batch)
            if script is not None and script.shape == "append":
                continue
            once = world.stored()
            assert world.apply(script) == 0 or not world.plan.root.unique or options.strategy == "tuple"
            assert world.stored() == once


@fewer
@given(case=cases(), options=WAYS)
def test_no_row_is_written_that_stays_the_same(case: Case, options: Options) -> None:
    """The MERGE touches as many rows as differ: by ID, with copies at most all of the rows whose number differs."""
    RANDOM.cases += 1
    with world_of(case, options) as world:
        world.load(case.start)
        for batch in case.batches:
            before = {table: world.rows_of(table) for table in world.maintained_tables}
            world.touched[VIEW] = world.apply(world.script(world.change(batch)))
            for table, plan in world.maintained_tables.items():
                assert world.touched[table] in differing(plan, before[table], world.rows_of(table))


def differing(plan: Plan, before: Counter[Row], after: Counter[Row]) -> range:
    """How many rows a refresh may touch. Copies are updated where they are, or go and come with all that equal them."""
    changed = {row for row in before | after if before[row] != after[row]}
    if not plan.root.unique:
        least = max((before - after).total(), (after - before).total())
        return range(least, sum(before[row] + after[row] for row in changed) + 1)
    places = [i for i, column in enumerate(plan.columns) if column.attribute in plan.root.ids]
    least = len({tuple(row[place] for place in places) for row in changed})
    return range(least, least + 1)


@fewer
@given(case=cases() | cases(additive=True), feed=st.booleans(), data=st.data())
def test_ways_take_turns(case: Case, feed: bool, data: st.DataObject) -> None:
    """Each batch by another way: what is stored does not depend on which one did the last."""
    RANDOM.cases += 1
    with drawn(case, Options(feed=feed, every_way=True)) as world:
        world.load(case.start)
        ways = world.plan.ways if len(world.plan.scans) <= MOST_OF_TUPLES else world.plan.ways[:-1]
        for batch in case.batches:
            world.plan = replace(world.plan, ways=(data.draw(st.sampled_from(ways)),))
            world.refresh(batch)
            assert world.stored() == world.extended()


@fewer
@given(case=cases(), options=BY_IDIFFS, split=st.booleans(), seed=st.integers(0, 999))
def test_idiffs_in_any_order_any_number_of_times(case: Case, options: Options, split: bool, seed: int) -> None:
    """Each i-diff on its own, by what its kind means, shuffled and all of them twice."""
    RANDOM.cases += 1
    with drawn(case, replace(options, feed=False, split=split or options.strategy == "recompute")) as world:
        world.load(case.start)
        root, now, way = world.plan.root, Binding(dialect=DUCKDB), idiff_way(world.plan)
        for batch in case.batches:
            view = evaluate(world, root, now)
            binding = Binding(changes=net_changes(world.plan, world.change(batch), screened=False), dialect=DUCKDB)
            idiffs = non_empty(way.idiffs if options.optimised else way.naive, binding.changes.is_empty)
            steps = [(diff, evaluate(world, diff.relation, binding)) for diff in idiffs] * 2
            random.Random(seed).shuffle(steps)
            post = evaluate(world, root, now)
            for diff, rows in steps:
                view = applied(view, diff, rows, post)
            assert Counter(view.rows) == Counter(post.rows)


def applied(view: Bag, diff: IDiff, rows: Bag, post: Bag) -> Bag:
    """The view after one i-diff. DEL deletes rows, UPD assigns, INS replaces by full ID, REC recomputes by P."""
    keys = rows.values(diff.ids)
    if diff.kind is UPD:
        assigned = dict(zip(keys, rows.values(diff.assigned), strict=True))
        return Bag(view.columns, tuple(_assigned(view, row, diff, assigned) for row in view.rows))
    named = set(keys)
    kept = tuple(row for row in view.rows if view.pick(row, diff.ids) not in named)
    if diff.kind is DEL:
        return Bag(view.columns, kept)
    come = rows.values(view.columns) if diff.kind is INS else [r for r in post.rows if post.pick(r, diff.ids) in named]
    return Bag(view.columns, (*kept, *come))


def _assigned(view: Bag, row: Row, diff: IDiff, values: dict[Row, Row]) -> Row:
    new = dict(zip(diff.assigned, values.get(view.pick(row, diff.ids), ()), strict=False))
    return tuple(new.get(name, old) for name, old in zip(view.columns, row, strict=True))
