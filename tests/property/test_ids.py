"""IDs and i-diffs at every operator of a view, not only at its root."""

from __future__ import annotations

import pytest
from hypothesis import given

from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.net_changes import net_changes
from tests.property.coverage import RANDOM
from tests.property.directed import DIRECTED
from tests.property.harness import Options, World
from tests.property.nodes import Change, evaluate, idiffs_at, nodes, non_empty_base
from tests.property.profiles import fewer
from tests.property.strategies import Case, cases

PLANS = {"split": Options(additive=False), "unsplit": Options(additive=False, split=False),
         "recompute": Options(strategy="recompute"), "caches": Options(additive=False, everywhere=True)}


def check_nodes(case: Case, options: Options) -> None:
    """Each node's IDs are unique where `unique` holds, and its i-diffs keep their contract, batch by batch."""
    with World(case.tables, case.sql, options) as world:
        world.load(case.start)
        found = tuple((plan, node) for plan in world.maintained_tables.values() for node in nodes(plan.root))
        before = [evaluate(world, node, Binding(dialect=DUCKDB)) for _, node in found]
        for batch in case.batches:
            diffs = world.change(batch)
            after = [evaluate(world, node, Binding(dialect=DUCKDB)) for _, node in found]
            for (plan, node), old, new in zip(found, before, after, strict=True):
                binding = Binding(changes=net_changes(plan, diffs, screened=False), dialect=DUCKDB)
                base = non_empty_base(plan, binding)
                ids = new.values(node.ids)
                assert not node.unique or len(set(ids)) == len(ids), f"{node.label()}: ID {node.ids} is not a key"
                idiffs = tuple((diff, evaluate(world, diff.relation, binding)) for diff in idiffs_at(node, base))
                assert not Change(node, old, new, idiffs).violations()
            before = after


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) if name in ("unsplit", "caches") else name
                                  for name in PLANS])
@fewer
@given(case=cases(batches=2))
def test_every_node(name: str, case: Case) -> None:
    RANDOM.cases += 1
    check_nodes(case, PLANS[name])


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("name", DIRECTED)
def test_every_node_of_directed_cases(name: str, plan: str) -> None:
    check_nodes(DIRECTED[name], PLANS[plan])
