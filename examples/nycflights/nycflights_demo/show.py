"""What the demo prints: progress while it works, one table, one Δ-script, and what to try next."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from nycflights_demo.runs import ModelRun, Round

COLUMNS = (
    "mode",
    "strategy",
    "rows\ninserted",
    "rows\nupdated",
    "rows\ndeleted",
    "state-\nments",
    "seconds",
    "full\nrefresh",
    "exact",
)
NUMBERS_FROM = 2
MODE_STYLES = {"incremental": "green", "noop": "dim", "create": "cyan", "full": "yellow"}
SCRIPT_LINES = 50
SHORT_STEP = 6  # lines of SQL
PLAIN_WIDTH = 110  # where there is no terminal


def console() -> Console:
    found = Console()
    return found if found.is_terminal else Console(width=PLAIN_WIDTH)


def progress(on: Console) -> Progress:
    """What is being done and for how long; it disappears at the end."""
    return Progress(
        SpinnerColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.fields[doing]}", style="dim"),
        console=on,
        transient=True,
        disable=not on.is_terminal,
    )


def results_table(rounds: Sequence[Round]) -> Table:
    """Per round and model: what the refresh did, how long it took, and whether the view is exact."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, header_style="bold")
    table.add_column("round\nmodel", no_wrap=True)
    for number, name in enumerate(COLUMNS):
        right = number >= NUMBERS_FROM and name != "exact"
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    for each in rounds:
        sums = (Text(_seconds(found), style="bold") for found in (each.seconds, each.full_seconds))
        table.add_row(Text(each.title, style="bold"), *[""] * 6, *sums)
        for model in each.models:
            table.add_row(*_cells(model, each.tested))
        table.add_section()
    return table


def _seconds(found: float | None) -> str:
    return "" if found is None else f"{found:.1f}"


def _cells(model: ModelRun, tested: bool) -> list[str | Text]:
    response = model.response
    exact = {True: Text("yes", style="green"), False: Text("NO", style="bold red"), None: Text("?", style="red")}
    return [
        f" {model.name}",
        Text(model.mode, style=MODE_STYLES.get(model.mode, "")),
        str(response["strategy"] or "-"),
        *(f"{response[f'rows_{what}']:,}" for what in ("inserted", "updated", "deleted")),
        str(response["statements"]),
        f"{model.seconds:.1f}",
        _seconds(model.full_seconds),
        exact[model.equivalent] if tested else "",
    ]


def remarks(rounds: Sequence[Round]) -> list[str]:
    """How to read the table, and each reason for rebuilding or recomputing with the models it is about."""
    found: dict[str, list[str]] = {}
    for model in (model for each in rounds for model in each.models if model.response["reason"]):
        names = found.setdefault(str(model.response["reason"]), [])
        names.extend([model.name] if model.name not in names else [])
    return [
        "exact: the test idivm_equivalent compared view and query as bags of rows after each round.",
        "full refresh: seconds to rebuild from the same SELECT, measured in the first round.",
        "mode full: a rebuild was estimated to be cheaper; the reasons follow.",
        *(f"{', '.join(names)}: {reason}" for reason, names in found.items()),
    ]


def final_table(rounds: Sequence[Round]) -> Table:
    """What a visitor is to remember: each round of changes, maintained and rebuilt."""
    table = Table(box=box.ROUNDED, title="Six models, kept equal to their queries", title_style="bold")
    for name in ("after a change of", "rows", "dbt-idivm", "six rebuilds", "", "exact"):
        table.add_column(name, justify="left" if name == "after a change of" else "right", no_wrap=True)
    for each in rounds:
        if each.full_seconds is None or not each.seconds:
            continue
        ratio = each.full_seconds / each.seconds
        words = f"{ratio:.1f} times faster" if ratio >= 1 else f"{1 / ratio:.1f} times slower"
        table.add_row(
            each.title.partition(": ")[2],
            f"{each.changed_rows:,}",
            f"{each.seconds:.1f} s",
            f"{each.full_seconds:.1f} s",
            Text(words, style="bold green" if ratio >= 1 else "yellow"),
            "yes" if each.is_exact else Text("NO", style="bold red"),
        )
    return table


def script_panel(file: Path, project: Path, width: int) -> Panel:
    """A Δ-script on one screen."""
    lines = shortened(file.read_text(encoding="utf-8"), width)[:SCRIPT_LINES]
    shown = Syntax("\n".join(lines), "sql", theme="ansi_dark", background_color="default")
    return Panel(shown, title=f"{file.relative_to(project)}, shortened", title_align="left")


def shortened(script: str, width: int) -> list[str]:
    """Each step's comments, cut to the width, and its SQL where that is short."""
    lines: list[str] = []
    for step in script.strip().split("\n\n"):
        comments = [line for line in step.splitlines() if line.startswith("--")]
        body = [line for line in step.splitlines() if not line.startswith("--")]
        lines += [line if len(line) <= width else line[: width - 1] + "…" for line in comments]
        lines += body if len(body) <= SHORT_STEP else [f"..  -- {len(body)} lines"]
    return lines


def what_next(project: Path, seconds: float) -> str:
    folder = near(project)
    return (
        f"Plans and Δ-scripts of all models: {folder}/target/idivm/\n"
        f"dbt's own results:                 {folder}/target/run_results.json\n"
        f"All in all: {seconds:.0f} s.\n\n"
        f"Next: change a table and run dbt by hand, as {folder}/README.md shows."
    )


def near(path: Path) -> str:
    """The path relative to the current folder, if that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)
