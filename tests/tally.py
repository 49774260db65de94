"""What the tests of crashes tried, counted for the end of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest


@dataclass
class Tally:
    """Points by shape, kills by where they hit, and the views that were found wrong."""

    points: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @contextmanager
    def point(self, shape: str, where: str) -> Iterator[None]:
        """An interruption, and what is asserted after it."""
        with self._looked_at(f"{shape}, {where}"):
            yield
        self.points[shape] += 1

    @contextmanager
    def kill(self, engine: str, where: str) -> Iterator[None]:
        """A process that was killed, and what is asserted after it."""
        with self._looked_at(f"{engine}, killed {where}"):
            yield
        self.kills[f"{engine}: {where}"] += 1

    @contextmanager
    def _looked_at(self, where: str) -> Iterator[None]:
        try:
            yield
        except AssertionError:
            self.wrong.append(where)
            raise

    def lines(self) -> Iterator[str]:
        yield from (f"  {shape}: {count} points" for shape, count in self.points.items())
        yield from (f"  {where}: {count}" for where, count in self.kills.items())
        yield from (f"  WRONG: {where}" for where in self.wrong)
        yield f"points tried: {self.points.total()}, kills survived: {self.kills.total()}, wrong views: {len(self.wrong)}"


TALLY = pytest.StashKey[Tally]()


@pytest.fixture(scope="session")
def tally(pytestconfig: pytest.Config) -> Tally:
    return pytestconfig.stash.setdefault(TALLY, Tally())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A run of all of them that finds fewer points than there are has left some out."""
    least = session.config.getoption("--points")
    found = session.config.stash.get(TALLY, None)
    if session.exitstatus == pytest.ExitCode.OK and least and (found is None or found.points.total() < least):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    found = config.stash.get(TALLY, None)
    if found is not None:
        terminalreporter.section("crashes")
        terminalreporter.write_line("\n".join(found.lines()))
        if found.points.total() < (least := config.getoption("--points")):
            terminalreporter.write_line(f"FEWER POINTS THAN THERE ARE: at least {least} were to be tried")
