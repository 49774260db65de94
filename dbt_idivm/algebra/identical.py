"""Types of which equal values are identical."""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.node_types import Type

# Equal values of these are identical. Of others they may not be: 0.0 and -0.0, texts that a collation takes as equal.
_IDENTICAL = frozenset(
    {
        Type.TINYINT,
        Type.SMALLINT,
        Type.INT,
        Type.BIGINT,
        Type.DECIMAL,
        Type.BOOLEAN,
        Type.TEXT,
        Type.VARCHAR,
        Type.DATE,
        Type.TIMESTAMP,
        Type.TIMESTAMPTZ,
        Type.TIMESTAMPLTZ,
        Type.TIMESTAMPNTZ,
        Type.BINARY,
        Type.VARBINARY,
        Type.ARRAY,
        Type.STRUCT,
    }
)


def equal_is_identical(kind: exp.DataType) -> bool:
    """Whether values of a certain type, or of its parts, are identical if they are equal."""
    parts = list(kind.find_all(exp.DataType))
    return all(part.this in _IDENTICAL for part in parts) and kind.find(exp.CollateColumnConstraint) is None
