"""Loads the retail warehouse, runs dbt, changes the sources batch by batch, and compares each model with its query every time.

`make integration` runs it. It fails if a model or a test fails, or if too few refreshes are incremental.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import click
from dbt_common.exceptions import DbtBaseException
from retail import show
from retail.batches import SCHEDULE
from retail.engine import Engine, credentials_of, remove_earlier
from retail.play import Play, dbt_of
from retail.runs import DbtFailed, share

HERE = Path(__file__).resolve().parent
LEAST_SHARE = 0.95


@click.command(help=(__doc__ or "").splitlines()[0])
@click.option("--target", help="The profile's target: embedded (default), thrift or connect.")
@click.option("--batches", type=click.IntRange(0), default=len(SCHEDULE), show_default=True, help="So many batches of change.")
@click.option("--scale", type=click.FloatRange(0.05), default=1.0, show_default=True, help="So many times seven thousand rows.")
@click.option("--seed", default=1, show_default=True, help="The data are the same for the same seed.")
@click.option("--strategy", default="incremental", show_default=True, help="The strategy of all models.")
@click.option("--threads", type=click.IntRange(1), help="dbt's threads; default: the profile's.")
@click.option("--select", multiple=True, help="Run and test these models only, as dbt selects them. May be given several times.")
@click.option("--load-only", is_flag=True, help="Load the sources and leave the rest to dbt by hand.")
def main(
    target: str | None,
    batches: int,
    scale: float,
    seed: int,
    strategy: str,
    threads: int | None,
    select: tuple[str, ...],
    load_only: bool,
) -> None:
    warnings.simplefilter("ignore")
    console, began = show.console(), time.monotonic()
    problem: str | None = None
    try:
        credentials = credentials_of(HERE, target)
        if credentials.is_embedded:
            remove_earlier(HERE, credentials)
        play = Play(dbt_of(HERE, target, threads, strategy, select), Engine(credentials), console, seed, scale)
        if load_only:
            play.load()
            console.print(f"Loaded in {time.monotonic() - began:.0f} s. Next, in {HERE.name}: dbt seed, snapshot, run, test")
            return
        try:
            play.play(range(batches))
        except (DbtFailed, KeyboardInterrupt) as stopped:
            problem = str(stopped) or "interrupted"
    except DbtBaseException as failure:
        raise click.ClickException(str(failure.msg)) from failure
    console.print(show.modes(play.rounds))
    console.print(show.summary(play.rounds))
    for line in (*show.remarks(play.rounds), *show.failures(play.rounds)):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    shares = {kind: share(play.rounds, kind) for kind in show.KINDS}
    console.print(
        "incremental: "
        + ", ".join(f"{show.percent(value) or 'none'} after {kind}" for kind, value in shares.items())
        + f"; {time.monotonic() - began:.0f} s in all",
        highlight=False,
    )
    few = [kind for kind, value in shares.items() if value is not None and value < LEAST_SHARE]
    if few and strategy != "auto":
        problem = problem or f"less than {LEAST_SHARE:.0%} of the refreshes after {', '.join(few)} are incremental"
    if any(done.failures for done in play.rounds):
        problem = problem or "a model or a test failed"
    if problem:
        raise click.ClickException(problem)


if __name__ == "__main__":
    sys.exit(main())
