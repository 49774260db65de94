"""Costs of full results and differentials, on DAGs that are small enough to be worked out by hand."""

from __future__ import annotations

from math import inf, nan

import pytest

from dbt_idivm.algebra.cardinality import drawn
from dbt_idivm.cost.measure import Measure, Prices
from dbt_idivm.tools.dag.costs import LARGEST, Change, Costs, Rate, Unit, bounded
from dbt_idivm.tools.dag.dag import Dag, Group, Kind, Operation
from dbt_idivm.tools.dag.extended import extended
from dbt_idivm.tools.dag.plans import plan

# A row that an operator takes in, or that is read or written, is one second; statements are more.
TUPLES = Prices(queries=0, merges=10, overwrites=5, nodes=0, tuples=1, bytes_read=0, bytes_written=0)


def table(number: int, name: str, rows: float) -> Group:
    return Group(number, name, frozenset((name,)), rows, 10, 8)


def group(
    number: int, form: str, rows: float, *operations: tuple[Kind, tuple[int, ...]], tables: str = "", storable: bool = True
) -> Group:
    found = tuple(Operation(kind, inputs, f"{kind} {form}") for kind, inputs in operations)
    return Group(number, form, frozenset(tables or form), rows, 10, 8, found, storable)


def chain(rates: dict[str, Rate]) -> Costs:
    """v: a ⋈ b ⋈ c, of a ⋈ b and c only."""
    groups = (
        table(0, "a", 100),
        table(1, "b", 10),
        table(2, "c", 10),
        group(3, "ab", 100, ("join", (0, 1))),
        group(4, "abc", 100, ("join", (3, 2))),
    )
    return Costs(Dag(groups, {"v": 4}), rates, TUPLES)


def test_recomputation_by_hand() -> None:
    """ab: read a and b (110), take them in (110); abc: that, read c (10), take in both (110); write it (5 + 100)."""
    found = plan(chain({}), mode="recompute").of("v")
    assert (found.how, found.seconds) == ("recomputed", 220 + 10 + 110 + 105)


def test_incremental_refresh_by_hand() -> None:
    """δ_a ab: read 10 and b (20), take them in (20); δ_a abc: that, read c (10), take in both (20); append 10 rows (5 + 10)."""
    found = plan(chain({"a": Rate(inserted=0.1)})).of("v")
    assert (found.how, found.incremental, found.recomputed) == ("incremental", 40 + 30 + 15, 445)


def test_a_differential_of_the_far_side_reads_the_full_result() -> None:
    """δ_c abc: ab is computed (220), δ c is one row (1), both are taken in (101); appended (5 + 10)."""
    assert plan(chain({"c": Rate(inserted=0.1)})).of("v").incremental == 220 + 1 + 101 + 5 + 10


def test_what_is_materialised_is_reused() -> None:
    """ab is read (100) in place of computing it (220). Nothing changes in it, so that keeping it costs nothing."""
    costs = chain({"c": Rate(inserted=0.1)})
    kept, written = plan(costs, permanent=[3]), plan(costs, transient=[Unit(3)])
    assert kept.of("v").incremental == written.of("v").incremental == 100 + 1 + 101 + 15
    assert kept.seconds == 217 and kept.permanent == (3,) and kept.upkeep[0].how == "unchanged"
    assert written.seconds == 217 + 220 + 105 and written.transient == {Unit(3): 325}


def test_a_result_that_costs_more_to_read_is_not_read() -> None:
    groups = (
        table(0, "a", 1),
        table(1, "b", 1),
        group(2, "ab", 1000, ("join", (0, 1))),
        group(3, "γab", 1, ("aggregate", (2,)), tables="ab"),
    )
    found = plan(Costs(Dag(groups, {"v": 3}), {}, TUPLES), transient=[Unit(2)], mode="recompute")
    assert found.transient == {} and found.seconds == 4 + 1000 + 6


def test_the_cheapest_operation_is_chosen() -> None:
    groups = (
        table(0, "a", 100),
        table(1, "b", 10),
        table(2, "c", 10),
        group(3, "ab", 1000, ("join", (0, 1))),
        group(4, "bc", 10, ("join", (1, 2))),
        group(5, "abc", 100, ("join", (3, 2)), ("join", (0, 4))),
    )
    found = plan(Costs(Dag(groups, {"v": 5}), {}, TUPLES), mode="recompute")
    assert found.steps[Unit(5)].inputs == ((Unit(0), True), (Unit(4), False))
    assert found.steps[Unit(5)].seconds == 100 + 40 + 110
    assert "⋈" not in found.show() and "join abc over 0: a, 4: bc (computed)" in found.show()


