"""`python -m benchmarks`: one experiment from the command line, or one of the suites that `make` runs."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from benchmarks import dbt_graph, plots, report, results
from benchmarks.engine import engine
from benchmarks.experiment import Experiment, Inexact
from benchmarks.lanes import LANES
from benchmarks.results import Record
from benchmarks.runner import run
from benchmarks.suites import SUITES
from benchmarks.workload import Amount
from benchmarks.workloads import WORKLOADS

OUT = Path(__file__).resolve().parent / "out"


@click.command(help=__doc__)
@click.option("--suite", type=click.Choice(list(SUITES)), help="A set of experiments; the options below make one.")
@click.option("--workload", type=click.Choice([*WORKLOADS, dbt_graph.NAME]))
@click.option("--scale", type=float, default=1.0, show_default=True, help="1: the sizes of the workload's paper.")
@click.option("--query", "queries", multiple=True, help="A query of the workload; all if none is given.")
@click.option("--lane", "lanes", multiple=True, type=click.Choice(LANES), help="Those of every experiment if none is given.")
@click.option("--change", default=None, help="A change of the workload, or `nothing`; its first if none is given.")
@click.option(
    "--percent", "percents", multiple=True, type=float, help="How much is changed, in percent of the rows; several make a plot."
)
@click.option("--rows", "numbers", multiple=True, type=int, help="How much is changed, in rows.")
@click.option("--set", "parameters", multiple=True, metavar="NAME=NUMBER", help="A parameter of the workload.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--warmups", type=click.IntRange(0), default=1, show_default=True)
@click.option("--memory", default="3g", show_default=True, help="The heap of Spark.")
@click.option("--within", type=click.Path(path_type=Path, file_okay=False), help="The folder for the tables.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=OUT, show_default=True)
@click.option("--name", default="latest", show_default=True, help="The name of the files in the folder `out`.")
def main(
    suite: str | None,
    workload: str | None,
    scale: float,
    queries: tuple[str, ...],
    lanes: tuple[str, ...],
    change: str | None,
    percents: tuple[float, ...],
    numbers: tuple[int, ...],
    parameters: tuple[str, ...],
    rounds: int,
    warmups: int,
    memory: str,
    within: Path | None,
    out: Path,
    name: str,
) -> None:
    if (suite is None) == (workload is None):
        raise click.UsageError("give either --suite or --workload")
    if suite is not None:
        experiments: Sequence[Experiment] = SUITES[suite]
    else:
        assert workload is not None
        given = {key: int(value) for key, value in (each.split("=", 1) for each in parameters)}
        first = next((each.name for each in WORKLOADS[workload](scale, **given).changes), "") if workload in WORKLOADS else ""
        amounts = [*(Amount(percent=each) for each in percents), *(Amount(rows=each) for each in numbers)]
        experiments = [
            Experiment(
                workload,
                scale,
                tuple((change or first, amount) for amount in amounts or [Amount(percent=0.1)]),
                lanes or Experiment.lanes,
                queries,
                rounds,
                warmups,
                given,
                "changed" if len(percents) > 1 else Experiment.purpose,
            )
        ]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # tables and Spark are removed then as well
    sys.exit(measure(experiments, memory, within, out, name))


def measure(experiments: Sequence[Experiment], memory: str, within: Path | None, out: Path, name: str) -> int:
    """Run the experiments and write all results after each change. The exit status: 1 if a view was wrong, or anything failed."""
    console, began = Console(stderr=True), time.monotonic()

    def say(text: str) -> None:
        console.print(f"{time.monotonic() - began:5.0f} s  {text}", highlight=False)

    about, records, failed = results.header(" ".join(["python -m benchmarks", *sys.argv[1:]])), list[Record](), 0
    with engine(memory, within) as started:
        for experiment in experiments:
            say(f"[bold]{experiment.workload}[/bold] at scale {experiment.scale:g}")
            try:
                for found in (dbt_graph.run if experiment.workload == dbt_graph.NAME else run)(experiment, started, say):
                    records += found
                    publish(out, name, about, records)
            except Inexact as difference:
                console.print(f"The run is void: {difference}", style="bold red")
                return 1
            except Exception:  # the experiments after it can be measured all the same
                console.print_exception(max_frames=10)
                failed += 1
    say(f"{len(records)} records in {out}/{name}.json" + (f"; {failed} experiments failed" if failed else ""))
    return 1 if failed else 0


def publish(out: Path, name: str, about: Mapping[str, Any], records: Sequence[Record]) -> None:
    """Write the records, the table and, where matplotlib is installed, the plots."""
    results.write(out / f"{name}.json", about, records)
    (out / f"{name}.md").write_text(report.markdown(about, records), encoding="utf-8")
    if find_spec("matplotlib"):
        plots.draw(records, out / name)


if __name__ == "__main__":
    main()
