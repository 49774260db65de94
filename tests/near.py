"""Select the tests that are nearest to a changed file, and stop after two minutes: `pytest --near FILE`.

A test file is as far away as its chain of imports to the changed module is long; packages that only pass names on do not count.
All tests of the planner reach most of its modules in some way, so the order matters more than the selection: what fails at all
for a change mostly fails near it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

SECONDS = 105.0  # from the start; a test that is running is not interrupted
MOST = 2000
ROOT = Path(__file__).parents[1]


@cache
def imports(file: Path) -> frozenset[Path]:
    """The files of this project that a file imports, the ones that define the names if a package passes these on."""
    return frozenset(found for name in imported_names(file) if (found := defined_in(name)) is not None)


def imported_names(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def defined_in(name: str) -> Path | None:
    """The file of a module, or of the name that a module has; None if it is none of this project's."""
    parts = name.split(".")
    for length in (len(parts), len(parts) - 1):
        path = ROOT.joinpath(*parts[:length])
        if length and path.with_suffix(".py").is_file():
            return path.with_suffix(".py")
        package = path / "__init__.py"
        if length and package.is_file():
            passed = [each for each in imported_names(package) if each.rpartition(".")[2] == parts[-1]]
            return defined_in(passed[0]) if passed and length < len(parts) else package
    return None


def distances(changed: Path, files: Iterable[Path]) -> dict[Path, int]:
    """How many imports each of the files is away from the changed one; those that never reach it are left out."""
    known: dict[Path, int] = {}
    for file in files:
        reached, seen, distance = {file}, {file}, 0
        while reached and changed not in reached:
            reached = {each for one in reached for each in imports(one)} - seen
            seen |= reached
            distance += 1
        if reached:
            known[file] = distance
    return known


class Near:
    """A plugin: the tests in the order of their distance."""

    def __init__(self, changed: Path) -> None:
        self.changed = changed.resolve()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        found = distances(self.changed, sorted({item.path for item in items}))
        nearest = sorted((item for item in items if item.path in found), key=lambda item: found[item.path])[:MOST]
        chosen = {item.nodeid for item in nearest}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = nearest
