"""What a run of the project prints: progress while it works, the modes of all refreshes, and a summary of the batches."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from retail.runs import Round, share

STYLES = {"incremental": "green", "noop": "dim", "create": "cyan", "migrated": "blue", "full": "yellow", "failed": "bold red"}
KINDS = ("inserts", "updates", "deletes")
PLAIN_WIDTH = 130  # where there is no terminal


def console() -> Console:
    found = Console()
    return found if found.is_terminal else Console(width=PLAIN_WIDTH)


def progress(on: Console) -> Progress:
    return Progress(
        SpinnerColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.fields[doing]}", style="dim"),
        console=on,
        transient=True,
        disable=not on.is_terminal,
    )


def modes(rounds: Sequence[Round]) -> Table:
    """Per model the mode of each refresh."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, header_style="bold")
    table.add_column("model", no_wrap=True)
    for number, _ in enumerate(rounds):
        table.add_column("first" if number == 0 else f"batch {number}", no_wrap=True)
    found = [{each.model: each for each in done.refreshes} for done in rounds]
    folders = {each.model: each.folder for done in rounds for each in done.refreshes}
    names = sorted(folders, key=lambda name: (folders[name], name))
    for before, name in zip([None, *names], names, strict=False):
        if before is None or folders[before] != folders[name]:
            table.add_row(Text(folders[name], style="bold"))
        done = [each[name].mode if name in each else "failed" for each in found]
        table.add_row(f"  {name}", *(Text(mode, style=STYLES[mode]) for mode in done))
    return table


def summary(rounds: Sequence[Round]) -> Table:
    """Per batch what it changed, what the refreshes did, and how long dbt took."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in ("batch", "changes", "rows", "incremental", "rebuilt", "no-op", "share", "tests", "failed", "run s", "test s"):
        table.add_column(name, justify="left" if name in ("batch", "changes") else "right", no_wrap=True)
    for done in rounds:
        noop = sum(each.mode == "noop" for each in done.refreshes)
        kinds = ", ".join(kind for kind in KINDS if done.batch and kind in done.batch.kinds)
        table.add_row(
            done.title,
            kinds,
            str(done.batch.rows) if done.batch else "",
            str(done.incremental) if done.batch else "",
            str(len(done.counted) - done.incremental) if done.batch else "",
            str(noop) if done.batch else "",
            percent(share([done])),
            str(done.tests),
            str(len(done.failures)),
            *(f"{done.seconds.get(command, 0):.0f}" for command in ("run", "test")),
        )
    return table


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def remarks(rounds: Sequence[Round]) -> list[str]:
    """Each reason for a rebuild with the models it is about, and how to read the tables."""
    found: dict[str, dict[str, None]] = {}
    for each in (each for done in rounds if done.batch for each in done.refreshes if each.mode in ("full", "create")):
        found.setdefault(str(each.reason), {})[each.model] = None
    return [
        "share: of the refreshes that had something to do.",
        *(f"{', '.join(names)}: {reason}" for reason, names in found.items()),
    ]


def failures(rounds: Sequence[Round]) -> list[str]:
    return [f"{done.title}: {each}" for done in rounds for each in done.failures]
