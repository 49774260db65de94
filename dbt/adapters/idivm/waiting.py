"""The line that says what a command waits for, and a spinner after it for people at a terminal.

dbt's threads print at any time, to a stream that they keep. So the spinner has a few columns of stderr, leaves the cursor before
them, and ends before dbt prints something.
"""

from __future__ import annotations

import atexit
import itertools
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.idivm.progress import is_watched

logger = AdapterLogger("Idivm")

CONSOLE = "stdout_log"  # Python's logger of the lines that dbt prints
FRAMES = "|/-\\"
EVERY = 0.12  # seconds
_on_stderr: ContextVar[bool] = ContextVar("on_stderr", default=False)


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Say `text`. At a terminal a spinner turns then, until the block ends, or until dbt prints something."""
    if not (say(text) and may_spin()):
        yield
        return
    spinner = Spinner(sys.stderr)
    console = logging.getLogger(CONSOLE)
    console.addFilter(spinner)
    atexit.register(spinner.stop)  # if the process ends while a thread of dbt waits
    try:
        spinner.start()
        yield
    finally:
        spinner.stop()
        atexit.unregister(spinner.stop)
        console.removeFilter(spinner)


def may_spin() -> bool:
    """Whether somebody sees a line change: not in CI, in a file or a pipe, and not on terminals that cannot or should not."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return is_watched() and sys.stderr.isatty() and not plain


class Spinner(logging.Filter):
    """It turns in a thread of its own, and shows the seconds. As a filter of a logger it passes all records, and stops."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._writing, self._ended = threading.Lock(), threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._turn, name="spinner", daemon=True).start()

    def stop(self) -> None:
        """Remove it for good. It may be called several times, from any thread."""
        with self._writing:
            if not self._ended.is_set():
                self._ended.set()
                self._write("\r\x1b[K")

    def filter(self, record: logging.LogRecord) -> bool:
        self.stop()
        return True

    def _turn(self) -> None:
        began = time.monotonic()
        for frame in itertools.cycle(FRAMES):
            with self._writing:
                if self._ended.is_set():
                    return
                self._write(f"\r\x1b[K{frame} {time.monotonic() - began:.0f} s\r")
            self._ended.wait(EVERY)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal was closed
            self._ended.set()


@contextmanager
def on_stderr() -> Iterator[None]:
    """While the block runs, lines are said on stderr, and only at a terminal: for commands whose output is something else."""
    token = _on_stderr.set(True)
    try:
        yield
    finally:
        _on_stderr.reset(token)


def say(text: str) -> bool:
    """Say it as dbt says what it does. Returns whether it is seen."""
    if not _on_stderr.get():
        logger.info(text)
        return logging.getLogger(CONSOLE).isEnabledFor(logging.INFO)
    if is_seen := sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)
    return is_seen
