"""`idivm advise --what-if`: daily costs of the models of two projects, each as it is configured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dbt_idivm.advice.advise import Advice
from dbt_idivm.advice.show import seconds


@dataclass(frozen=True)
class Compared:
    """One model: seconds per day in both projects; None without an estimate, for the reason `why`."""

    model: str
    here: float | None
    there: float | None
    why: str = ""


@dataclass(frozen=True)
class Comparison:
    models: tuple[Compared, ...]
    here: float
    there: float


def compare(here: Advice, there: Advice) -> Comparison:
    """Compare the models by name."""
    return Comparison(tuple(_models(here, there)), here.today, there.today)


def _models(here: Advice, there: Advice) -> Iterator[Compared]:
    costs = [{each.model: each.today for each in advice.storing} for advice in (here, there)]
    blocked = [{each.model: f"{each.code} {each.why}".strip() for each in advice.blocked} for advice in (here, there)]
    for name in sorted({*costs[0], *costs[1], *blocked[0], *blocked[1]}):
        why = [
            f"{place}: {found.get(name, 'no such model')}"
            for place, cost, found in zip(("here", "there"), costs, blocked, strict=True)
            if name not in cost
        ]
        yield Compared(name, costs[0].get(name), costs[1].get(name), "; ".join(why))


def as_json(found: Comparison) -> str:
    return json.dumps(asdict(found), indent=2)


def show(found: Comparison, project: str) -> None:
    """Print the comparison. `project`: name of the other project."""
    console = Console(highlight=False)
    table = Table("model", "a day here", "a day there", "less", "", show_edge=False)
    for each in found.models:
        less = "" if each.here is None or each.there is None else _signed(each.here - each.there)
        costs = ("" if cost is None else seconds(cost) for cost in (each.here, each.there))
        table.add_row(*map(escape, (each.model, *costs, less, each.why)))
    console.print(table)
    console.print(
        f"\nIn sum {seconds(found.here)} a day here, {seconds(found.there)} in {escape(project)}: "
        f"{_signed(found.here - found.there)} less."
    )


def _signed(value: float) -> str:
    return f"-{seconds(-value)}" if value < 0 else seconds(value)
