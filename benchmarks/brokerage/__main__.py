"""A broker's warehouse under `dbt run`: the history is loaded, then one day of changes after the other.

After each day all models are brought up to date, and each one is compared with its query. With --full all models are also
rebuilt as tables in a second schema.
"""

from __future__ import annotations

import datetime as dt
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from benchmarks import report, results
from benchmarks.brokerage import show
from benchmarks.brokerage.play import MAINTAINED, Done, Play
from benchmarks.brokerage.world import World
from benchmarks.engine import engine
from benchmarks.experiment import Inexact
from benchmarks.lanes import Sample
from benchmarks.results import BUILD, Record, summary

OUT = Path(__file__).resolve().parents[1] / "out"


@click.command(help=__doc__)
@click.option("--scale", type=click.FloatRange(0), default=0.01, show_default=True, help="1: a million trades.")
@click.option("--batches", type=click.IntRange(0), default=3, show_default=True, help="So many days of changes.")
@click.option(
    "--strategy", type=click.Choice(["auto", "incremental", "id", "tuple", "recompute"]), default="auto", show_default=True
)
@click.option("--full", is_flag=True, help="Rebuild all models as tables in a second schema, too.")
@click.option("--seed", default=1, show_default=True, help="The data are the same for the same seed, scale and last day.")
@click.option("--last-day", type=click.DateTime(["%Y-%m-%d"]), help="Of the history; default: the last batch is of today.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="dbt's threads.")
@click.option("--memory", default="3g", show_default=True, help="The heap of Spark.")
@click.option("--within", type=click.Path(path_type=Path, file_okay=False), help="The folder for the tables.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=OUT, show_default=True)
@click.option("--name", default="brokerage", show_default=True, help="The name of the files in the folder `out`.")
def main(
    scale: float,
    batches: int,
    strategy: str,
    full: bool,
    seed: int,
    last_day: dt.datetime | None,
    threads: int,
    memory: str,
    within: Path | None,
    out: Path,
    name: str,
) -> None:
    console, began = Console(), time.monotonic()
    if not console.is_terminal:
        console = Console(width=130)

    def say(text: str) -> None:
        console.print(f"{time.monotonic() - began:5.0f} s  {text}", highlight=False)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # tables and Spark are removed then as well
    day = last_day.date() if last_day else dt.date.today() - dt.timedelta(batches)
    play, rounds = Play(World(scale, seed, day), strategy, full, threads, say), list[Done]()
    about = results.header(" ".join(["python -m benchmarks.brokerage", *sys.argv[1:]]))
    try:
        with engine(memory, within) as started:
            for done in play.rounds(started, batches):
                rounds += done
                publish(out, name, about, [_record(each, scale, strategy) for each in rounds])
    except Inexact as difference:
        raise click.ClickException(f"the run is void: {difference}") from difference
    finally:
        if rounds:
            console.print(show.models(rounds))
            console.print(show.summary(rounds))
            for line in show.reasons(rounds):
                console.print(line, markup=False, highlight=False, soft_wrap=True)


def publish(out: Path, name: str, about: dict[str, object], records: Sequence[Record]) -> None:
    results.write(out / f"{name}.json", about, records)
    (out / f"{name}.md").write_text(report.markdown(about, records), encoding="utf-8")


def _record(done: Done, scale: float, strategy: str) -> Record:
    modes = list(done.run.modes.values())
    sample = Sample(
        done.run.working, 0.0, done.run.statements, ", ".join(f"{modes.count(each)} {each}" for each in sorted(set(modes)))
    )
    return Record(
        workload="brokerage",
        query=f"{len(modes)} models",
        scale=scale,
        change=f"batch {done.batch}" if done.batch else BUILD,
        lane=strategy if done.target == MAINTAINED else "full",
        exact=True,
        purpose="dbt",
        **summary([(sample, done.work)]),
    )


if __name__ == "__main__":
    main()
