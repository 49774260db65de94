"""The cheapest refresh that there can be: the exact net diff of a view is known, and one MERGE applies it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from benchmarks.engine import Session
from dbt_idivm.script.dialect import DELTA

# As many rows as a refresh inlines; more are cached in memory.
INLINED = 1000
GONE, KNOWN = "floor_gone", "floor_known"
STAGED = "floor_net_diff"
# Delta compares statistics with plain literals only, not with casts.
LITERALS = {"int": "{}", "bigint": "{}L", "date": "date'{}'"}


@dataclass(frozen=True)
class Floor:
    """A net diff that is ready to be applied. No statement if nothing changes."""

    statements: tuple[str, ...]
    staged: bool = False

    @classmethod
    def of(cls, session: Session, table: str, new: str, key: Sequence[str]) -> Floor:
        """What makes `table` equal to `new`, an item of FROM with its columns. `key` identifies rows in both."""
        columns = session.columns(f"select * from {table}")
        session.run(
            f"create or replace temporary view {STAGED} as {_difference(table, new, columns, key)}", f"cache table {STAGED}"
        )
        rows, keys, gone, known = session.rows(
            f"select count(*), count(distinct {_cells(key)}), count_if({GONE}), count_if({KNOWN} and not {GONE}) from {STAGED}"
        )[0]
        if rows != keys:
            raise ValueError(f"{table}: ({', '.join(key)}) is no key of the view, so the floor has no MERGE")
        if rows == 0:
            session.run(f"drop view {STAGED}")
            return cls(())
        ranges = _ranges(session, key)
        source = STAGED
        if rows <= INLINED:
            source = f"({_inlined(session, columns)})"
            session.run(f"drop view {STAGED}")
        clauses = _clauses(columns, key, gone=gone > 0, updated=known > 0, inserted=rows > gone + known)
        return cls((f"merge into {table} v using {source} d on {_equal(key, 'v', 'd')}{ranges} {clauses}",), rows > INLINED)

    def release(self, session: Session) -> None:
        """Drop what was staged."""
        if self.staged:
            session.run(f"drop view {STAGED}")


def _difference(table: str, new: str, columns: Sequence[str], key: Sequence[str]) -> str:
    """Inserted and updated rows with their new values, deleted rows with their old ones."""
    same = " and ".join(f"o.`{name}` <=> n.`{name}`" for name in columns)
    shown = ", ".join(f"n.`{name}`" for name in columns)
    # A column of `o` that is null only where no row was found: its key may be null itself.
    return f"""
        select {shown}, o.{KNOWN} is not null as {KNOWN}, false as {GONE}
        from {new} n left join (select *, true as {KNOWN} from {table}) o on {_equal(key, "o", "n")}
        where o.{KNOWN} is null or not ({same})
        union all
        select {", ".join(f"o.`{name}`" for name in columns)}, true, true
        from {table} o left anti join {new} n on {_equal(key, "o", "n")}"""


def _clauses(columns: Sequence[str], key: Sequence[str], *, gone: bool, updated: bool, inserted: bool) -> str:
    """Only those that are needed: without INSERT the MERGE is an inner join."""
    values = [name for name in columns if name not in key]
    found = [f"when matched and d.{GONE} then delete"] if gone else []
    if updated:
        found += ["when matched then update set " + ", ".join(f"v.`{name}` = d.`{name}`" for name in values)]
    if inserted:
        names = ", ".join(f"`{name}`" for name in columns)
        found += [f"when not matched then insert ({names}) values ({', '.join(f'd.`{name}`' for name in columns)})"]
    return " ".join(found)


def _equal(key: Sequence[str], left: str, right: str) -> str:
    return " and ".join(f"{left}.`{name}` <=> {right}.`{name}`" for name in key)


def _cells(columns: Sequence[str]) -> str:
    """One value that has the values of the columns, NULLs included."""
    return f"struct({', '.join(f'`{name}`' for name in columns)})"


def _ranges(session: Session, key: Sequence[str]) -> str:
    """The range of each key column as literals, by which Delta skips files; none for a column with NULLs."""
    asked = ", ".join(f"string(min(`{name}`)), string(max(`{name}`)), count_if(`{name}` is null)" for name in key)
    found = session.rows(f"select {asked} from {STAGED}")[0]
    ranges = ""
    for number, (name, kind) in enumerate(zip(key, _types(session, key), strict=True)):
        low, high, nulls = found[3 * number : 3 * number + 3]
        if not nulls and kind in LITERALS:
            ranges += f" and v.`{name}` between {LITERALS[kind].format(low)} and {LITERALS[kind].format(high)}"
    return ranges


def _inlined(session: Session, columns: Sequence[str]) -> str:
    """The staged rows as VALUES."""
    shown = ", ".join(f"string(`{name}`)" for name in columns)
    rows = session.rows(f"select {shown}, {KNOWN}, {GONE} from {STAGED}")
    texts = ", ".join(f"({', '.join(_text(cell) for cell in row)})" for row in rows)
    names = [f"c{number}" for number in range(len(columns))]
    cast = ", ".join(
        f"cast({cell} as {kind}) as `{name}`" for cell, kind, name in zip(names, _types(session, columns), columns, strict=True)
    )
    return f"select {cast}, {KNOWN}, {GONE} from values {texts} as r({', '.join(names)}, {KNOWN}, {GONE})"


def _types(session: Session, columns: Sequence[str]) -> list[str]:
    kinds = dict(session.spark.table(STAGED).dtypes)
    return [kinds[name] for name in columns]


def _text(value: str | bool | None) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else DELTA.sql(exp.Literal.string(value))
