"""A question of TPC-DS, in this project's own words and SQL."""

from __future__ import annotations

import re
from typing import NamedTuple

_FIRST_ROWS = re.compile(r"(?:\s+order by (?:(?!order by).)*)?\s+limit 100$", re.DOTALL)


class Question(NamedTuple):
    """`number`: of the query of TPC-DS that asks the same. `about`: what is asked. `sql`: a SELECT that ends with LIMIT 100."""

    number: int
    about: str
    sql: str

    @property
    def name(self) -> str:
        return f"q{self.number}"

    def of_first(self, rows: int) -> str:
        """The SELECT of as many rows instead of 100."""
        return re.sub(r"\d+$", str(rows), self.sql)

    @property
    def of_all(self) -> str:
        """The SELECT without its last ORDER BY and its LIMIT: what a model of all rows would be."""
        return _FIRST_ROWS.sub("", self.sql)
