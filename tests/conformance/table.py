"""`docs/conformance.md`, made from the classes: which class of `dbt.tests.adapter` is run how, and why another is not.

`python -m tests.conformance.table` writes it; a test compares it, and fails when dbt has a class that is in no row.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import dbt.tests.adapter as adapter

from tests.conformance.maintained import Maintained
from tests.conformance.reasons import NOT_AS_TYPE, NOT_MAINTAINED

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
PACKAGE = adapter.__name__
HEAD = """# Conformance with dbt's adapter tests

dbt-tests-adapter holds the classes by which dbt's adapters are tested. `make conformance` runs those below: with dbt's own
materializations under a profile of `type: idivm`, then with `materialized='idivm'` in their models, embedded, over a Spark
Thrift Server and over Spark Connect; it fails if one that is *run* does not pass. The statements that a class runs by itself
are put into Spark's SQL where they are Postgres'; what it asserts stays.
This page is made from the test classes (`python -m tests.conformance.table`)."""
COLUMNS = ("class", "type, embedded", "materialized, embedded", "servers")


@dataclass
class Row:
    """One class of dbt's. A cell is what we run there, or why it does not apply."""

    name: str
    family: str
    as_type: list[type] = field(default_factory=list)
    maintained: list[type] = field(default_factory=list)

    def cells(self) -> tuple[str, str, str, str]:
        as_type = _cell(self, self.as_type, NOT_AS_TYPE, "NOT_AS_TYPE")
        maintained = _cell(self, self.maintained, NOT_MAINTAINED, "NOT_MAINTAINED")
        return f"`{self.name}`", as_type, maintained, "run" if self.as_type or self.maintained else "–"


def _cell(row: Row, ours: list[type], reasons: dict[str, str], where: str) -> str:
    if ours and row.name in reasons:
        raise ValueError(f"{row.name} is run by {ours[0].__name__} and has a reason why it is not: {where}")
    if ours:
        return "run"
    reason = reasons.get(row.name) or reasons.get(row.family)
    if reason is None and reasons is NOT_MAINTAINED and not row.as_type:
        return _cell(row, [], NOT_AS_TYPE, where)
    if reason is None:
        raise ValueError(f"{row.name} of {PACKAGE}.{row.family} is neither run nor does {where} say why it is not")
    return reason


def rows() -> list[Row]:
    """All classes of dbt's that have tests, in the order of their modules."""
    found = {theirs: Row(theirs.__name__, family) for family, theirs in _classes() if _has_tests(theirs)}
    for ours in _our_classes():
        theirs = getattr(ours, "conforms_to", None) or _nearest(ours)
        if theirs is not None:
            row = found[theirs]
            (row.maintained if issubclass(ours, Maintained) else row.as_type).append(ours)
    return list(found.values())


def helpers() -> list[str]:
    """The classes without tests: others derive from them."""
    return sorted(theirs.__name__ for _, theirs in _classes() if not _has_tests(theirs))


def page() -> str:
    lines = [HEAD]
    family = ""
    for row in rows():
        if row.family != family:
            family = row.family
            lines += ["", f"## {family}", "", f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
        lines.append(f"| {' | '.join(row.cells())} |")
    lines += ["", "## Without tests of their own", "", ", ".join(f"`{name}`" for name in helpers()), ""]
    return "\n".join(lines)


def _classes() -> Iterator[tuple[str, type]]:
    """dbt's classes with the folder that they are in; not those that only run another one on Postgres."""
    root = Path(next(iter(adapter.__path__)))
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        for name, found in _defined(importlib.import_module(".".join((PACKAGE, *parts)))):
            if not (name.startswith("Test") and not _own(found)):
                yield parts[0], found


def _our_classes() -> Iterator[type]:
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        module = importlib.import_module(f"tests.conformance.{file.stem}")
        yield from (found for name, found in _defined(module) if name.startswith("Test"))


def _defined(module: ModuleType) -> list[tuple[str, type]]:
    return [
        (name, found)
        for name, found in vars(module).items()
        if inspect.isclass(found) and found.__module__ == module.__name__ and not issubclass(found, tuple)
    ]


def _own(found: type) -> set[str]:
    return {name for name in vars(found) if not name.startswith("__")} - {"clean_up"}


def _has_tests(found: type) -> bool:
    return any(name.startswith("test") and inspect.isfunction(getattr(found, name)) for name in dir(found))


def _nearest(ours: type) -> type | None:
    """The class of dbt's that ours runs. Those that take its place without deriving from it say so: `conforms_to`."""
    return next((base for base in ours.__mro__ if base.__module__.startswith(PACKAGE)), None)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
