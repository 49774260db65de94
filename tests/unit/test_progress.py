"""What a long refresh says of itself."""

from __future__ import annotations

import threading

import pytest

from dbt.adapters.idivm.progress import Progress, Tasks, is_watched, line


@pytest.mark.parametrize(
    ("of_refresh", "of_statement", "tasks", "expected"),
    [
        (12.3, 12.0, None, "v: merge into s.v, for 12 s"),
        (40.0, 12.0, Tasks(3, 200), "v: merge into s.v, for 12 s (40 s in all), 3 of 200 tasks"),
        (12.0, 12.0, Tasks(0, 0), "v: merge into s.v, for 12 s"),
    ],
)
def test_a_line(of_refresh: float, of_statement: float, tasks: Tasks | None, expected: str) -> None:
    assert line("v", "merge into\n  s.v", of_refresh, of_statement, tasks) == expected


class Statement:
    """One that ends when so many lines are said."""

    def __init__(self, lines: int) -> None:
        self.said: list[str] = []
        self._lines, self._enough = lines, threading.Event()

    def say(self, text: str) -> None:
        self.said.append(text)
        if len(self.said) >= self._lines:
            self._enough.set()

    def run(self) -> None:
        assert self._enough.wait(10)


def test_a_long_statement_says_so_more_than_once() -> None:
    statement = Statement(3)
    with Progress("v", statement.say, 0.01, 0.01).during("merge into s.v", lambda: Tasks(1, 2)):
        statement.run()
    assert len(statement.said) >= 3 and statement.said[0] == "v: merge into s.v, for 0 s, 1 of 2 tasks"
    assert not [each for each in threading.enumerate() if each.name == "progress of v"]


def test_short_statements_say_nothing_until_the_refresh_is_long() -> None:
    said: list[str] = []
    progress = Progress("v", said.append, 0.2, 100)
    while not said:
        with progress.during("history of s.v", lambda: None):
            threading.Event().wait(0.05)
    with progress.during("merge into s.v", lambda: None):
        threading.Event().wait(0.05)
    assert len(said) == 1, "and then not before the next time"


def test_an_error_ends_it_and_tasks_may_be_unknown() -> None:
    def lost() -> Tasks:
        raise ConnectionError

    statement = Statement(1)
    with pytest.raises(ValueError), Progress("v", statement.say, 0.01, 100).during("merge into s.v", lost):
        statement.run()
        raise ValueError
    assert statement.said == ["v: merge into s.v, for 0 s"]
    assert not [each for each in threading.enumerate() if each.name == "progress of v"]


def test_logs_of_ci_have_no_such_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert is_watched()
    monkeypatch.setenv("CI", "true")
    assert not is_watched()
    monkeypatch.delenv("CI")
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert not is_watched()
