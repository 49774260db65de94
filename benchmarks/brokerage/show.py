"""What a run of the warehouse prints: each model's refreshes, a line for each dbt run, and why models were rebuilt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from benchmarks.brokerage.play import MAINTAINED, REBUILT, Done
from benchmarks.dbt_runs import seconds_of

LETTERS = {"create": "built", "incremental": "", "full": "rebuilt", "noop": "no-op", "migrated": "migrated"}


def models(rounds: Sequence[Done]) -> Table:
    """Per model and batch: the seconds, how it was refreshed unless incrementally, and the seconds of the rebuild beside it."""
    table = _table("model", *(f"batch {each.batch}" if each.batch else "history" for each in rounds if each.target == MAINTAINED))
    cells: dict[str, list[str]] = {}
    for done in rounds:
        if done.target != MAINTAINED:
            continue
        beside = next((each for each in rounds if each.batch == done.batch and each.target == REBUILT), None)
        rebuilds = {each.node.name: seconds_of(each) for each in beside.run.results} if beside else {}
        for result in done.run.results:
            name = result.node.name
            rebuild = f" / {rebuilds[name]:.1f}" if name in rebuilds else ""
            mode = LETTERS[done.run.modes[name]]
            cells.setdefault(name, []).append(f"{seconds_of(result):.1f}{rebuild} {mode}".rstrip())
    for name, row in cells.items():
        table.add_row(name, *row)
    return table


def summary(rounds: Sequence[Done]) -> Table:
    """Per dbt run: seconds of the models, dbt's own, and what was done."""
    table = _table("batch", "lane", "s", "dbt's s", "statements", "jobs", "MB read", "incremental", "rebuilt", "no-op", "share")
    for done in rounds:
        modes = list(done.run.modes.values())
        table.add_row(
            str(done.batch) if done.batch else "history",
            done.target,
            f"{done.run.working:.1f}",
            f"{done.run.seconds - done.run.working:.1f}",
            str(done.run.statements),
            str(done.work.jobs),
            f"{done.work.bytes_read / 1e6:.0f}",
            *(
                str(sum(mode in group for mode in modes))
                for group in (("incremental",), ("full", "create", "migrated"), ("noop",))
            ),
            "" if done.share is None or done.target == REBUILT else f"{done.share:.0%}",
        )
    return table


def reasons(rounds: Sequence[Done]) -> Iterator[str]:
    """Each reason for a rebuild after the history, with its models."""
    found: dict[str, dict[str, None]] = {}
    for result in (each for done in rounds if done.batch and done.target == MAINTAINED for each in done.run.results):
        if result.adapter_response["mode"] in ("full", "create"):
            found.setdefault(str(result.adapter_response["reason"]), {})[result.node.name] = None
    yield from (f"{', '.join(names)}: {reason}" for reason, names in found.items())


def _table(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place, name in enumerate(names):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    return table
