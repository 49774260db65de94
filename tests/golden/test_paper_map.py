"""docs/paper-map.md: each rule with its table row, a golden file that fires it, and one in which its guard keeps it back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dbt_idivm import optimize
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.docs import with_block
from dbt_idivm.idiff.rule import always
from dbt_idivm.operators import OPERATORS, Aggregate
from dbt_idivm.operators.additive import ADDITIVE, additive_rule
from dbt_idivm.operators.aggregate import SUM_OF_SIZES, Call
from dbt_idivm.optimize import OPTIMIZATIONS
from tests.golden.golden_file import additive_calls, read
from tests.golden.test_golden import FILES
from tests.property.plans import idiff_way

PAGE = Path(__file__).parents[2] / "docs" / "paper-map.md"
RULES = {rule.name: (operator, rule) for operator in OPERATORS for rule in operator.RULES}


def goldens() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Rule → the goldens that fire it, and those in which an i-diff of its kind takes another rule of its operator."""
    fired: dict[str, list[str]] = defaultdict(list)
    held: dict[str, list[str]] = defaultdict(list)
    for path in FILES:
        name = f"{path.parent.name}/{path.name}"
        for rule in dict.fromkeys(firing.rule for firing in idiff_way(read(path).plan()).firings):
            fired[rule].append(name)
            for other in rivals(rule):
                if name not in held[other]:
                    held[other].append(name)
    return fired, held


def additive_goldens() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Additive rule → the goldens in which it maintains a call, and those with a call of its function that it does not take."""
    fired: dict[str, list[str]] = defaultdict(list)
    held: dict[str, list[str]] = defaultdict(list)
    for path in FILES:
        name, plan = f"{path.parent.name}/{path.name}", read(path).plan()
        for rule in ADDITIVE:
            if any(taken is rule for taken, _ in additive_calls(plan)):
                fired[rule.name].append(name)
            if any(call.function == rule.function and additive_rule(node, call) is not rule for node, call in calls(plan.root)):
                held[rule.name].append(name)
    return fired, held


def calls(node: Operator) -> Iterator[tuple[Aggregate, Call]]:
    if isinstance(node, Aggregate):
        yield from ((node, call) for call in node.calls)
    for child in node.inputs:
        yield from calls(child)


def rivals(name: str) -> Iterator[str]:
    operator, rule = RULES[name]
    return (other.name for other in operator.RULES if other.on is rule.on and other is not rule)


def table() -> str:
    fired, held = goldens()
    lines = ["| table of the paper | rule | i-diff | out | fires in | does not fire in |", "|---|---|---|---|---|---|"]
    for name, (_, rule) in RULES.items():
        back = "always fires" if rule.when is always else _first(held[name], fired[name])
        lines.append(f"| {rule.paper} | `{name}` | {str(rule.on).upper()} | {rule.emits} | `{fired[name][0]}` | {back} |")
    fired, held = additive_goldens()
    for rule in ADDITIVE:
        back = "a cache only" if rule.function == SUM_OF_SIZES else _first(held[rule.name], fired[rule.name])
        lines.append(f"| {rule.paper} | `{rule.name}` | signed rows | {rule.emits} | `{fired[rule.name][0]}` | {back} |")
    return "\n".join(lines) + "\n"


def _first(held: list[str], fired: list[str]) -> str:
    """One that shows only the other side, if there is one."""
    return f"`{next((name for name in held if name not in fired), held[0])}`"


def test_each_rule_is_fired_and_held_back() -> None:
    fired, held = goldens()
    assert [name for name in RULES if not fired[name]] == []
    assert [name for name, (_, rule) in RULES.items() if rule.when is not always and not held[name]] == []


def test_each_additive_rule_is_fired_and_held_back() -> None:
    caches = {rule.name for rule in ADDITIVE if rule.function == SUM_OF_SIZES}
    assert [{rule.name for rule in ADDITIVE} - found.keys() for found in additive_goldens()] == [set(), caches]


def test_the_page_is_up_to_date(golden: Callable[[Path, str], None]) -> None:
    golden(PAGE, with_block(PAGE.read_text(encoding="utf-8"), "rules", table()))


@pytest.mark.parametrize("name", [name for name, _ in OPTIMIZATIONS])
def test_each_optimization_fires_in_a_golden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it some optimised Δ-script is another one; the page names it."""
    assert f"`{name}`" in PAGE.read_text(encoding="utf-8")
    before = [idiff_way(read(path).plan()).idiffs for path in FILES]
    monkeypatch.setattr(optimize, "OPTIMIZATIONS", tuple(each for each in OPTIMIZATIONS if each[0] != name))
    monkeypatch.setattr(optimize, "check_naive", lambda relation: None)
    assert [idiff_way(read(path).plan()).idiffs for path in FILES] != before
