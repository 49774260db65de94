"""The acts of the demo: prepare, load, build, and four rounds of changes, each step shown while it runs."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from nycflights_demo import data, show
from nycflights_demo.runs import TWO_THREADS, Dbt, Round

# What was changed, and the file that changes it.
CHANGES = (
    ("planes and airlines", "1_planes_and_airlines.sql"),
    ("a day of flights", "2_a_new_day_of_flights.sql"),
    ("corrections", "3_corrections.sql"),
    ("nothing at all", None),
)


# A refresh pays where tables are not small; more years take longer than a visitor waits.
YEARS = 3


class Demo:
    """One run of the demo on the dbt project in `project`. `rounds` is filled as it goes, so a failure keeps them."""

    def __init__(self, project: Path, console: Console) -> None:
        self.project = project
        self.rounds: list[Round] = []
        self._console, self._began = console, time.monotonic()
        self._progress = show.progress(console)
        self._task = self._progress.add_task("Looking for Java and the Delta JARs", total=None, doing="")

    def play(self, load_only: bool = False) -> None:
        with self._progress:
            credentials = prepare(self.project)
            session = self._step("Starting Spark", lambda: start_session(credentials))
            self._load(session, Path(credentials.state_dir))
            if not load_only:
                self._play_rounds(Dbt(self.project, session, on_node=self._say_node), credentials.schema)

    def _load(self, session: Any, scratch: Path) -> None:
        data.create_schema(session)
        for table in data.TABLES:
            self._step(f"Loading {table}", lambda table=table: data.load(session, table, scratch, YEARS))

    def _play_rounds(self, dbt: Dbt, schema: str) -> None:
        self._step("dbt run, for the first time", lambda: self.rounds.append(dbt.run("built from nothing", *TWO_THREADS)))
        for number, (title, file) in enumerate(CHANGES, 1):
            changed = 0
            if file:
                changes = data.statements(self.project / "changes" / file)
                changed = self._step(f"Round {number}: changing {title}", lambda c=changes: dbt.apply(c))
            self._step(f"Round {number}, {title}", lambda n=number, t=title: self._one_round(dbt, f"{n}: {t}"))
            self.rounds[-1].changed_rows = changed
            if number == 1:
                self._compare(dbt, schema)
            else:  # the tables have hardly grown since: a rebuild takes as long
                self.rounds[-1].take_full_refreshes_of(self.rounds[-2])

    def _one_round(self, dbt: Dbt, title: str) -> None:
        self.rounds.append(dbt.run_and_test(title))

    def _compare(self, dbt: Dbt, schema: str) -> None:
        for model in self.rounds[-1].models:
            words = f"Full refresh of {model.name}, for comparison"
            self._step(words, lambda model=model: dbt.measure_full_refresh(model, schema))

    def _say_node(self, name: str) -> None:
        self._progress.update(self._task, doing=name)

    def _step(self, words: str, work: Callable[[], Any]) -> Any:
        """Show what is done while it is done; where nothing can be shown in place, a line of its own."""
        self._progress.update(self._task, description=words, doing="")
        if not self._console.is_terminal:
            self._console.print(f"{time.monotonic() - self._began:4.0f} s  {words}", highlight=False)
        return work()


def prepare(project: Path) -> Any:
    """The profile's credentials. Java and JARs come first: without them nothing is removed and nothing is started."""
    from dbt.adapters.idivm.embedded import check_java, resolve_jars

    data.package_folder()
    check_java()
    credentials = credentials_of(project)
    resolve_jars(credentials)
    remove_earlier(project, Path(credentials.state_dir))
    return credentials


def credentials_of(project: Path) -> Any:
    """What dbt will read from profiles.yml, so that the Spark started here has the settings that dbt needs."""
    from dbt.adapters.idivm.credentials import IdivmCredentials

    profiles = yaml.safe_load((project / "profiles.yml").read_text(encoding="utf-8"))
    (profile,) = profiles.values()
    settings = profile["outputs"][profile["target"]]
    known = {key: value for key, value in settings.items() if key not in ("type", "threads")}
    credentials = IdivmCredentials(database=None, **known)
    credentials.resolve_paths(project)
    return credentials


def remove_earlier(project: Path, state_dir: Path) -> None:
    """Remove what an earlier run left in the project's own folder; refused while another process works there."""
    from dbt.adapters.idivm.lock import hold_lock
    from dbt.adapters.idivm.state_folder import make_state_folder
    from dbt.adapters.idivm.warm import stop_server

    stop_server(state_dir, force=False)
    make_state_folder(state_dir)
    lock = hold_lock(state_dir)
    try:
        for folder in (state_dir, project / "target", project / "logs"):
            if folder.parent == project:
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def start_session(credentials: Any) -> Any:
    """A session on the embedded Spark; dbt, in this process, finds the same Spark active."""
    from dbt.adapters.idivm.embedded import new_session

    return new_session(credentials)
