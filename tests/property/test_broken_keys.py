"""A build relies on no key: with rows that break one, the view is its query all the same (ADR 0022)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given

from dbt_idivm.script.diff import Row
from tests.property.coverage import RANDOM
from tests.property.drawn import drawn
from tests.property.harness import Options
from tests.property.plans import Table
from tests.property.profiles import fewer
from tests.property.strategies import DEEP, Case, cases


def with_one_key(table: Table, rows: list[Row]) -> list[Row]:
    """The rows, all with the key of the first one."""
    places = [table.names.index(name) for name in table.key or ()]
    return [tuple(rows[0][place] if place in places else cell for place, cell in enumerate(row)) for row in rows]


def broken(case: Case) -> Case:
    tables = {table.name: table for table in case.tables}
    return replace(case, start={name: with_one_key(tables[name], rows) for name, rows in case.start.items()})


@pytest.mark.parametrize("options", [Options(), Options(caches="all")], ids=["view", "caches"])
@fewer
@given(case=cases(deepest=DEEP) | cases(additive=True))
def test_a_build_relies_on_no_key(options: Options, case: Case) -> None:
    RANDOM.cases += 1
    with drawn(case, options) as world:
        assume(not world.plan.relies_on_keys)  # the query fails where a key is broken, and a rebuild verifies it
        world.load(broken(case).start)
        assert world.maintained() == world.recomputed()
