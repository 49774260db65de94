"""What the property tests report at the end of a run, and the rules that they have to reach."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import pytest

from tests.property.coverage import DIRECTED, DIRECTED_AND_MEANT, FROZEN, FROZEN_AND_MEANT, MEANT, RANDOM, by_engine
from tests.property.profiles import is_long
from tests.property.trials import FROZEN_SET, REGRESSIONS, TRIED, Trial, freeze

ALL = (FROZEN, RANDOM, DIRECTED, FROZEN_AND_MEANT, MEANT, DIRECTED_AND_MEANT)
# The share of each operator's rules that the random cases of a short run reach: one in hundreds fires some of them. The frozen
# cases were chosen from such a run.
FEW = 0.5
MOST_DISCARDED = 0.2


def pytest_configure(config: pytest.Config) -> None:
    TRIED.passed = [] if config.getoption("--freeze") else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("random")


def checked(config: pytest.Config) -> list[str]:
    """The kinds of cases that have to reach every rule, if the run was asked for it and has all its tests."""
    kinds: list[str] = config.getoption("--every-rule")
    return [] if config.getoption("keyword") else kinds


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Of several processes, the one that reports gets the counts of the others, and what failed there."""
    output = getattr(node, "workeroutput", {})
    for coverage, found in zip(ALL, output.get("coverage", ()), strict=False):
        coverage.add(*found)
    TRIED.failed |= {test: Trial.of(text) for test, text in output.get("failed", {}).items()}


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["coverage"] = [each.counts() for each in ALL]
        session.config.workeroutput["failed"] = {test: trial.text for test, trial in TRIED.failed.items()}
        return
    if TRIED.failed:
        TRIED.keep()
    if TRIED.passed:
        freeze(TRIED.passed)
    if list(shortcomings(checked(session.config))):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def shortcomings(kinds: Collection[str]) -> Iterator[str]:
    """What the run did not look at as it should have, with cases of these kinds."""
    for each, least in ((FROZEN, FEW), (RANDOM, 1.0 if is_long() else FEW), (DIRECTED, 1.0)):
        if each.kind in kinds and (missing := each.missing(least)):
            yield f"no {each.kind} case reached {', '.join(missing)}"
    yield from (
        f"{each.share_discarded:.0%} of the {each.kind} cases on {each.engine} are discarded"
        for each in ALL
        if each.kind in kinds and each.share_discarded > MOST_DISCARDED
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for each in ALL:
        if each.cases:
            terminalreporter.section(f"{each.kind} cases on {each.engine}")
            terminalreporter.write_line(each.report())
    if any(each.cases for each in ALL):
        terminalreporter.section("cases by engine")
        terminalreporter.write_line(", ".join(f"{engine}: {cases}" for engine, cases in by_engine(ALL).items()))
    if config.getoption("--freeze"):
        terminalreporter.write_line(f"{FROZEN_SET.name} has {len(FROZEN_SET.read_text().splitlines())} trials")
    if TRIED.failed:
        folder = REGRESSIONS.relative_to(config.rootpath)
        terminalreporter.write_line(f"What failed on drawn cases is in {folder}/: commit it with the repair")
        terminalreporter.write_line("\n".join(trial.text for trial in TRIED.failed.values()))
    for shortcoming in shortcomings(checked(config)):
        terminalreporter.write_line(f"ERROR: {shortcoming}", red=True)
