"""Profiles of the property tests, and what they report: `pytest --hypothesis-profile=dev|ci|debug`; ci is the default."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from tests.property.coverage import COVERAGE

# The number of cases of one property; a property that costs less or matters more takes a multiple of it.
CHECKS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
for name, examples in (("dev", 50), ("ci", 300), ("debug", 10)):
    settings.register_profile(name, max_examples=examples, deadline=None, suppress_health_check=CHECKS,
                              derandomize=name == "ci", print_blob=True)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile(config.getoption("--hypothesis-profile") or "ci")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if COVERAGE.cases:
        terminalreporter.section("property tests")
        terminalreporter.write_line(COVERAGE.report())
