"""The profile of the property tests, and what they report at the end of a run."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.property.coverage import COVERAGE
from tests.property.profiles import DEFAULT


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile(config.getoption("--hypothesis-profile") or DEFAULT)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if COVERAGE.cases:
        terminalreporter.section("property tests")
        terminalreporter.write_line(COVERAGE.report())
