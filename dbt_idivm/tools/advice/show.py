"""Output of `idivm advise`: as tables, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dbt_idivm.errors import Finding
from dbt_idivm.tools.advice.advise import Advice, Taken
from dbt_idivm.tools.advice.caching import Cached
from dbt_idivm.tools.advice.clustering import Clustered
from dbt_idivm.tools.advice.deferring import Deferred
from dbt_idivm.tools.advice.estimates import Upkeep
from dbt_idivm.tools.advice.hindered import Blocked, Keyed
from dbt_idivm.tools.advice.setting import UNREAD
from dbt_idivm.tools.advice.sharing import Shared
from dbt_idivm.tools.advice.storing import EPHEMERAL, MAINTAINED, TABLE, VIEW, Storing

T = TypeVar("T")


def as_json(advice: Advice) -> str:
    """The advice as a JSON object. `upkeep` and `shared` are in seconds of one refresh, everything else in seconds per day."""
    found: dict[str, Any] = {
        **asdict(advice),
        "notes": [_note(each) for each in advice.notes],
        "seconds": advice.seconds,
        "today": advice.today,
        "advised": advice.advised,
    }
    return json.dumps(found, indent=2)


def _note(found: Finding) -> dict[str, str]:
    return {"code": found.code, "title": found.title, "do": found.do}


def show(advice: Advice) -> None:
    """Print the advice: models, obstacles, further improvements, and the total."""
    console = Console(highlight=False)
    _show_models(console, advice)
    _show_blocked(console, advice.blocked)
    _show_keys(console, advice.keys)
    _show_shared(console, advice.shared)
    _show_caches(console, advice.caches)
    _show_clusterings(console, advice.clusterings)
    _show_deferred(console, advice.deferred)
    _show_estimated(console, advice.measured)
    for note in advice.notes:
        console.print(f"\n{escape(note.summary)}: {escape(note.do)}.")
    _show_total(console, advice)


def _show_models(console: Console, advice: Advice) -> None:
    """Print how each model is to be stored; and those that cannot be maintained. There is no column for last runs if none is
    known."""
    upkeep = {each.model: each for each in advice.upkeep}
    taken = {each.model: f"{each.mode} {seconds(each.seconds)}" for each in advice.measured}
    rows = [
        (
            each.model,
            *_upkeep(upkeep.get(each.model)),
            taken.get(each.model, ""),
            seconds(each.today),
            seconds(each.advised),
            _advice(each, upkeep.get(each.model)),
        )
        for each in advice.storing
    ]
    rows += [
        (each.model, "", "", taken.get(each.model, ""), "", "", f"not maintained: {_coded(each.code, each.why)}")
        for each in advice.blocked
    ]
    columns = ("model", "incremental", "rebuilt", *(("last run",) if taken else ()), "a day now", "a day then", "advice")
    console.print(_table(columns, (row if taken else (*row[:3], *row[4:]) for row in rows)))


def _show_blocked(console: Console, found: Iterable[Blocked]) -> None:
    _section(
        console,
        "Rebuilt on every run, and the smallest change that would help",
        found,
        ("model", "models below", "because of", "do"),
        lambda each: (each.model, str(each.below), f"{each.code} {each.where}".strip(), each.do),
    )


def _show_keys(console: Console, found: Iterable[Keyed]) -> None:
    _section(
        console,
        "Keys that would pay, if they hold",
        found,
        ("table", "key", "known by", "saves a day", "cheaper", "maintained"),
        lambda each: (
            each.table,
            ", ".join(each.columns),
            each.declared,
            seconds(each.saves),
            ", ".join(each.cheaper),
            ", ".join(each.maintained),
        ),
    )


def _show_shared(console: Console, found: Iterable[Shared]) -> None:
    _section(
        console,
        "Worth sharing: as a model of its own, which the others read with ref()",
        found,
        ("subview", "models", "materialized", "saves a refresh", "size"),
        lambda each: (
            each.subview,
            ", ".join(each.models),
            "idivm" if each.kept else "table",
            seconds(each.saves),
            size(each.bytes),
        ),
    )


def _show_caches(console: Console, found: Iterable[Cached]) -> None:
    _section(
        console,
        "Caches that would pay",
        found,
        ("model", "caches", "saves a day", "size"),
        lambda each: (
            each.model,
            each.caches if isinstance(each.caches, str) else ", ".join(each.caches),
            seconds(each.saves),
            size(each.bytes),
        ),
    )


def _show_clusterings(console: Console, found: Iterable[Clustered]) -> None:
    _section(
        console,
        "Clusterings that would pay; more if the keys that change together are neighbours",
        found,
        ("table", "cluster by", "saves a day", "at best", "models"),
        lambda each: (each.table, each.column, seconds(each.saves), seconds(each.at_best), ", ".join(each.models)),
    )


def _show_deferred(console: Console, found: Iterable[Deferred]) -> None:
    _section(
        console,
        "Deferred: to be refreshed in every n-th run",
        found,
        ("model", "n", "a day now", "a day then"),
        lambda each: (each.model, str(each.runs), seconds(each.today), seconds(each.deferred)),
    )


def _show_estimated(console: Console, measured: Iterable[Taken]) -> None:
    """Print how long the last runs took beside their estimates, if there are any."""
    if known := [each for each in measured if each.expected is not None]:
        took, expected = sum(each.seconds for each in known), sum(each.expected or 0.0 for each in known)
        console.print(f"\nThe last runs of {len(known)} models took {seconds(took)}, and were estimated at {seconds(expected)}.")


def _show_total(console: Console, advice: Advice) -> None:
    whose = f"`{escape(advice.engine)}`" if advice.engine else "a small machine, as no refresh has been measured"
    console.print(f"\nPrices are those of {whose}.")
    console.print(
        f"A refresh of all {len(advice.upkeep)} models, each as is quicker, is estimated at "
        f"{seconds(advice.seconds)}; a day has {advice.refreshes:g}. With reads the models as they are take "
        f"{seconds(advice.today)} a day, as advised {seconds(advice.advised)}. "
        f"A model that no model reads is taken to be read {UNREAD:g} times a day, unless --reads says otherwise."
    )


def _section(
    console: Console, title: str, found: Iterable[T], columns: tuple[str, ...], row: Callable[[T], tuple[str, ...]]
) -> None:
    if rows := [row(each) for each in found]:
        console.print(f"\n{title}")
        console.print(_table(columns, rows))


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    table = Table(*columns, show_edge=False)
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _coded(code: str, text: str) -> str:
    return f"{code} {text}".strip()


def _upkeep(found: Upkeep | None) -> tuple[str, str]:
    return (seconds(found.incremental), seconds(found.rebuilt)) if found else ("", "")


def _advice(found: Storing, upkeep: Upkeep | None) -> str:
    """The advised kind, and the reason in a few words."""
    saves = f", saves {seconds(found.saves)} a day" if found.saves > 0 else ""
    saves += ", without its test idivm_equivalent" if found.fails_test else ""
    if found.kind == EPHEMERAL:
        return f"ephemeral: one model reads it, which is cheaper without it{saves}"
    if found.kind == VIEW:
        return f"{found.kind}: read {found.reads:g} times a day, its upkeep is not worth it{saves}"
    if found.kind == TABLE:
        return f"table: a rebuild is quicker{saves}"
    if found.kind == MAINTAINED and upkeep is not None:
        if upkeep.way is None:
            return "idivm: nothing that it reads changes"
        return f"idivm, {upkeep.way}{saves}" if upkeep.is_maintained else f"idivm: a rebuild is about as quick{saves}"
    return f"{found.kind}: no change"


def seconds(value: float) -> str:
    """A duration for people."""
    return f"{value:.1f} s" if value < 600 else f"{value / 60:.0f} min" if value < 36_000 else f"{value / 3600:.0f} h"


def size(value: float) -> str:
    return f"{value / 1e6:,.1f} MB"
