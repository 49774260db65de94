"""The two lanes of a run, one process each, and the seconds that each may take.

All tests that need an embedded Spark run in one process, all that ask for Spark's meaning in the other, which also runs the tests
without a JVM: two of each on two cores would only start more slowly. A run with `--budget` prints what its lanes took beside
their budgets, and fails if one took half as much again. Budgets are seconds of a machine whose speed is known; a slower one has
more.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

LANES = {"functional": "spark", "install": "spark"}  # folder of `tests/` → lane; all others are pure
PURE = "pure"
# Run → lane → seconds, with what every test needs set up, on two cores that do nothing else.
BUDGETS: Mapping[str, Mapping[str, float]] = {
    "test": {"spark": 480, PURE: 660},
    "deep": {"spark": 3300, PURE: 2000},
}
TOO_MUCH = 1.5
CORES = 2
REFERENCE = 0.1  # seconds of `work` on the machine for which the budgets are


def lane(nodeid: str) -> str:
    """The lane of a test."""
    return LANES.get(nodeid.split("/")[1], PURE)


def scope(nodeid: str, budget: str | None) -> str:
    """What runs in one process: tests that share a JVM; else a file, which the next free process takes. Of `make deep` the tests
    on Spark take so much longer than the others that both processes have some of them."""
    file = nodeid.partition("::")[0]
    if lane(nodeid) != PURE and budget != "deep":
        return lane(nodeid)
    return "Spark's meaning" if file.startswith("tests/property/") else file


def work() -> float:
    """Seconds that a fixed piece of work takes: the fastest of three, since others may use the machine as well."""
    found = []
    for _ in range(3):
        started = time.perf_counter()
        sum(hash(str(number)) % 7 for number in range(700_000))
        found.append(time.perf_counter() - started)
    return min(found)


def slowness() -> float:
    """How many times as long this machine takes as the one that the budgets are for: two lanes on one core take turns."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return work() / REFERENCE * max(1, CORES / cores)


@dataclass
class Seconds:
    """A plugin that counts the seconds of a run's tests, set-up and teardown included."""

    budget: Mapping[str, float]
    slowness: float
    lanes: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    files: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.lanes[lane(report.nodeid)] += report.duration
        self.files[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.slowness = max(self.slowness, slowness())
        if session.exitstatus == pytest.ExitCode.OK and self.over:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("lanes")
        terminalreporter.write_line("\n".join(self.lines()))

    @property
    def over(self) -> list[str]:
        """Lanes that took far too long."""
        return [name for name, seconds in self.budget.items() if self.lanes[name] > seconds * self.slowness * TOO_MUCH]

    def lines(self) -> Iterator[str]:
        yield f"This machine takes {self.slowness:.2f} times as long as the one that the budgets are for."
        for name, seconds in self.budget.items():
            much = ": TOO LONG. Make tests faster, or mark what can rarely change its verdict as `deep`" * (name in self.over)
            yield f"{name} lane: {self.lanes[name]:.0f} s, budget {seconds * self.slowness:.0f} s{much}"
        slowest = sorted(self.files.items(), key=lambda each: -each[1])[:10]
        yield from (f"{seconds:8.1f} s  {file}" for file, seconds in slowest)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Lanes(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid, config.getoption("--budget"))

    return Lanes(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Before other processes are started."""
    budget = session.config.getoption("--budget")
    if budget and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(Seconds(BUDGETS[budget], slowness()))
