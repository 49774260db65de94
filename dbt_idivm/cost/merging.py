"""The work of a MERGE into a stored view, in Hanson's symbols: N rows in b files; X = y(N, b, touched) of these
contain touched rows."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_idivm.cost.measure import Measure
from dbt_idivm.cost.papers import yao

# Plan nodes besides the relations: the join of MERGE with its target, and the writing.
MERGE_NODES = 8
# A row of a rewritten file is read, joined with the source, and gets its values, its place, and its row in the feed.
_REWRITING = 5
# With deletion vectors the files are only read and joined with the source.
_READING = 2
# If rows may be inserted, MERGE joins the source with these files' rows by an outer join. It keeps the rows of the source, so
# the files' rows are broadcast, or shuffled and sorted. For wide rows the factor is up to 20. A low value is used, because a low
# estimate leads to a try and is corrected, while a high one is never corrected.
_OUTER = 5


@dataclass(frozen=True)
class Target:
    """A stored view. `width`: bytes of a written row. `keys`: fraction of a row's width taken by its IDs, which MERGE reads to
    find files. `rewrites`: whether MERGE rewrites whole files, because the view has no deletion vectors."""

    rows: float
    bytes: float
    files: float
    width: float
    keys: float
    rewrites: bool

    def touched(self, rows: float) -> tuple[float, int, float]:
        """The fraction of the view's files that contain touched rows, how often the rows of these files are taken in, and the
        bytes written."""
        found = yao(self.rows, self.files, rows) / self.files if self.files else 0.0
        written = (found * self.rows if self.rewrites else min(rows, self.rows)) * self.width
        return found, _REWRITING if self.rewrites else _READING, written

    def merge(self, touched: float, inserted: float, *, inserts: bool) -> Measure:
        """The work of a MERGE: it finds the files by a join with the whole view, and reads and writes the X files with touched
        rows (Hanson's X_1). `inserts`: whether MERGE has a clause for new rows."""
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
        """The work of an INSERT, which does not read the view."""
        return Measure(overwrites=1, nodes=1, tuples=inserted, bytes_written=inserted * self.width)
