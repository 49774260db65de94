"""What is seen while Spark starts: a line, and at a terminal a spinner that is gone before anything else is printed."""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.events import get_event_manager
from dbt_common.events.base_types import EventLevel
from dbt_common.events.logger import LineFormat, LoggerConfig

from dbt.adapters.idivm.waiting import CONSOLE, Spinner, may_spin, on_stderr, waiting
from tests.terminal import Terminal, seen

TURNS = r"|/-\\"
SAID = "Starting Spark (15 to 25 s)"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    made = Terminal()
    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    yield made
    made.close()


@contextmanager
def at(terminal: Terminal, *names: str) -> Iterator[None]:
    """Standard output and error of this process, or these of them, are the terminal. pytest sets them before each test."""
    with open(os.dup(terminal.side), "w", buffering=1) as stream, pytest.MonkeyPatch.context() as changed:
        for name in names or ("stdout", "stderr"):
            changed.setattr(sys, name, stream)
        yield


@pytest.fixture
def dbt_prints() -> Iterator[Callable[..., None]]:
    """Have dbt print to a stream, from a level on."""
    manager = get_event_manager()
    before = manager.loggers
    manager.loggers = []

    def to(stream: Any, level: EventLevel = EventLevel.INFO) -> None:
        manager.add_logger(LoggerConfig(CONSOLE, line_format=LineFormat.PlainText, level=level, output_stream=stream))

    yield to
    manager.loggers = before


def spinners() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == "spinner"]


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_turning(terminal: Terminal) -> bool:
    return terminal.screen[-1][:1] in set(TURNS) and terminal.screen[-1].endswith(" s")


def test_dbt_says_it_and_a_spinner_turns(terminal: Terminal, dbt_prints: Callable[..., None]) -> None:
    with at(terminal):
        dbt_prints(sys.stdout)
        with waiting(SAID):
            until(lambda: is_turning(terminal))
        assert [line[10:] for line in terminal.screen] == [f"Idivm adapter: {SAID}", ""]
    until(lambda: not spinners())


def test_it_has_gone_before_dbt_prints(terminal: Terminal, dbt_prints: Callable[..., None]) -> None:
    """A line of another thread may be empty, or shorter than the spinner; it does not come back."""
    with at(terminal):
        dbt_prints(sys.stdout)
        with waiting(SAID):
            until(lambda: is_turning(terminal))
            AdapterLogger("Idivm").debug("this is not shown")
            until(lambda: is_turning(terminal))
            logging.getLogger(CONSOLE).info("")
            shown = terminal.screen
            assert shown[-2:] == ["", ""] and len(shown) == 3
            time.sleep(0.3)
            assert terminal.screen == shown


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_ends_it(terminal: Terminal, dbt_prints: Callable[..., None], error: type[BaseException]) -> None:
    with at(terminal):
        dbt_prints(sys.stdout)
        with pytest.raises(error), waiting(SAID):
            until(lambda: is_turning(terminal))
            raise error
        print("Aborted!", file=sys.stderr)
        assert terminal.screen[1:] == ["Aborted!", ""]


def test_a_command_of_ours_says_it_on_stderr(terminal: Terminal, dbt_prints: Callable[..., None]) -> None:
    with at(terminal):
        dbt_prints(sys.stdout)
        with on_stderr(), waiting(SAID):
            until(lambda: is_turning(terminal))
    assert terminal.screen == [SAID, ""]


def test_output_of_ours_is_not_mixed_with_it(dbt_prints: Callable[..., None], capsys: Any) -> None:
    """As in `idivm sql … > file`: dbt has a logger even if no command of dbt runs."""
    dbt_prints(sys.stdout)
    with on_stderr(), waiting(SAID):
        pass
    assert capsys.readouterr() == ("", "")


def test_quiet(terminal: Terminal, dbt_prints: Callable[..., None]) -> None:
    with at(terminal):
        dbt_prints(sys.stdout, EventLevel.ERROR)
        with waiting(SAID):
            time.sleep(0.3)
    assert terminal.read() == ""


@pytest.mark.parametrize("variable", [{"CI": "true"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_where_nothing_turns(
    terminal: Terminal, dbt_prints: Callable[..., None], monkeypatch: pytest.MonkeyPatch, variable: dict[str, str]
) -> None:
    with at(terminal):
        assert may_spin()
        for name, value in variable.items():
            monkeypatch.setenv(name, value)
        dbt_prints(sys.stdout)
        with waiting(SAID):
            time.sleep(0.2)
    assert "\x1b[K" not in terminal.read() and SAID in terminal.written


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_nothing_turns_in_a_pipe(terminal: Terminal, dbt_prints: Callable[..., None], capsys: Any, name: str) -> None:
    with at(terminal, *{"stdout", "stderr"} - {name}):
        dbt_prints(sys.stdout)
        with waiting(SAID):
            time.sleep(0.2)
    pipe = "".join(capsys.readouterr())
    assert "\x1b[K" not in terminal.read() + pipe
    assert SAID in (pipe if name == "stdout" else terminal.written)


def test_a_terminal_that_is_closed_is_no_error() -> None:
    stream = io.StringIO()
    stream.close()
    spinner = Spinner(stream)
    spinner.start()
    until(lambda: not spinners())
    spinner.stop()


def test_what_is_seen() -> None:
    assert [*seen("\r\x1b[K| 0 s\r\r\x1b[K\x1b[0m10:00\r\nx\r\x1b[K")] == ["10:00", ""]
    assert [*seen("| 12 s\r\nab\rc")] == ["| 12 s", "cb"]
