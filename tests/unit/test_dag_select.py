"""What is materialised besides the views: cases by hand, and small random DAGs against all that could be chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import inf

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbt_idivm.cost.measure import SAFE, Prices
from dbt_idivm.tools.dag.costs import Costs, Rate, Unit
from dbt_idivm.tools.dag.dag import Dag, Group, Kind, Operation
from dbt_idivm.tools.dag.extended import extended
from dbt_idivm.tools.dag.greedy import Options, Sharing
from dbt_idivm.tools.dag.plans import plan, plan_of
from dbt_idivm.tools.dag.select import select
from dbt_idivm.tools.dag.update import Mode, State, Storage, state_of

# A row that an operator takes in, or that is read or written, is one second; statements are more.
TUPLES = Prices(queries=0, merges=10, overwrites=5, nodes=0, tuples=1, bytes_read=0, bytes_written=0)


def table(number: int, name: str, rows: float) -> Group:
    return Group(number, name, frozenset((name,)), rows, 10, 8)


def group(number: int, form: str, rows: float, *operations: tuple[Kind, tuple[int, ...]]) -> Group:
    return Group(number, form, frozenset(form), rows, 10, 8, tuple(Operation(kind, inputs, kind) for kind, inputs in operations))


def two_joins(**rates: float) -> Costs:
    """abc and abd, each of ab and another table; updated parts."""
    groups = (
        table(0, "a", 1000),
        table(1, "b", 1000),
        table(2, "c", 10),
        table(3, "d", 10),
        group(4, "ab", 100, ("join", (0, 1))),
        group(5, "abc", 10, ("join", (4, 2))),
        group(6, "abd", 10, ("join", (4, 3))),
    )
    return Costs(Dag(groups, {"v": 5, "w": 6}), {name: Rate(updated=rate) for name, rate in rates.items()}, TUPLES)


def test_what_two_views_recompute_is_written_once() -> None:
    """ab costs 4000, and to write it 105; to read it 100: benefit 2·4000 − 2·100 − 4105."""
    found = select(two_joins(a=1), mode="recompute")
    (choice,) = found.choices
    assert (choice.units, choice.storage, choice.form) == ((Unit(4),), "transient", "ab")
    assert choice.benefit == 8000 - 200 - 4105 == found.nothing - found.seconds
    assert found.plan.of("v").how == "recomputed"


def test_what_does_not_change_is_kept() -> None:
    found = select(two_joins(c=0.5, d=0.5))
    assert found.permanent == ("ab",) and found.transient == ()
    assert found.choices[0].before == found.nothing and found.choices[-1].after == found.seconds


def test_what_changes_too_much_is_written_in_each_run() -> None:
    """Each row of a, b, c and d is updated: merging changes into ab is dearer than computing it."""
    found = select(two_joins(a=1, b=1, c=1, d=1))
    assert found.permanent == () and Unit(4) in found.transient


@pytest.mark.parametrize(
    ("sharing", "storages"),
    [("none", set()), ("transient", {"transient"}), ("permanent", {"permanent"}), ("both", {"permanent"})],
)
def test_modes_of_sharing(sharing: Sharing, storages: set[str]) -> None:
    found = select(two_joins(c=0.5, d=0.5), Options(sharing))
    assert {each.storage for each in found.choices} == storages


def test_differentials_that_two_views_read_are_written_once() -> None:
    """δ_a ab is 4 rows of a in a join with b, which is large."""
    found = select(two_joins(a=0.002), Options("transient"))
    assert found.transient == (Unit(4, "a"),)
    assert select(two_joins(a=0.002), Options("transient", differentials="none")).transient == ()
    assert select(two_joins(a=0.002), Options("transient", differentials="each")).transient == (Unit(4, "a"),)


def test_no_space() -> None:
    found = select(two_joins(a=1, c=1), Options(space=0))
    assert not found.permanent and not found.transient and found.seconds == found.nothing


def test_space_is_for_what_saves_most_for_each_byte() -> None:
    groups = [
        table(0, "a", 1000),
        table(1, "b", 1000),
        table(2, "c", 1),
        group(3, "ab", 100, ("join", (0, 1))),
        group(4, "σa", 10, ("select", (0,))),
    ]
    groups += [group(5 + each, f"abc{each}", 1, ("join", (3, 2))) for each in range(2)]
    groups += [group(7 + each, f"σac{each}", 1, ("join", (4, 2))) for each in range(2)]
    costs = Costs(Dag(tuple(groups), {f"v{each}": each for each in range(5, 9)}), {"c": Rate(updated=1)}, TUPLES)
    assert [each.form for each in select(costs).choices] == ["ab", "σa"]
    assert [each.form for each in select(costs, Options(space=1100)).choices] == ["σa", "ab"]
    assert [each.form for each in select(costs, Options(space=1000)).choices] == ["σa"]


def test_equal_benefits_are_taken_in_the_order_of_the_groups() -> None:
    groups = [table(0, "a", 1000), table(1, "b", 1000)]
    groups += [group(2, "ab", 10, ("join", (0, 1))), group(3, "ba", 10, ("join", (0, 1)))]
    groups += [group(4 + each, f"v{each}", 1, ("select", (2 + each % 2,))) for each in range(4)]
    costs = Costs(Dag(tuple(groups), {f"v{each}": 4 + each for each in range(4)}), {"a": Rate(updated=1)}, TUPLES)
    found = [select(costs, mode="recompute") for _ in range(2)]
    assert found[0] == found[1] and [each.form for each in found[0].choices] == ["ab", "ba"]


def kept_or_not(part: float) -> Costs:
    """ab is read by one view only, for changes of c; its upkeep grows with the changes of a."""
    groups = (
        table(0, "a", 10000),
        table(1, "b", 100),
        table(2, "c", 10),
        group(3, "ab", 1000, ("join", (0, 1))),
        group(4, "abc", 10, ("join", (3, 2))),
    )
    return Costs(Dag(groups, {"v": 4}), {"a": Rate(updated=part), "c": Rate(updated=0.1)}, TUPLES)


def test_hysteresis() -> None:
    parts = [each / 50 for each in range(51)]
    new = [select(kept_or_not(each)).permanent == ("ab",) for each in parts]
    kept = [select(kept_or_not(each), Options(hysteresis=1.5, kept=frozenset(("ab",)))).permanent == ("ab",) for each in parts]
    assert new[0] and not new[-1] and not kept[-1], "it is given up in the end"
    assert sum(kept) > sum(new) and all(old or not now for old, now in zip(kept, new, strict=True)), "but later than it is chosen"
    found = select(kept_or_not(1), Options(hysteresis=1.5, kept=frozenset(("ab", "gone"))))
    assert found.dropped == ("ab", "gone") and "dropped     ab" in found.show()


def test_a_feed_is_read_without_being_written() -> None:
    groups = (
        table(0, "a", 1000),
        table(1, "b", 1000),
        group(2, "ab", 100, ("join", (0, 1))),
        group(3, "σab", 50, ("select", (2,))),
    )
    costs = Costs(Dag(groups, {"v": 2, "w": 3}), {"a": Rate(inserted=0.01)}, TUPLES)
    found = select(costs, Options("none"))
    assert [(each.storage, each.form) for each in found.choices] == [("feed", "ab")] and found.plan.fed == (2,)
    assert found.seconds < found.nothing


def test_it_is_printed() -> None:
    shown = select(two_joins(c=0.5, d=0.5)).show()
    assert shown.startswith("1 results besides the views") and "permanent   4: ab  benefit" in shown
    assert "view v 5: abc: recomputed 235 s, incremental 265 s\n  5: abc = join over 4: ab, 2: c: 220 s" in shown


def test_a_long_chain_of_models() -> None:
    """120 models, each over the one before and a table: each is refreshed by the changes of the one before."""
    groups = [table(0, "a", 1e6), table(1, "b", 1e3)]
    groups += [
        replace(group(number, "ab", 1e6, ("join", (number - 1 if number > 2 else 0, 1))), form=f"g{number}")
        for number in range(2, 122)
    ]
    found = select(Costs(Dag(tuple(groups), {f"v{each}": each for each in range(2, 122)}), {"a": Rate(inserted=0.001)}))
    assert found.plan.fed == tuple(range(2, 121)) and found.seconds < found.nothing * 0.7


def test_endless_costs() -> None:
    """A join with itself, over and over: the cost without sharing is beyond what a float holds."""
    groups = [table(0, "a", 1e6)]
    groups += [replace(group(number, "a", 1e6, ("join", (number - 1,) * 2)), form=f"g{number}") for number in range(1, 1050)]
    found = select(Costs(Dag(tuple(groups), {"v": 1049}), {"a": Rate(inserted=0.001)}), mode="recompute")
    assert found.seconds == found.nothing == inf and found.choices == () and found.show()


# -- random DAGs -------------------------------------------------------------------------------------------------------------


@st.composite
def dags(draw: st.DrawFn, most: int = 5) -> Costs:
    rows = st.sampled_from((0.0, 1.0, 1e2, 1e4, 1e6, 1e7))
    tables = draw(st.integers(1, 3))
    groups = [table(each, "abc"[each], draw(rows)) for each in range(tables)]
    for number in range(tables, tables + draw(st.integers(1, most))):
        operations = []
        for _ in range(draw(st.integers(1, 2))):
            kind: Kind = draw(st.sampled_from(("select", "join", "join", "aggregate", "other")))
            count = 2 if kind == "join" else 1
            operations.append((kind, tuple(draw(st.integers(0, number - 1)) for _ in range(count))))
        below = frozenset().union(*(groups[each].tables for _, inputs in operations for each in inputs))
        groups.append(
            replace(
                group(number, "".join(below), draw(rows), *operations), form=f"g{number}", storable=draw(st.integers(0, 5)) > 0
            )
        )
    views = draw(st.sets(st.integers(tables, len(groups) - 1), min_size=1, max_size=3))
    part = st.sampled_from((0.0, 0.0, 0.001, 0.1, 0.8))
    rates = {"abc"[each]: Rate(draw(part), draw(part), draw(part)) for each in range(tables)}
    return Costs(Dag(tuple(groups), {f"v{each}": each for each in sorted(views)}), rates, draw(st.sampled_from((SAFE, TUPLES))))


SMALL = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MODES: Sequence[Mode] = ("adaptive", "incremental", "recompute")


@SMALL
@given(dags(most=8), st.sampled_from(("none", "transient", "permanent", "both")), st.sampled_from(("together", "each", "none")))
def test_greedy_is_never_worse_than_nothing(costs: Costs, sharing: Sharing, differentials: str) -> None:
    options = Options(sharing, differentials)  # type: ignore[arg-type]
    found = {mode: select(costs, options, mode) for mode in MODES}
    for mode, each in found.items():
        assert each.seconds <= each.nothing * (1 + 1e-9)
        assert each.nothing == plan(costs, fed=_always_fed(costs, mode), mode=mode).seconds
        assert each.choices[-1].after == pytest.approx(each.seconds) if each.choices else each.seconds == each.nothing
    assert found["adaptive"].seconds <= min(each.seconds for each in found.values()) * (1 + 1e-9)


def _always_fed(costs: Costs, mode: Mode) -> list[int]:
    return [each for each in costs.dag.views.values() if mode == "incremental" and costs.dag.groups[each].storable]


@SMALL
@given(dags(most=8), st.sampled_from(MODES[:2]), st.data())
def test_the_incremental_update_gives_the_costs_from_nothing(costs: Costs, mode: Mode, data: st.DataObject) -> None:
    dag = extended(costs)
    state, stored = State(dag, mode), list[tuple[tuple[int, ...], Storage]]()
    for _ in range(data.draw(st.integers(1, 4))):
        number = data.draw(st.sampled_from(sorted(dag.full)))
        storage: Storage = data.draw(st.sampled_from(("permanent", "transient", "differentials", "feed")))
        units: tuple[int, ...] = tuple(dag.differentials[number])
        if costs.dag.groups[number].is_table or any(state.is_stored[each] for each in units):
            continue
        if (storage == "feed") != (number in state.views) and storage != "differentials":
            continue
        if storage == "permanent":
            units = state.kept(number)
        elif storage == "transient":
            units = (dag.full[number],)
        elif storage == "differentials":
            storage = "transient"
        stored.append((units, storage))
        fall, before = state.fall(units), list(state.read)
        state.add(units, storage)
        assert all(new <= old for new, old in zip(state.read, before, strict=True)), "nothing becomes dearer"
        assert all(state.read[unit] == cost < before[unit] for unit, cost in fall.read.items())
        fresh = state_of(dag, mode, stored)
        assert (state.compute, state.read, state.total()) == (fresh.compute, fresh.read, fresh.total())


def everything(costs: Costs) -> Iterator[float]:
    """The costs of all that could be chosen, each without what its plan does not use."""
    dag = extended(costs)
    of_group: list[list[list[tuple[tuple[int, ...], Storage]]]] = []
    for number, full in dag.full.items():
        node, changes = costs.dag.groups[number], tuple(dag.differentials[number])
        if node.is_table or not node.storable:
            continue
        written: list[tuple[tuple[int, ...], Storage]] = [(changes, "transient")]
        if number in costs.dag.views.values():
            of_group.append([[], written, [(changes, "feed")]])
        else:
            of_group.append(
                [
                    [],
                    written,
                    [((full,), "transient")],
                    [*written, ((full,), "transient")],
                    [((full, *changes), "permanent")],
                    [*written, ((full,), "permanent")],
                ]
            )
    for each in product(*of_group):
        yield plan_of(state_of(dag, "adaptive", [one for chosen in each for one in chosen])).seconds


@settings(SMALL, max_examples=40)
@given(dags(most=4))
def test_against_all_that_could_be_chosen(costs: Costs) -> None:
    found = select(costs)
    least = min(everything(costs))
    assert found.seconds >= least * (1 - 1e-9), "the plan is one of them"
    assert found.seconds <= found.nothing * (1 + 1e-9)


@SMALL
@given(dags())
def test_the_plan_has_the_seconds_of_its_parts(costs: Costs) -> None:
    found = select(costs)
    again = plan(costs, found.plan.permanent, found.plan.transient, found.plan.fed)
    assert again.seconds == pytest.approx(found.seconds)
    assert {view for each in found.plan.upkeep for view in each.views} == set(costs.dag.views)
    assert found.show()
