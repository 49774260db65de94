"""Facts about projects that are estimated in one setting: from options, statistics and earlier refreshes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from dbt_idivm.errors import Finding
from dbt_idivm.project import Project
from dbt_idivm.tools.advice.advise import Subject, subject
from dbt_idivm.tools.advice.measured import COSTS, Learned, learned
from dbt_idivm.tools.advice.options import read_rates, read_rows, statistics
from dbt_idivm.tools.advice.setting import last_part, of_table
from dbt_idivm.tools.dag.costs import Rate


@dataclass(frozen=True)
class Given:
    """The options that replace or complete the artifacts, as given."""

    rows: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    refreshes: float = 24.0
    costs: Path | None = None
    engine: str | None = None


def estimate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that adds the options of `Given` to a command, under the names of its fields."""
    options = (
        click.option(
            "--rows", multiple=True, metavar="TABLE=N", help="The number of rows of a table; default: from target/catalog.json."
        ),
        click.option(
            "--rate",
            "rates",
            multiple=True,
            metavar="TABLE=PART[/day][:inserted|:updated|:deleted]",
            help="The part of a table's rows that changes per day, or without /day between two refreshes: "
            "orders=0.01/day, customers=0.1%:updated. May be given several times.",
        ),
        click.option(
            "--refreshes",
            type=click.FloatRange(min=0, min_open=True, max=86_400),
            default=24,
            show_default=True,
            help="Refreshes per day.",
        ),
        click.option(
            "--costs",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="A file with the durations of refreshes; default: .idivm/costs.json of the project.",
        ),
        click.option("--engine", help="A part of the engine's name in that file; default: the engine that was used last."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True)
class Known:
    """`about`: the projects. `tables`: their base tables. `sizes`: table → number of rows, from options or statistics. `lies`:
    statistics that cannot be true. `rates`: table → what changes from one refresh to the next."""

    about: tuple[Subject, ...]
    tables: tuple[str, ...]
    sizes: Mapping[str, float] = field(default_factory=dict)
    rates: Mapping[str, Rate] = field(default_factory=dict)
    lies: tuple[Finding, ...] = ()
    learned: Learned = field(default_factory=Learned)

    def rows(self, table: str) -> float | None:
        """The number of rows of a table; None if unknown."""
        return of_table(self.sizes, table)


def known(projects: Sequence[Project], folder: Path, given: Given) -> Known:
    """Collect the facts about some projects; durations are those of `folder`. Raises IDIVM-115 for an invalid option."""
    of_each = [statistics(each) for each in projects]
    rows = read_rows(given.rows)
    sizes = {table: count for counts, _ in reversed(of_each) for table, count in counts.items()} | rows
    given_rates = {last_part(each.partition("=")[0]) for each in given.rates}
    about = tuple(subject(each, lambda table: of_table(sizes, table), given_rates) for each in projects)
    tables = tuple(sorted({table for each in about for table in each.tables}))
    lies = {each.summary: each for _, notes in of_each for each in notes if of_table(rows, each.details["table"]) is None}
    return Known(
        about,
        tables,
        sizes,
        read_rates(given.rates, tables, given.refreshes),
        tuple(lies.values()),
        learned(given.costs or folder / COSTS, given.engine),
    )
