"""A model for each macro of dbt's that writes SQL, and the table that they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

COLUMNS = (
    "id bigint, customer bigint, name string, day date, at timestamp, ended timestamp, code string, amount int, paid boolean, "
    "url string"
)
ROWS = (
    "(1, 1, 'ann_lee', '2024-01-10', '2024-01-10 10:00:00', '2024-03-05 09:30:15', '17', 3, true, 'http://a.io/x?utm=b&c=d')",
    "(2, 1, 'bob|z', '2024-02-29', '2024-02-29 23:59:59', '2023-02-28 00:00:00', 'x7', 1, false, 'https://www.b.io/y')",
    "(3, 2, null, '2023-12-31', '2023-12-31 00:00:00', '2024-01-01 00:00:00', null, 2, null, null)",
    "(4, 2, 'it_s', null, null, null, '300', null, true, 'c.io')",
    "(5, 3, 'a_b_c', '2024-01-10', '2024-01-10 12:00:00.123456', '2024-01-10 12:00:00.5', '-4', 7, false, '')",
    "(6, null, 'z', '2024-01-31', '2024-01-31 01:02:03', '2024-02-01 01:02:03', '9', 5, true, 'http://a.io/')",
)
# Of every kind, and of each column: new rows, rows that go, other groups, NULLs that come and go.
BATCHES = (
    (
        "insert into $.events values (7, 3, 'new|one', date'2024-01-11', timestamp'2024-01-11 00:00:00', "
        "timestamp'2025-01-11 00:00:00', '5', 4, true, 'http://n.io/p?utm=q')",
        "update $.events set name = 'ann', day = date'2024-02-01', at = timestamp'2024-02-01 08:00:00', code = 'q' where id = 1",
        "update $.events set day = date'2024-01-15', at = timestamp'2024-01-15 00:00:00', amount = 9, paid = false where id = 4",
        "delete from $.events where id = 2",
    ),
    (
        "update $.events set customer = 1, ended = null, url = 'https://m.io/z' where id in (5, 6)",
        "update $.events set name = null, day = null, at = null where id = 7",
        "delete from $.events where id = 3",
        "insert into $.events values (8, 4, 'h', date'2023-07-01', timestamp'2023-07-01 00:00:00', null, '1', -2, null, 'd.io/?utm=')",
    ),
)
EVENTS = "{{ source('raw', 'events') }}"
_PARTS = ("day", "week", "month", "quarter", "year", "hour", "minute", "second", "millisecond", "microsecond")
_SPINE = "{{ dbt.date_spine('day', \"cast('2024-01-01' as date)\", \"cast('2024-02-01' as date)\") }}"
# No SQL of a model: what other macros call.
HELPERS = frozenset(
    {
        "assert_not_null",
        "cast_from_string_unsupported_for",
        "default_last_day",
        "get_intervals_between",
        "get_powers_of_two",
        "get_snapshot_get_time_data_type",
    }
)
# Read the clock: they are times of writing, which change by themselves (`test_times_of_writing.py`).
OF_THE_CLOCK = frozenset(
    {"current_timestamp", "snapshot_get_time", "current_timestamp_backcompat", "current_timestamp_in_utc_backcompat"}
)


def row(value: str) -> str:
    return f"select id, {value} as x from {EVENTS}"


def group(value: str) -> str:
    return f"select customer, {value} as x from {EVENTS} group by customer"


def _rows_of(macro: str, calls: Mapping[str, str]) -> dict[str, str]:
    return {f"{macro}_{name}": row(f"{{{{ dbt.{macro}({call}) }}}}") for name, call in calls.items()}


# macro → name of a model → its SELECT
MODELS: Mapping[str, Mapping[str, str]] = {
    "any_value": {
        "any_value": group("{{ dbt.any_value('name') }}"),
        "any_value_of_group": group("{{ dbt.any_value('customer') }}"),
    },
    "array_append": {"array_append": row("{{ dbt.array_append(dbt.array_construct(['amount', '2']), '3') }}")},
    "array_concat": {"array_concat": row("{{ dbt.array_concat(dbt.array_construct(['amount']), dbt.array_construct(['1'])) }}")},
    "array_construct": {"array_construct": row("{{ dbt.array_construct(['amount', '2']) }}")},
    "bool_or": {"bool_or": group("{{ dbt.bool_or('paid') }}")},
    "cast": {"cast": row("{{ dbt.cast('amount', 'string') }}")},
    "cast_bool_to_text": {"cast_bool_to_text": row("{{ dbt.cast_bool_to_text('paid') }}")},
    "concat": {"concat": row("{{ dbt.concat(['name', \"'-'\", 'code']) }}")},
    "date": {"date": row("datediff(day, {{ dbt.date(2024, 1, 10) }})")},
    "date_spine": {
        "date_spine": _SPINE,
        "date_spine_joined": f"with spine as ({_SPINE}) select s.date_day, count(e.id) as n, sum(e.amount) as x from spine s "
        f"left join {EVENTS} e on e.day = s.date_day group by s.date_day",
    },
    "date_trunc": {"date_trunc": row("{{ dbt.date_trunc('month', 'at') }}")},
    "dateadd": {
        **_rows_of("dateadd", {part: f"'{part}', 'amount', 'at'" for part in _PARTS}),
        **_rows_of("dateadd", {"to_date": "'month', 1, 'day'"}),
        "dateadd_grouped": f"select {{{{ dbt.dateadd('day', 7, 'day') }}}} as later, count(*) as n from {EVENTS} group by 1",
    },
    "datediff": {
        **_rows_of("datediff", {part: f"'at', 'ended', '{part}'" for part in _PARTS if part != "microsecond"}),
        # of texts: dbt-spark takes microseconds from them
        **_rows_of(
            "datediff", {"microsecond": "\"'2024-01-10 10:00:00.000001'\", \"'2024-01-10 10:00:00.000009'\", 'microsecond'"}
        ),
        "datediff_summed": group("sum({{ dbt.datediff('at', 'ended', 'day') }})"),
    },
    "equals": {"equals": row("{{ dbt.equals('name', 'code') }}")},
    "escape_single_quotes": {"escape_single_quotes": row("'{{ dbt.escape_single_quotes(\"it's\") }}'")},
    "except": {"except": f"select customer from {EVENTS} {{{{ dbt.except() }}}} select customer from {EVENTS} where paid"},
    "generate_series": {"generate_series": "{{ dbt.generate_series(20) }}"},
    "hash": {"hash": row("{{ dbt.hash('name') }}")},
    "intersect": {
        "intersect": f"select customer from {EVENTS} {{{{ dbt.intersect() }}}} select customer from {EVENTS} where paid"
    },
    "last_day": {
        "last_day": row("{{ dbt.last_day('day', 'month') }}"),
        "last_day_of_quarter": row("{{ dbt.last_day('at', 'quarter') }}"),
    },
    "length": {"length": row("{{ dbt.length('name') }}")},
    "listagg": {
        "listagg": group("{{ dbt.listagg('name', \"','\") }}"),
        "listagg_first": group("{{ dbt.listagg('amount', \"','\", limit_num=2) }}"),
        "listagg_ordered": group("{{ dbt.listagg('amount', \"','\", 'order by day desc') }}"),
        "listagg_distinct": group("{{ dbt.listagg('distinct name', \"','\", 'order by name') }}"),
    },
    "position": {"position": row("{{ dbt.position(\"'_'\", 'name') }}")},
    "replace": {"replace": row("{{ dbt.replace('name', \"'a'\", \"'b'\") }}")},
    "right": {"right": row("{{ dbt.right('name', 2) }}")},
    "safe_cast": {
        "safe_cast": row("{{ dbt.safe_cast('code', 'int') }}"),
        "safe_cast_small": row("{{ dbt.safe_cast('code', 'tinyint') }}"),
    },
    "split_part": {
        "split_part": row("{{ dbt.split_part('name', \"'_'\", 1) }}"),
        "split_part_negative": row("{{ dbt.split_part('name', \"'|'\", -1) }}"),
    },
    "string_literal": {"string_literal": row("{{ dbt.string_literal('a') }}")},
    "type_timestamp": {"type_timestamp": row("cast(day as {{ dbt.type_timestamp() }})")},
    **{
        f"type_{kind}": {f"type_{kind}": row(f"cast(amount as {{{{ dbt.type_{kind}() }}}})")}
        for kind in ("string", "float", "numeric", "bigint", "int", "boolean")
    },
}


def models() -> Iterator[tuple[str, str]]:
    """Name and SELECT of all."""
    for each in MODELS.values():
        yield from each.items()
