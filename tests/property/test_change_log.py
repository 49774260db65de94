"""What is appended to a log of changes is exactly what the recomputed view has more and less, with no view to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hypothesis import given, reject
from hypothesis import strategies as st

from dbt_idivm.passes.reproducible import unreproducible
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.change_log import Entry
from dbt_idivm.script.diff import InlineDiff, Row
from dbt_idivm.script.logged_tuples import LoggedTuples
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.render import applications, render
from dbt_idivm.script.tuple_based import Tuples
from tests.property.coverage import RANDOM
from tests.property.drawn import drawn
from tests.property.harness import Options, World, in_engine
from tests.property.strategies import Case, cases

TUPLES = st.builds(Options, additive=st.just(False), feed=st.booleans(), strategy=st.just("tuple"))
MOST_TABLES = 4  # a tuple-based statement for seven occurrences can have a megabyte


@given(case=cases(), options=TUPLES)
def test_net_changes_are_what_differs(case: Case, options: Options) -> None:
    RANDOM.cases += 1
    with drawn(case, options) as world:
        if len(world.plan.scans) > MOST_TABLES or unreproducible(world.plan.root) is not None:
            reject()
        world.load(case.start)
        before = world.recomputed()
        for batch in case.batches:
            logged = appended(world, world.change(batch))
            after = world.recomputed()
            assert logged == {row: after[row] - before[row] for row in {*before, *after} if after[row] != before[row]}
            before = after


def appended(world: World, diffs: Mapping[str, InlineDiff]) -> dict[Row, int]:
    """Row → its copies as they are appended to a log, deleted ones negative."""
    keys = {scan.table: scan.key for scan in world.plan.scans}
    bound = {name: in_engine(name, diff, keys.get(name)) if name in world.feeds else diff for name, diff in diffs.items()}
    binding = Binding(changes=net_changes(world.plan, bound), dialect=world.engine.dialect)
    found = applications(world.plan, binding.changes)
    if found is None:
        return {}
    done = found[0]
    assert isinstance(done, Tuples)
    script = render(world.plan, LoggedTuples.of(done, Entry(1, "{}")), binding, "log")
    world.engine.stage(script.staged)
    rows = world.engine.rows(script.statement.expression)
    logged = Counter({row[:-4]: row[-3] if row[-4] == "insert" else -row[-3] for row in rows})
    assert len(logged) == len(rows) and all(logged.values()), "each row once, and none that cancels"
    return dict(logged)
