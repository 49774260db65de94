"""Progress messages of long refreshes: a line after ten seconds, and another every half minute.

They are for people who wait at a terminal. Logs of CI and schedulers contain them only at the level `debug`, and `--quiet` hides
them, as it hides dbt's own.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

FIRST, EVERY = 10.0, 30.0  # seconds


class Tasks(NamedTuple):
    """The tasks of Spark's running jobs for a statement, as far as they are known."""

    finished: int
    known: int


class Progress:
    """The progress of one refresh. `say` gets each line; `first` and `every` are in seconds."""

    def __init__(self, name: str, say: Callable[[str], None], first: float, every: float) -> None:
        self._name, self._say, self._every = name, say, every
        self._next = time.monotonic() + first
        self._started = time.monotonic()

    @contextmanager
    def during(self, label: str, tasks: Callable[[], Tasks | None]) -> Iterator[None]:
        """Report the step `label` at the due times while the statement runs. `tasks` is called from another thread."""
        ended = threading.Event()
        watch = threading.Thread(target=self._watch, args=(ended, label, tasks), name=f"progress of {self._name}", daemon=True)
        watch.start()
        try:
            yield
        finally:
            ended.set()
            watch.join()

    def _watch(self, ended: threading.Event, label: str, tasks: Callable[[], Tasks | None]) -> None:
        started = time.monotonic()
        while not ended.wait(max(self._next - time.monotonic(), 0)):
            now = time.monotonic()
            self._next = now + self._every
            self._say(line(self._name, label, now - self._started, now - started, _known(tasks)))


def _known(tasks: Callable[[], Tasks | None]) -> Tasks | None:
    try:
        return tasks()
    except Exception:  # the statement, and its session, may have ended; any real error is reported by the statement
        return None


def line(name: str, label: str, of_refresh: float, of_statement: float, tasks: Tasks | None) -> str:
    """`orders: merge into main.orders, for 12 s (40 s in all), 3 of 200 tasks`. Durations are in seconds."""
    whole = f" ({of_refresh:.0f} s in all)" if of_refresh - of_statement >= 1 else ""
    done = f", {tasks.finished} of {tasks.known} tasks" if tasks is not None and tasks.known else ""
    return f"{name}: {' '.join(label.split())}, for {of_statement:.0f} s{whole}{done}"


def is_watched() -> bool:
    """Whether somebody sees the lines as they are written."""
    return sys.stdout.isatty() and not os.environ.get("CI")


def is_interactive() -> bool:
    """Whether somebody gives commands at a terminal: input and output of the process are one, and it is not in CI."""
    streams = (sys.stdin, sys.__stdout__)  # a command of ours may have redirected sys.stdout
    return all(each is not None and not each.closed and each.isatty() for each in streams) and not os.environ.get("CI")
