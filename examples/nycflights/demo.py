"""The demo: maintained models over three years of flights, four rounds of changes, and what each refresh did.

`make demo` runs it. It starts an embedded Spark, loads the data, and runs dbt in this process, so that one Spark
serves all. What it makes is in `.idivm/` and `target/` beside this file and is made again at each run.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

from dbt_common.exceptions import DbtBaseException
from nycflights_demo import show
from nycflights_demo.acts import Demo
from nycflights_demo.data import DataMissing
from nycflights_demo.runs import DbtFailed
from rich.console import Console

HERE = Path(__file__).resolve().parent
SHOWN_MODEL = "long_hauls"
PANEL_BORDER = 4
INTRODUCTION = (
    "Six dbt models over three years of flights are built as tables. Then the data change, and `dbt run` brings the "
    "tables up to date: by what has changed, or by a rebuild where one is estimated to be quicker. After each round "
    "every table is compared with its query, and the last table of all says what the rounds took, beside six "
    "rebuilds. It takes about five minutes.\n"
)


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    warnings.simplefilter("ignore")
    console = show.console()
    console.print(INTRODUCTION, highlight=False)
    demo, began = Demo(HERE, console), time.monotonic()
    try:
        demo.play(options.load_only)
    except KeyboardInterrupt:
        return _fail(console, demo, "Interrupted.")
    except (DbtBaseException, DbtFailed, DataMissing) as failure:
        return _fail(console, demo, str(failure.msg if isinstance(failure, DbtBaseException) else failure))
    seconds = time.monotonic() - began
    if options.load_only:
        console.print(f"Loaded in {seconds:.0f} s. Next, in {show.near(HERE)}: dbt build")
        return 0
    _epilogue(console, demo, seconds)
    return 0 if all(each.is_exact for each in demo.rounds) else 1


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--load-only", action="store_true", help="load the tables and leave the rest to dbt by hand")
    return parser.parse_args(arguments)


def _fail(console: Console, demo: Demo, message: str) -> int:
    """Print the results so far, and why the demo stopped."""
    if demo.rounds:
        console.print(show.results_table(demo.rounds))
    console.print(message, style="red", markup=False, highlight=False, soft_wrap=True)
    return 1


def _epilogue(console: Console, demo: Demo, seconds: float) -> None:
    console.print(show.results_table(demo.rounds))
    for line in show.remarks(demo.rounds):
        console.print(line, markup=False, highlight=False)
    console.print()
    script = HERE / "target" / "idivm" / SHOWN_MODEL / "delta_script.sql"
    console.print(show.script_panel(script, HERE, console.width - PANEL_BORDER))
    console.print(show.what_next(HERE, seconds), highlight=False)
    console.print()
    console.print(show.final_table(demo.rounds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
