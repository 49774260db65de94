"""Result types of Spark functions that are called by name, where they do not depend on the arguments.

`tests/property/test_inferred_types.py` compares them with Spark's analyzer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.decimals import Type

_NAMES: Mapping[Any, str] = {
    Type.NULL: "assert_true raise_error",  # NULL of no type, or an error of the row
    Type.BOOLEAN: """
        array_contains arrays_overlap contains endswith equal_null exists forall is_valid_utf8 is_variant_null isnan isnotnull
        isnull luhn_check map_contains_key regexp regexp_like rlike startswith xpath_boolean
    """,
    Type.INT: """
        array_size ascii bit_count bit_length cardinality char_length character_length date_diff datediff day dayofmonth
        dayofweek dayofyear find_in_set hash hour instr json_array_length len length levenshtein locate minute month
        octet_length position quarter regexp_count regexp_instr second size unix_date weekday weekofyear xpath_int year
    """,
    Type.BIGINT: """
        array_position bitmap_bit_position bitmap_bucket_number bitmap_count crc32 factorial hll_sketch_estimate
        to_unix_timestamp unix_micros unix_millis unix_seconds unix_timestamp width_bucket xpath_long xxhash64
    """,
    Type.DOUBLE: """
        acos acosh asin asinh atan atan2 atanh cbrt cos cosh cot csc degrees e exp expm1 hypot ln log log10 log1p log2
        months_between pi pow power radians rint sec sign signum sin sinh sqrt tan tanh xpath_double xpath_number
    """,
    # some of these return TIMESTAMP_NTZ if spark.sql.timestampType is TIMESTAMP_NTZ
    Type.TIMESTAMPTZ: """
        current_timestamp date_trunc from_utc_timestamp make_timestamp make_timestamp_ltz now timestamp_micros timestamp_millis
        timestamp_seconds
        to_timestamp to_timestamp_ltz to_utc_timestamp try_make_timestamp try_make_timestamp_ltz try_to_timestamp
    """,
    Type.TIMESTAMPNTZ: "convert_timezone localtimestamp make_timestamp_ntz to_timestamp_ntz try_make_timestamp_ntz",
    Type.DATE: """
        add_months curdate current_date date_from_unix_date date_sub last_day make_date next_day to_date trunc try_to_date
    """,
}
# What sqlglot reads some of these as, where annotate_types gives the type of the argument, a TINYINT, or none.
_NODES: Mapping[type[exp.Expr], str] = {
    exp.ArrayPosition: "array_position",
    exp.DateTrunc: "trunc",
    exp.Day: "day",
    exp.TimestampTrunc: "date_trunc",
    exp.WeekOfYear: "weekofyear",
    exp.Year: "year",
}
_UNITS_FIRST = frozenset({"date_diff", "datediff"})  # with a unit they give a BIGINT
_TYPES: Mapping[str, Any] = {name: kind for kind, names in _NAMES.items() for name in names.split()}


def type_of_call(node: exp.Expr) -> exp.DataType | None:
    """The type of a call of one of Spark's functions; None if it depends on its arguments."""
    if isinstance(node.parent, exp.Dot):  # schema.f(x) is none of Spark's own
        return None
    name = node.name.lower() if isinstance(node, exp.Anonymous) else _NODES.get(type(node))
    if name is None:
        return None
    if name in _UNITS_FIRST and len(node.expressions) == 3:
        return exp.DataType(this=Type.BIGINT)
    kind = _TYPES.get(name)
    return None if kind is None else exp.DataType(this=kind)


def functions_giving(*kinds: Any) -> frozenset[str]:
    """The lower-case names of the functions that return one of these types; of all functions listed here if no type is given."""
    return frozenset(name for name, kind in _TYPES.items() if not kinds or kind in kinds)
