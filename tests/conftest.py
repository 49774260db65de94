"""Options and engines shared by all tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# fixtures and hooks
from tests.connect_server import connect_server  # noqa: F401
from tests.lanes import BUDGETS, pytest_sessionstart, pytest_xdist_make_scheduler  # noqa: F401
from tests.near import SECONDS, Near
from tests.property.profiles import DEFAULT
from tests.tally import pytest_sessionfinish, pytest_terminal_summary, tally  # noqa: F401
from tests.thrift_server import thrift_server  # noqa: F401
from tests.until import Until


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-point", action="store_true", help="interrupt refreshes at each statement, not at writes only")
    parser.addoption("--points", type=int, default=0, metavar="N", help="fail unless refreshes were interrupted at N points")
    parser.addoption(
        "--every-rule",
        action="append",
        default=[],
        choices=["frozen", "directed", "random"],
        help="fail if the property tests of this kind do not fire each rule; not with -k",
    )
    parser.addoption("--budget", choices=[*BUDGETS], help="print what the lanes of this run took; fail if one took far too long")
    parser.addoption(
        "--minutes", type=float, metavar="N", help="begin no test later than that; what is left out depends on the seed"
    )
    parser.addoption("--near", metavar="FILE", help="the tests that are nearest to that file, for two minutes")
    parser.addoption("--freeze", action="store_true", help="choose the frozen set of random cases anew, in one process")
    parser.addoption("--any-way", type=int, metavar="SEED", help="conformance, each refresh by a way or rebuild drawn at random")
    parser.addoption("--server", choices=["thrift", "connect"], help="conformance over such a server of Spark's, not embedded")
    parser.addoption("--from-index", action="store_true", help="install the wheel with pip from the package index, and use it")
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files, for review in the diff")


def pytest_configure(config: pytest.Config) -> None:
    # for tests/unit as well: the default profile of Hypothesis draws other cases each time, and fails where one takes 0.2 s
    settings.load_profile(config.getoption("--hypothesis-profile") or DEFAULT)
    if config.getoption("--near"):
        config.pluginmanager.register(Near(Path(config.getoption("--near"))))
        config.pluginmanager.register(Until(SECONDS))
    if config.getoption("--minutes"):
        config.pluginmanager.register(Until(60 * config.getoption("--minutes"), int(config.getoption("--hypothesis-seed") or 0)))


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def golden(update_golden: bool) -> Callable[[Path, str], None]:
    """`golden(path, text)` compares text with a golden file, or rewrites the file under --update-golden."""

    def compare(path: Path, text: str) -> None:
        if update_golden:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.exists(), f"{path.name} does not exist: run with --update-golden and review it"
        assert path.read_text() == text

    return compare


# Imported where they are needed: the planner's tests know nothing of dbt and Spark.
@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One embedded Spark for the whole process."""
    from tests.engines import embedded_spark

    return embedded_spark(tmp_path_factory.mktemp("spark"))
