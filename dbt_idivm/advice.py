"""What `idivm advise` reads from its options, and how it shows its advice."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dbt_idivm.advise import Advice, Upkeep
from dbt_idivm.dag.costs import Rate
from dbt_idivm.project import Explained
from dbt_idivm.relation_name import name_parts

_RATE = re.compile(r"(?P<table>[^=]+)=(?P<part>\d+(\.\d*)?|\.\d+)(?P<percent>%)?(?P<day>/day)?"
                   r"(:(?P<kind>inserted|updated|deleted))?")
_ROWS = re.compile(r"(?P<table>[^=]+)=(?P<rows>[\d_]+)")


def of_table(given: Mapping[str, float], table: str) -> float | None:
    """What is given for a table, by its name or by the last part of it."""
    return given.get(table.lower(), given.get(name_parts(table)[-1].lower()))


def read_rows(given: Sequence[str]) -> dict[str, float]:
    """Table → its number of rows, of options `TABLE=N`. Raises ValueError."""
    found = {}
    for each in given:
        match = _ROWS.fullmatch(each)
        if match is None:
            raise ValueError(f"'{each}' is not TABLE=N")
        found[match["table"].lower()] = float(match["rows"].replace("_", ""))
    return found


def read_rates(given: Sequence[str], tables: Sequence[str], refreshes: float) -> dict[str, Rate]:
    """Table → what changes of it from one refresh to the next, of options `TABLE=PART[%][/day][:kind]`. Raises ValueError for
    what is no such text, and for a table that no model reads."""
    found: dict[str, Rate] = {}
    for each in given:
        match = _RATE.fullmatch(each)
        if match is None:
            raise ValueError(f"'{each}' is not TABLE=PART[/day][:inserted|:updated|:deleted], such as orders=0.01/day")
        named = [table for table in tables if match["table"].lower() in (table.lower(), name_parts(table)[-1].lower())]
        if not named:
            raise ValueError(f"no model reads {match['table']}; the tables are {', '.join(tables) or 'none'}")
        part = float(match["part"]) / (100 if match["percent"] else 1) / (refreshes if match["day"] else 1)
        for table in named:
            found[table] = replace(found.get(table, Rate()), **{match["kind"] or "inserted": part})
    return found


def as_json(advice: Advice, refused: Sequence[Explained]) -> str:
    """The advice as a JSON object; seconds are those of one refresh."""
    rebuilt = [{"model": each.model, "why": each.why} for each in refused]
    return json.dumps({**asdict(advice), "rebuilt": rebuilt}, indent=2)


def show(advice: Advice, refused: Sequence[Explained], refreshes: float) -> None:
    """Print it: models, what they should share, and the sum."""
    console = Console(highlight=False)
    models = Table("model", "incremental", "rebuilt", "advice", show_edge=False)
    for each in advice.upkeep:
        models.add_row(escape(each.model), _seconds(each.incremental), _seconds(each.rebuilt), _advice(each, refreshes))
    for other in refused:
        models.add_row(escape(other.model), "", "", escape(f"not maintained: {other.why}"))
    console.print(models)
    if advice.shared:
        console.print("\nWorth sharing: as a model of its own, which the others read with ref()")
        shared = Table("subview", "models", "materialized", "saves", "size", show_edge=False)
        for found in advice.shared:
            shared.add_row(escape(found.subview), escape(", ".join(found.models)), "idivm" if found.kept else "table",
                           _seconds(found.saves), f"{found.bytes / 1e6:,.1f} MB")
        console.print(shared)
    console.print(f"\nA refresh of all {len(advice.upkeep)} models, each as is quicker, is estimated at "
                  f"{_seconds(advice.seconds)}; a day has {refreshes:g}.")


def _advice(upkeep: Upkeep, refreshes: float) -> str:
    if upkeep.way is None:
        return "idivm: nothing that it reads changes"
    if upkeep.is_maintained:
        return f"idivm, {upkeep.way}: saves {_seconds((upkeep.rebuilt - upkeep.incremental) * refreshes)} a day"
    return "table: a rebuild is quicker"


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 600 else f"{value / 60:.0f} min" if value < 36_000 else f"{value / 3600:.0f} h"
