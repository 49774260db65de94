"""Stop beginning tests when the time of a run is over: `pytest --minutes 45`, and `--near`, which has two.

A machine may be less than half as fast as another one, and who calls the tests may wait for so long only. What draws new cases
comes first, then the other files in an order that the seed decides, so that other tests are left out on another day.
"""

from __future__ import annotations

import random
import time

import pytest


class Until:
    """A plugin: tests that would begin later than `seconds` from now are skipped, and counted at the end."""

    def __init__(self, seconds: float, seed: int | None = None) -> None:
        self.seed = seed
        self.reason = f"{seconds / 60:.0f} minutes are over"
        self.until = time.monotonic() + seconds
        self.left_out = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.seed is None:
            return
        files = sorted({item.path for item in items})
        places = dict(zip(files, random.Random(self.seed).sample(range(len(files)), len(files)), strict=True))
        items.sort(key=lambda item: (item.get_closest_marker("random") is None, places[item.path]))

    def pytest_runtest_setup(self) -> None:
        if time.monotonic() > self.until:
            pytest.skip(self.reason)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.left_out += report.skipped and self.reason in report.longreprtext

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.left_out:
            terminalreporter.section("not run")
            terminalreporter.write_line(f"{self.left_out} tests were not begun: {self.reason}.")