def test_a_table_on_both_sides_has_both_differentials() -> None:
    """δ a ⋈ b and a ⋈ δ b, with what each needs (§4.1)."""
    groups = (
        table(0, "a", 100),
        group(1, "σ", 50, ("select", (0,)), tables="a"),
        group(2, "⋈", 10, ("join", (0, 1)), tables="a"),
    )
    costs = Costs(Dag(groups, {"v": 2}), {"a": Rate(updated=0.1)}, TUPLES)
    operation = groups[2].operations[0]
    assert costs.needs(operation, "a") == (Unit(0, "a"), Unit(1), Unit(1, "a"), Unit(0))
    assert costs.own(costs.needs(operation, "a")) == Measure(nodes=3, tuples=20 + 50 + 10 + 100)
    assert costs.changes[2]["a"] == Change(updated=2)


def test_a_differential_of_groups_is_as_many_as_are_drawn() -> None:
    groups = (
        table(0, "a", 1000),
        group(1, "γ", 10, ("aggregate", (0,)), tables="a"),
        group(2, "σ", 5, ("select", (1,)), tables="a"),
    )
    costs = Costs(Dag(groups, {"v": 2}), {"a": Rate(inserted=0.01, deleted=0.01)}, TUPLES)
    assert costs.changes[1]["a"] == Change(updated=drawn(10, 20))
    assert costs.needs(groups[1].operations[0], "a") == (Unit(0, "a"),), "sums are added to what is stored"
    assert costs.needs(groups[2].operations[0], "a") == (Unit(1, "a"), Unit(1)), "σ needs the rows that the groups had"


def test_an_update_counts_as_a_deletion_and_an_insertion() -> None:
    change = Rate(inserted=0.1, deleted=0.2, updated=0.3).of(100)
    assert (change.signed, change.touched) == (10 + 20 + 60, 50)


def test_no_change_costs_nothing() -> None:
    found = plan(chain({"d": Rate(inserted=1)}))
    assert found.of("v").how == "unchanged" and found.seconds == 0


def test_a_view_without_ids_is_recomputed() -> None:
    groups = (table(0, "a", 100), group(1, "σ", 50, ("select", (0,)), tables="a", storable=False))
    found = plan(Costs(Dag(groups, {"v": 1}), {"a": Rate(inserted=0.01)}, TUPLES), mode="incremental").of("v")
    assert found.how == "recomputed" and found.incremental is None


def test_a_feed_is_read_where_a_view_is_refreshed_incrementally() -> None:
    """w = σ v: δ of v is computed for v (70, appended for 15); w reads it from the feed (10), takes it in (10), appends it."""
    groups = (*chain({}).dag.groups, group(5, "σabc", 100, ("select", (4,)), tables="abc"))
    costs = Costs(Dag(groups, {"v": 4, "w": 5}), {"a": Rate(inserted=0.1)}, TUPLES)
    assert plan(costs).of("w").incremental == 70 + 10 + 15
    fed = plan(costs, fed=[4])
    assert fed.of("v").incremental == 70 + 15 and fed.of("w").incremental == 10 + 10 + 15
    assert fed.fed == (4,) and "its changes are read" in fed.show()


@pytest.mark.parametrize(("estimate", "found"), [(nan, 1), (-5, 0), (inf, LARGEST), (1e300, LARGEST), (7, 7)])
def test_estimates_are_bounded(estimate: float, found: float) -> None:
    assert bounded(estimate) == found


@pytest.mark.parametrize("rows", [0, nan, inf, 1e300, -1])
@pytest.mark.parametrize("rate", [Rate(), Rate(inserted=inf), Rate(nan, nan, nan), Rate(1, 1, 1), Rate(-1, -1, -1)])
def test_absurd_statistics_have_costs(rows: float, rate: Rate) -> None:
    groups = (
        table(0, "a", rows),
        table(1, "b", 10),
        group(2, "ab", rows, ("join", (0, 1))),
        group(3, "γab", rows, ("aggregate", (2,)), tables="ab"),
    )
    found = plan(Costs(Dag(groups, {"v": 3, "w": 2}), {"a": rate, "b": rate}), transient=[Unit(2)])
    assert 0 <= found.seconds < inf


def test_the_lists_have_the_seconds_of_the_measures() -> None:
    costs = Costs(chain({}).dag, {"a": Rate(0.1, 0.1, 0.1), "c": Rate(0.2)})
    dag = extended(costs)
    for slot, inputs in enumerate(dag.inputs):
        assert dag.own[slot] == pytest.approx(costs.own([dag.units[each] for each in inputs]).seconds(costs.prices))
    assert all(max(inputs) < dag.gives[slot] for slot, inputs in enumerate(dag.inputs)), "inputs come first"


def test_what_is_below_no_view_is_left_out() -> None:
    groups = (*chain({}).dag.groups, group(5, "bc", 1, ("join", (1, 2))))
    assert Unit(5) not in extended(Costs(Dag(groups, {"v": 4}), {})).number
