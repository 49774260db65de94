"""Types of Spark and values of each: tame ones that meet each other, and those at the ends of the type.

Values as they are inlined: timestamps in microseconds, bytes in hexadecimal, integers and booleans as such,
the rest as text; arrays and
structs as tuples.
"""

from __future__ import annotations

from tests.property.strategies import Pool

_STRUCT, _ARRAY, _RENAMED = "struct<p:int,q:string>", "array<int>", "struct<id:int,amount:int>"
_YEAR_1, _YEAR_9999 = -62135596800000000, 253402300799999999  # the first microsecond and the last

TAME: Pool = {
    "tinyint": (None, 0, 1, 2),
    "smallint": (None, 0, 1, 2),
    "int": (None, 0, 1, 2, 3),
    "bigint": (None, 0, 1, 2),
    "decimal(10,2)": (None, "0.00", "1.00", "1.25", "-2.00"),
    "decimal(5,3)": (None, "0.000", "1.000", "1.250"),
    "decimal(18,4)": (None, "0.0000", "0.0001", "-1.2500"),
    "decimal(12,0)": (None, "0", "1", "-7"),
    "decimal(38,0)": (None, "0", "1", "7"),
    "string": (None, "", "1", "7", "07", "a", "1,2", "2024-01-01"),
    "date": (None, "2024-01-01", "2024-02-29"),
    "timestamp": (None, 1704067200000000, 1709164800000000),
    "timestamp_ntz": (None, "2024-01-01 00:00:00", "2024-02-29 12:00:00.5"),
    "boolean": (None, False, True),
    "binary": (None, "", "00", "61"),
    "double": (None, "0.0", "0.5", "-1.0"),
    "float": (None, "0.0", "0.5", "1.0"),
    _STRUCT: (None, (1, "a"), (1, None), (None, "")),
    _ARRAY: (None, (), (1,), (1, None)),
    _RENAMED: (None, (1, 1), (2, 0)),
}
EXTREME: Pool = {
    **TAME,
    "tinyint": (None, -128, 127, 0, -1),
    "smallint": (None, -32768, 32767, 1),
    "int": (None, -2147483648, 2147483647, 0, 1),
    "bigint": (None, -9223372036854775808, 9223372036854775807, 0, -1),
    "decimal(10,2)": (None, "99999999.99", "-99999999.99", "0.01"),
    "decimal(5,3)": (None, "99.999", "-99.999", "0.001"),
    "decimal(18,4)": (None, "99999999999999.9999", "-99999999999999.9999", "0.0001"),
    "decimal(12,0)": (None, "999999999999", "-999999999999", "1"),
    "decimal(38,0)": (None, "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "1"),
    "string": (None, "", " ", "a", "A", "a ", "é", "7", "07"),
    "date": (None, "0001-01-01", "9999-12-31", "1582-10-04"),
    "timestamp": (None, _YEAR_1, _YEAR_9999, 0, -1),
    "timestamp_ntz": (None, "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
    "binary": (None, "", "FF", "C3A9", "00FF"),
    "float": (None, "NaN", "-0.0", "0.0", "Infinity", "3.4028235E38", "1.4E-45"),
    "double": (None, "NaN", "-0.0", "0.0", "Infinity", "-Infinity", "1.7976931348623157E308", "4.9E-324"),
}
KEYS = (
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "decimal(10,2)",
    "decimal(38,0)",
    "string",
    "date",
    "timestamp",
    "timestamp_ntz",
    "boolean",
    "binary",
)
COMPARED = (*KEYS, "decimal(5,3)", "double", "float")
PAYLOADS = (_STRUCT, _ARRAY)
SUMMED = (
    "tinyint",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "decimal(10,2)",
    "decimal(5,3)",
    "decimal(18,4)",
    "decimal(12,0)",
    "decimal(38,0)",
    "double",
    "float",
)
# Pairs that Spark finds a common type for. A date and a text are left out: such a text may mean the day of the query.
UNITED = (
    ("int", "decimal(10,2)"),
    ("int", "decimal(10,2)"),
    ("decimal(10,2)", "decimal(5,3)"),
    ("decimal(10,2)", "decimal(5,3)"),
    ("int", "string"),
    ("int", "string"),
    ("bigint", "string"),
    ("date", "timestamp"),
    ("timestamp", "timestamp_ntz"),
    ("date", "timestamp_ntz"),
    ("int", "bigint"),
    ("tinyint", "int"),
    ("int", "double"),
    ("float", "double"),
    ("float", "int"),
    ("bigint", "double"),
    ("decimal(38,0)", "decimal(10,2)"),
    ("bigint", "decimal(10,2)"),
)
NUMBERS: Pool = {**TAME, "string": (None, "1", "7", "07", "1")}  # texts that are all numbers
GUARDED: Pool = {
    **TAME,
    "int": (None, 0, 0, 1, 2),
    "string": (None, "5", "x", "1,2", "2024-01-01"),
    "decimal(10,2)": (None, "0.00", "1.25", "7.00"),
    "bigint": (None, 0, 1, 7),
}
