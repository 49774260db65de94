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

COLUMNS = ("mode", "strategy", "rows\ninserted", "rows\nupdated", "rows\ndeleted", "state-\nments", "seconds",
           "full\nrefresh", "exact")
NUMBERS_FROM = 2
MODE_STYLES = {"incremental": "green", "noop": "dim", "create": "cyan", "full": "yellow"}
SCRIPT_LINES = 36
PLAIN_WIDTH = 110  # where there is no terminal


def console() -> Console:
    found = Console()
    return found if found.is_terminal else Console(width=PLAIN_WIDTH)


def progress(on: Console) -> Progress:
    """What is being done and for how long; it disappears at the end."""
    return Progress(SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"),
                    TextColumn("{task.fields[doing]}", style="dim"), console=on, transient=True)


def results_table(rounds: Sequence[Round]) -> Table:
    """Per round and model: what the refresh did, how long it took, and whether the view is exact."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("round\nmodel", no_wrap=True)
    for number, name in enumerate(COLUMNS):
        right = number >= NUMBERS_FROM and name != "exact"
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    for each in rounds:
        table.add_row(Text(each.title, style="bold"), *[""] * 6, _sum(each, "seconds"), _sum(each, "full_seconds"))
        for model in each.models:
            table.add_row(*_cells(model))
        table.add_section()
    return table


def _sum(of: Round, figure: str) -> Text:
    values = [getattr(model, figure) for model in of.models]
    return Text(f"{sum(values):.1f}" if values and None not in values else "", style="bold")


def _cells(model: ModelRun) -> list[str | Text]:
    response = model.response
    exact = {True: Text("yes", style="green"), False: Text("NO", style="bold red"), None: Text("?", style="red")}
    return [
        f" {model.name}",
        Text(model.mode, style=MODE_STYLES.get(model.mode, "")),
        str(response["strategy"] or "-"),
        *(f"{response[f'rows_{what}']:,}" for what in ("inserted", "updated", "deleted")),
        str(response["statements"]),
        f"{model.seconds:.1f}",
        "" if model.full_seconds is None else f"{model.full_seconds:.1f}",
        exact[model.equivalent],
    ]


def remarks(rounds: Sequence[Round]) -> list[str]:
    """How to read the table, and each reason for rebuilding or recomputing with the models it is about."""
    found: dict[str, list[str]] = {}
    for model in (model for each in rounds for model in each.models if model.response["reason"]):
        names = found.setdefault(str(model.response["reason"]), [])
        names.extend([model.name] if model.name not in names else [])
    return [
        "exact: the test idivm_equivalent compared view and query as bags of rows after each round.",
        "full refresh: seconds to build the same SELECT anew. On tables as small as these a rebuild may be as fast or",
        "faster; the models say `strategy: incremental`, so that the maintenance can be seen.",
        *(f"{', '.join(names)}: {reason}" for reason, names in found.items()),
    ]


def script_panel(file: Path, project: Path) -> Panel:
    """The beginning of a Δ-script, one screen of it."""
    lines = file.read_text(encoding="utf-8").splitlines()
    more = len(lines) - SCRIPT_LINES
    shown = Syntax("\n".join(lines[:SCRIPT_LINES]), "sql", theme="ansi_dark", background_color="default")
    return Panel(shown, title=str(file.relative_to(project)), title_align="left",
                 subtitle=f"{more} more lines in the file" if more > 0 else None, subtitle_align="left")


def what_next(project: Path, seconds: float) -> str:
    folder = near(project)
    return (
        f"Plans and Δ-scripts of all models: {folder}/target/idivm/\n"
        f"dbt's own results:                 {folder}/target/run_results.json\n"
        f"All in all: {seconds:.0f} s.\n\n"
        f"Next: change a table and run dbt by hand, as {folder}/README.md shows."
    )


def near(path: Path) -> str:
    """The path from where the user stands, if that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)
