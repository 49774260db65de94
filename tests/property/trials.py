"""Trials of random cases, as files: those of the frozen set, which every run has, and those that failed once.

A trial that fails while Hypothesis draws cases is written to `regressions/`; the last one that it tries is the smallest. A run
with `--freeze` writes the frozen set: of the trials that passed a few that together reach what all of them reached.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from hypothesis import currently_in_test_context
from hypothesis.errors import UnsatisfiedAssumption

from tests.property.coverage import Coverage
from tests.property.plans import Options, Table
from tests.property.strategies import Case, Content

HERE = Path(__file__).parent
FROZEN_SET = HERE / "frozen.jsonl"
REGRESSIONS = HERE / "regressions"

Judge = Literal["DuckDB", "ANSI", "not ANSI"]  # Spark's meaning under these settings
DECIMAL = "decimal"
Reached = frozenset[tuple[str, ...]]


class Discarded(Exception):
    """The case cannot be checked: Spark refuses it, the planner has no rule for it yet, or it ends in an error."""


@dataclass(frozen=True)
class Trial:
    """A case, how it is maintained, and by what it is judged."""

    judge: Judge
    options: Options
    case: Case

    @property
    def text(self) -> str:
        """JSON in one line."""
        options = {each.name: value for each in fields(Options) if (value := getattr(self.options, each.name)) != each.default}
        return json.dumps({"judge": self.judge, "options": options, **asdict(self.case)}, default=_decimal)

    @property
    def name(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]

    @classmethod
    def of(cls, text: str) -> Trial:
        found = json.loads(text, object_hook=lambda each: Decimal(each[DECIMAL]) if DECIMAL in each else each)
        tables = tuple(
            Table(each["name"], tuple(map(tuple, each["columns"])), each["key"] and tuple(each["key"]))
            for each in found["tables"]
        )
        case = Case(tables, found["sql"], _content(found["start"]), tuple(map(_content, found["batches"])))
        options = {name: tuple(value) if isinstance(value, list) else value for name, value in found["options"].items()}
        return cls(found["judge"], Options(**options), case)


def _decimal(value: Decimal) -> dict[str, str]:
    return {DECIMAL: str(value)}


def _content(found: dict[str, list[list[Any]]]) -> Content:
    return {name: [_cell(row) for row in rows] for name, rows in found.items()}


def _cell(value: Any) -> Any:
    """JSON has no tuples."""
    return tuple(map(_cell, value)) if isinstance(value, list) else value


def stored() -> list[Trial]:
    """The frozen trials, and those that failed once."""
    texts = FROZEN_SET.read_text().splitlines() if FROZEN_SET.exists() else []
    return [Trial.of(text) for text in (*texts, *(path.read_text() for path in sorted(REGRESSIONS.glob("*.json"))))]


@dataclass(frozen=True)
class Passed:
    """A trial that passed, what it reached, and its seconds."""

    trial: Trial
    reached: Reached
    seconds: float


@dataclass
class Tried:
    """The trials of a run: those that passed, if they are to be frozen, and of each test the last one that failed."""

    passed: list[Passed] | None = None
    failed: dict[str, Trial] = field(default_factory=dict)

    @contextmanager
    def trial(self, trial: Trial, coverage: Coverage | None) -> Iterator[None]:
        """One trial; nothing is noted of one that no test drew."""
        if not currently_in_test_context():
            yield
            return
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition("/")[2].partition(" ")[0]
        before, started = coverage.reached() if coverage is not None and self.passed is not None else None, time.perf_counter()
        try:
            yield
        except (Discarded, UnsatisfiedAssumption):
            raise
        except Exception:
            self.failed[test] = trial
            raise
        if self.passed is not None and coverage is not None and before is not None:
            rules, kinds = (now - then for now, then in zip(coverage.reached(), before, strict=True))
            reached = {(rule,) for rule in rules} | {(test, kind) for kind in kinds} | {(test,)}
            self.passed.append(Passed(trial, frozenset(reached), time.perf_counter() - started))

    def keep(self) -> list[Path]:
        """Write the failures down: the files."""
        REGRESSIONS.mkdir(exist_ok=True)
        found = [(REGRESSIONS / f"{trial.name}.json", trial) for trial in self.failed.values()]
        for path, trial in found:
            path.write_text(f"{trial.text}\n")
        return [path for path, _ in found]


TRIED = Tried()


def covering(found: Iterable[Passed]) -> Iterator[Trial]:
    """Trials that together reach what all of them do. Next is always the one that reaches most of what is missing in a second."""
    left = list(found)
    missing = {each for passed in left for each in passed.reached}
    while missing:
        best = max(left, key=lambda passed: len(passed.reached & missing) / (0.05 + passed.seconds))
        missing -= best.reached
        left.remove(best)
        yield best.trial


def freeze(found: Iterable[Passed]) -> int:
    """Write the frozen set; how many trials it has."""
    trials = sorted(covering(found), key=lambda trial: (trial.judge, trial.name))
    FROZEN_SET.write_text("".join(f"{trial.text}\n" for trial in trials))
    return len(trials)
