"""A reader of a model's log of changes, which does what `docs/subscribing.md` tells subscribers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dbt_idivm.definition.request import ModelRequest
from tests.functional.project import Project


class Subscriber:
    """Reads each refresh of a log once, and keeps the rows that they add up to."""

    def __init__(self, project: Project, model: ModelRequest) -> None:
        self.project, self.log = project, f"$.{model.identifier}__idivm_changes"
        self.read, self.rows = -1, Counter[tuple[Any, ...]]()

    def catch_up(self) -> int:
        """Read what is new; how many rows that are."""
        found = self.project.sql(f"select * from {self.log} where idivm__refresh > {self.read}")
        for *row, change, copies, number, _ in found:
            assert change in ("insert", "delete") and copies > 0
            self.rows[tuple(row)] += copies if change == "insert" else -copies
            self.read = max(self.read, number)
        assert all(count >= 0 for count in self.rows.values()), "nothing leaves that did not come"
        self.rows = +self.rows
        return len(found)

    def start_over_if_begun_anew(self) -> None:
        """An empty copy, where the log no longer has the refreshes that were read."""
        ((first,),) = self.project.sql(f"select min(idivm__refresh) from {self.log}")
        if first is None or first > self.read:
            self.read, self.rows = -1, Counter()
