"""What MERGE does to a stored view, by Hanson's symbols: N rows on b files, of which X = y(N, b, touched) hold touched rows."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_idivm.cost.measure import Measure
from dbt_idivm.cost.papers import yao

# What a plan has besides its relations: the join of MERGE with its target and the writing.
MERGE_NODES = 8
# A row of a file that is written again is read, joined with the source, given its values, its place, and its row in the feed.
_REWRITING = 5
# With deletion vectors the files are only read, and joined with the source.
_READING = 2
# Where rows may be inserted, MERGE joins the source with these files' rows by an outer join, which keeps the rows of the source:
# so it is the files' rows that are broadcast, or shuffled and sorted. Up to 20 for wide rows; the figure is a low one,
# because what is estimated too low is tried, and learned, and what is estimated too high never is.
_OUTER = 5


@dataclass(frozen=True)
class Target:
    """A stored view. `width`: bytes of a row that is written; `keys`: the part of a row's width that its IDs have, which MERGE
    reads to find files; `rewrites`: MERGE writes whole files again, because the view has no deletion vectors."""

    rows: float
    bytes: float
    files: float
    width: float
    keys: float
    rewrites: bool

    def touched(self, rows: float) -> tuple[float, int, float]:
        """The part of the view's files that hold touched rows, how often their rows are taken in, and the bytes that are
        written."""
        found = yao(self.rows, self.files, rows) / self.files if self.files else 0.0
        written = (found * self.rows if self.rewrites else min(rows, self.rows)) * self.width
        return found, _REWRITING if self.rewrites else _READING, written

    def merge(self, touched: float, inserted: float, *, inserts: bool) -> Measure:
        """The files are found by a join with all of the view; those of the touched rows are X (Hanson's X_1), and are read and
        written again. `inserts`: MERGE has a clause for new rows."""
        found, passes, written = self.touched(touched)
        tuples = self.rows * (1 + (passes + (_OUTER if inserts else 0)) * found) + touched + inserted
        return Measure(
            merges=1,
            nodes=MERGE_NODES,
            tuples=tuples,
            bytes_read=self.bytes * (self.keys + found),
            bytes_written=written + inserted * self.width,
        )

    def append(self, inserted: float) -> Measure:
        """INSERT, which reads nothing of the view."""
        return Measure(overwrites=1, nodes=1, tuples=inserted, bytes_written=inserted * self.width)
