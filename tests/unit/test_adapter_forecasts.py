"""The table of `idivm plan`."""

from __future__ import annotations

from dbt.adapters.idivm.forecasts import Foreseen, table
from dbt_idivm.refresh.protocol import Cost, Forecast, InputChange

MOVED = {"orders": InputChange(3, 4, 1)}


def test_estimates_are_listed_the_smallest_first() -> None:
    cost = Cost("rebuild", 1.5, None, {"id": 2.75, "tuple": 2.9, "rebuild": 1.5})
    found = [Foreseen("small", Forecast("full", "full", "IDIVM-411 a rebuild takes about 1.5 s", MOVED, cost=cost), None),
             Foreseen("same", Forecast("noop", None, None, {}), None), Foreseen("wrong", None, "IDIVM-301 no relation")]
    rows = [[cell.strip() for cell in line.split("│")] for line in table(found, False, 140).splitlines() if "│" in line]
    assert [row[3] for row in rows] == ["rebuild 1.5 s", "id 2.8 s", "tuple 2.9 s", "", ""]
    assert [row[1] for row in rows if row[0]] == ["full", "noop", "fails"]
