"""The profile of the property tests; what they report at the end of a run, and the rules that they have to reach."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

from tests.property.coverage import DIRECTED, RANDOM
from tests.property.profiles import DEFAULT

ALL = (RANDOM, DIRECTED)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile(config.getoption("--hypothesis-profile") or DEFAULT)


def checked(config: pytest.Config) -> bool:
    """Whether the run has to reach every rule: it was asked to, and has all its tests."""
    return config.getoption("--every-rule") and not config.getoption("keyword")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Of several processes, the one that reports gets the counts of the others."""
    for coverage, found in zip(ALL, getattr(node, "workeroutput", {}).get("coverage", ()), strict=False):
        coverage.add(*found)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["coverage"] = [each.counts() for each in ALL]
    elif checked(session.config) and any(each.missing() for each in ALL):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for each in ALL:
        if each.cases:
            terminalreporter.section(f"{each.kind} cases")
            terminalreporter.write_line(each.report())
        if checked(config) and each.missing():
            terminalreporter.write_line(f"ERROR: no {each.kind} case reached {', '.join(each.missing())}", red=True)
