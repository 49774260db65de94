"""Families of models that grow with one number, for `planner.py`: joins, subqueries, windows, branches, long expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.relation_name import relation_name

SCHEMA = "shop"
Columns = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Sized:
    """A SELECT, and the tables that it reads: their columns, and whether the first of these is a declared key."""

    sql: str
    tables: Mapping[str, tuple[Columns, bool]]

    @property
    def catalog(self) -> Catalog:
        found = {relation_name(SCHEMA, name): given for name, given in self.tables.items()}
        return Catalog(
            {
                name: TableInfo(
                    name,
                    tuple(Attribute(*each) for each in columns),
                    (columns[0][0],) if keyed else None,
                    "benchmark" if keyed else "",
                )
                for name, (columns, keyed) in found.items()
            }
        )


@dataclass(frozen=True)
class Family:
    """`make`: the model of a size. `sizes`: those that are printed.

    `most`: the exponent with which nodes and bytes may grow; None where the i-diffs of more than a few joins name all rows.
    `most_of_tuples`: the same for the statement of `tuple`, where it grows faster.
    """

    make: Callable[[int], Sized]
    sizes: tuple[int, ...]
    most: float | None
    most_of_tuples: float | None = None


# a little more than 1, 2 and 3: names get longer, too
LINEAR, QUADRATIC, CUBIC = 1.3, 2.2, 3.2


def _table(name: str) -> str:
    return f"{SCHEMA}.{name}"


def _keyed(*columns: str) -> tuple[Columns, bool]:
    """A table with the key `id`; columns of numbers, or `name:type`."""
    return [("id", "bigint"), *_typed(columns)], True


def _typed(columns: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, kind or "int") for name, _, kind in (each.partition(":") for each in columns)]


def _each(size: int, text: str, between: str = ", ") -> str:
    """The text once for each number, which is written as `#` in it; the one before as `@`."""
    return between.join(text.replace("#", str(number)).replace("@", str(number - 1)) for number in range(1, size + 1))


# -- joins -------------------------------------------------------------------------------------------------------------------

_DIMENSION = ("name:string", "kind:string")


def _dimensions(size: int, *, keyed: bool = True) -> dict[str, tuple[Columns, bool]]:
    return {f"dim{number}": (_keyed(*_DIMENSION)[0], keyed) for number in range(1, size + 1)}


def _star(size: int, *, keyed: bool = True, side: str = "left join") -> Sized:
    joins = _each(size, f"{side} {_table('dim#')} d# on d#.id = f.key#", "\n")
    tables = {
        "fact": _keyed(*(f"key{number}:bigint" for number in range(1, size + 1)), "value"),
        **_dimensions(size, keyed=keyed),
    }
    return Sized(
        f"select f.id, f.value, {_each(size, 'd#.name as name#, d#.kind as kind#')}\nfrom {_table('fact')} f\n{joins}", tables
    )


def _grouped_star(size: int) -> Sized:
    star = _star(size)
    rows = star.sql.partition("\nfrom ")[2]
    return Sized(f"select d1.kind, count(*) as number, sum(f.value) as total\nfrom {rows}\ngroup by d1.kind", star.tables)


def _joined_twice(size: int) -> Sized:
    keys = [f"{which}{number}:bigint" for number in range(1, size + 1) for which in ("from", "to")]
    joins = _each(size, f"left join {_table('dim#')} a# on a#.id = f.from#\nleft join {_table('dim#')} b# on b#.id = f.to#", "\n")
    shown = _each(size, "a#.name as from_name#, b#.name as to_name#")
    return Sized(
        f"select f.id, f.value, {shown}\nfrom {_table('fact')} f\n{joins}", {"fact": _keyed(*keys, "value"), **_dimensions(size)}
    )


def _chain(size: int) -> Sized:
    """Each table is joined by an attribute of the one before it."""
    joins = _each(size, f"left join {_table('level#')} l# on l#.id = l@.parent", "\n")
    tables = {f"level{number}": _keyed("parent:bigint", "name:string") for number in range(size + 1)}
    return Sized(f"select l0.id, l0.name, {_each(size, 'l#.name as name#')}\nfrom {_table('level0')} l0\n{joins}", tables)


def _totals(number: str) -> str:
    return f"(select g, sum(value) as total{number} from {_table(f'part{number}')} group by g) a{number}"


def _full_joins(size: int) -> Sized:
    joins = _each(size, f"full join {_totals('#')} on a#.g = a@.g", "\n")
    tables = {f"part{number}": _keyed("g", "value") for number in range(size + 1)}
    return Sized(f"select a0.g as g0, a0.total0, {_each(size, 'a#.g as g#, a#.total#')}\nfrom {_totals('0')}\n{joins}", tables)


def _left_totals(size: int) -> Sized:
    joins = _each(size, f"left join {_totals('#')} on a#.g = f.g#", "\n")
    return Sized(f"select f.id, {_each(size, 'a#.total#')}\nfrom {_table('fact')} f\n{joins}", _fact_and_parts(size))


def _fact_and_parts(size: int) -> dict[str, tuple[Columns, bool]]:
    parts = {f"part{number}": _keyed("g", "value") for number in range(1, size + 1)}
    return {"fact": _keyed(*(f"g{number}" for number in range(1, size + 1))), **parts}


# -- subqueries and windows --------------------------------------------------------------------------------------------------


def _scalars(size: int) -> Sized:
    sums = _each(size, f"(select sum(p.value) from {_table('part#')} p where p.g = f.g#) as total#")
    return Sized(f"select f.id, {sums}\nfrom {_table('fact')} f", _fact_and_parts(size))


def _exists(size: int) -> Sized:
    tests = _each(size, f"exists (select 1 from {_table('part#')} p where p.g = f.g# and p.value > 0)", "\nand ")
    return Sized(f"select f.id, f.g1\nfrom {_table('fact')} f\nwhere {tests}", _fact_and_parts(size))


def _counts(size: int) -> Sized:
    """Several counts of rows of one table, and one of them in a condition."""
    counts = _each(size, f"(select count(*) from {_table('part1')} p where p.g = f.id and p.value > #) as count#")
    return Sized(
        f"select f.id, {counts}\nfrom {_table('fact')} f\nwhere (select count(*) from {_table('part1')} p where p.g = f.id) > 0",
        {"fact": _keyed("g1"), "part1": _keyed("g:bigint", "value")},
    )


def _windows(size: int) -> Sized:
    sums = _each(size, "sum(value) over (partition by g#) as total#")
    return Sized(f"select id, {sums}\nfrom {_table('fact')}", {"fact": _keyed(*(f"g{n}" for n in range(1, size + 1)), "value")})


# -- branches and steps ------------------------------------------------------------------------------------------------------


def _union(size: int, *, grouped: bool = False) -> Sized:
    rows = _each(size, f"select id, g, value from {_table('part#')}", "\nunion all\n")
    tables = {f"part{number}": _keyed("g", "value") for number in range(1, size + 1)}
    return Sized(f"select g, sum(value) as total, count(*) as number from ({rows}) u group by g" if grouped else rows, tables)


def _ctes(size: int) -> Sized:
    """Each CTE filters and adds a column to the one before."""
    steps = _each(size, "step# as (select *, value + # as value# from step@ where value > #)", ",\n")
    return Sized(
        f"with step0 as (select id, value from {_table('fact')}),\n{steps}\nselect * from step{size}", {"fact": _keyed("value")}
    )


# -- long expressions --------------------------------------------------------------------------------------------------------

_TEXTS = {"fact": _keyed("text:string", "value")}


def _in_list(size: int) -> Sized:
    texts = _each(size, "'text #'")
    return Sized(f"select id, value from {_table('fact')} where text in ({texts})", _TEXTS)


def _likes(size: int) -> Sized:
    tests = _each(size, "text like '%text #%'", " or ")
    return Sized(f"select id, value from {_table('fact')} where {tests}", _TEXTS)


def _concatenation(size: int) -> Sized:
    return Sized(f"select id, {_each(size, 'text', ' || ')} as long_text from {_table('fact')}", _TEXTS)


def _case(size: int) -> Sized:
    branches = _each(size, "when value = # then 'text #'", " ")
    return Sized(f"select id, case {branches} end as name from {_table('fact')}", _TEXTS)


def _stacked(size: int) -> Sized:
    """SELECTs over one another, each of which names the value of the one below it three times."""
    rows = _table("fact")
    for _ in range(size):
        rows = f"(select id, coalesce(value, case when value is null then 0 else value * 2 end) as value from {rows}) as below"
    return Sized(f"select id, value from {rows}", _TEXTS)


FAMILIES: Mapping[str, Family] = {
    "star": Family(_star, (6, 12, 24), LINEAR),
    "star without keys": Family(lambda size: _star(size, keyed=False), (6, 12, 24), LINEAR),
    "grouped star": Family(_grouped_star, (6, 12, 24), LINEAR),
    "star, joined twice": Family(_joined_twice, (3, 6, 12), LINEAR),
    "chain": Family(_chain, (6, 12, 24), QUADRATIC),
    "inner joins": Family(lambda size: _star(size, side="join"), (4, 8, 16), QUADRATIC),
    "full joins of totals": Family(_full_joins, (2, 3, 4, 5), None),
    "left joins of totals": Family(_left_totals, (4, 8, 12), QUADRATIC),
    "windows": Family(_windows, (4, 8, 16), QUADRATIC, CUBIC),
    "scalar subqueries": Family(_scalars, (4, 8, 12), QUADRATIC),
    "counts of one table": Family(_counts, (2, 4, 8), QUADRATIC),
    "exists": Family(_exists, (4, 8, 16), QUADRATIC),
    "union all": Family(_union, (10, 20, 40), QUADRATIC),
    "grouped union all": Family(lambda size: _union(size, grouped=True), (5, 10, 20), QUADRATIC),
    "chain of CTEs": Family(_ctes, (8, 16, 32), LINEAR),
    "IN list": Family(_in_list, (250, 500, 1000), LINEAR),
    "OR of LIKEs": Family(_likes, (75, 150, 300), LINEAR),
    "|| of texts": Family(_concatenation, (75, 150, 300), LINEAR),
    "CASE": Family(_case, (100, 200, 400), LINEAR),
    "stacked SELECTs": Family(_stacked, (4, 8, 16), LINEAR),
}
