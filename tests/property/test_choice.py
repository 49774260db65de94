"""The choice by cost never makes a view wrong: any statistics, any of the ways or the rebuild, by estimate or at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dbt_idivm.cost.choice import REBUILD, Alternative, cheapest
from dbt_idivm.cost.experience import Experience
from dbt_idivm.cost.sizes import Size
from dbt_idivm.cost.work import Situation, TableChanges, application_of, expected, incremental, rebuild
from dbt_idivm.script.diff import InlineDiff
from dbt_idivm.script.ways import Way
from tests.property.coverage import RANDOM
from tests.property.drawn import drawn
from tests.property.harness import VIEW, Options, World
from tests.property.profiles import fewer
from tests.property.strategies import Case, cases
from tests.property.test_laws import MOST_OF_TUPLES

COUNTS = st.integers(0, 10**12)
SIZES = st.builds(Size, COUNTS, COUNTS, st.integers(0, 10**6))


def alternatives(
    world: World, ways: tuple[Way, ...], sizes: Mapping[str, Size], view: Size | None, diffs: Mapping[str, InlineDiff]
) -> list[Alternative]:
    """The ways and the rebuild with their estimates, which are positive numbers whatever the statistics say."""
    counts = {name: TableChanges(len(diff.rows), len(diff.rows), 1) for name, diff in diffs.items()}
    now = Situation(world.plan, sizes, view, expected(world.plan, counts, hopeful=False))
    done = [(way.name, application_of(way, now)) for way in ways]
    found = [(REBUILD, rebuild(now)), *((name, incremental(each, now)) for name, each in done if each is not None)]
    priced = [Alternative(name, measure, Experience().seconds("v", name, measure)) for name, measure in found]
    assert all(0 < each.seconds < 1e30 for each in priced)
    return priced


@fewer
@given(case=cases() | cases(additive=True), feed=st.booleans(), data=st.data())
def test_any_choice_by_any_statistics_is_exact(case: Case, feed: bool, data: st.DataObject) -> None:
    RANDOM.cases += 1
    with drawn(case, Options(feed=feed, every_way=True)) as world:
        world.load(case.start)
        ways = world.plan.ways if len(world.plan.scans) <= MOST_OF_TUPLES else world.plan.ways[:-1]
        for batch in case.batches:
            diffs = world.change(batch)
            sizes = {table: data.draw(SIZES) for table in world.plan.tables}
            found = alternatives(world, ways, sizes, data.draw(st.none() | SIZES), diffs)
            chosen = (cheapest(found) if data.draw(st.booleans()) else data.draw(st.sampled_from(found))).name
            if chosen == REBUILD:
                world.build()
            else:
                plan = replace(world.plan, ways=tuple(way for way in ways if way.name == chosen))
                world.apply(world.script(diffs, plan, VIEW))
            assert world.stored() == world.extended()
