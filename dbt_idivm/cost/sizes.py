"""Sizes of tables: rows, bytes and files, according to their logs, or as estimated from their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.types import type_of

_Type = exp.DataType.Type
# Bytes of one value in a compressed Parquet file, roughly.
_WIDTHS: Mapping[object, float] = {
    _Type.BOOLEAN: 0.2,
    _Type.TINYINT: 1,
    _Type.SMALLINT: 1.5,
    _Type.INT: 2,
    _Type.DATE: 1.5,
    _Type.BIGINT: 4,
    _Type.FLOAT: 4,
    _Type.DOUBLE: 6,
    _Type.DECIMAL: 4,
    _Type.TIMESTAMP: 5,
    _Type.TIMESTAMPTZ: 5,
    _Type.TIMESTAMPNTZ: 5,
}
_OTHER = 10.0
FILE = 128 << 20  # bytes
LARGEST = (1 << 62) - 1  # of any count; larger ones are errors in the log


def width(types: Iterable[exp.DataType | str]) -> float:
    """Bytes of a row of columns of these types, at least 1."""
    kinds = (type_of(each) if isinstance(each, str) else each for each in types)
    return max(sum(_WIDTHS.get(kind.this, _OTHER) for kind in kinds), 1.0)


@dataclass(frozen=True)
class Size:
    """The size of one version of a table. The numbers are integers, so that a state is read back exactly as it was written."""

    rows: int
    bytes: int
    files: int = 1

    def with_rows(self, rows: float) -> Size:
        """The size after rows were inserted and deleted, with the same average width."""
        now = max(round(rows), 0)
        each = self.bytes / self.rows if self.rows else 1.0
        return Size(now, round(now * each), self.files)

    def bounded(self) -> Size:
        """The size clipped to the range that a state can store."""
        return Size(*(min(max(each, 0), LARGEST) for each in (self.rows, self.bytes, self.files)))

    def times(self, factor: float) -> Size:
        """The size of a table larger by `factor`, with files of the usual size."""
        size = round(self.bytes * factor)
        return Size(round(self.rows * factor), size, max(self.files, round(size / FILE)))


def of_rows(rows: float, types: Iterable[exp.DataType | str]) -> Size:
    """The estimated size of a table with this many rows."""
    size = round(rows * width(types))
    return Size(round(rows), size, max(1, round(size / FILE)))


def of_bytes(size: int, files: int, types: Iterable[exp.DataType | str]) -> Size:
    """The estimated size of a table with this many bytes."""
    return Size(round(size / width(types)), size, max(1, files))


def read(found: Any) -> Size | None:
    """Parse a size from JSON; None if it is invalid."""
    if not isinstance(found, dict):
        return None
    values = [found.get(name) for name in ("rows", "bytes", "files")]
    counts = [each for each in values if isinstance(each, int) and not isinstance(each, bool) and 0 <= each <= LARGEST]
    return Size(*counts) if len(counts) == len(values) else None
