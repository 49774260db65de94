"""Ask each table for the rows that a refresh can reach (`reach.py`), and keep them as literal rows.

Tables are asked in the order in which their keys become known, each once, unless the keys of two tables depend on each other.
Then a table is asked again for further keys, and the rows that it has given before are left out of its answer. The query does
not exclude them: Spark would test both conditions for each row of the table, which took three times as long.

A condition over the times of the clock is known from the start. A later query excludes the rows that satisfy it, because only
Spark can tell which rows do. The keys for other tables are those of all rows found so far, whether they satisfy it or not.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, substitute
from dbt_idivm.operators.scan import CLOCK, DiffRows
from dbt_idivm.script.at_both_times import Differing
from dbt_idivm.script.binding import Binding, constants
from dbt_idivm.script.by_key import is_one_of
from dbt_idivm.script.dialect import is_inlinable
from dbt_idivm.script.diff import Row, Value
from dbt_idivm.script.reach import AnyFinder, Changed, Finder, Found, Source, Wanted, reach
from dbt_idivm.script.source_rows import SourceQuery, SourceRows, fetching
from dbt_idivm.script.ways import Application

Reach: TypeAlias = Mapping[str, Wanted]  # table → what is wanted of it
# Forms of an application over the rows that changes reach, each with what is wanted of its tables.
Forms: TypeAlias = tuple[tuple[Application, Reach], ...]
# More rows than these are read by the Δ-script itself.
MOST_ROWS = 10_000


@dataclass(frozen=True)
class Ask:
    """The query for the reached rows of a table."""

    table: str
    query: SourceQuery


def reached_by(done: Application, is_known: Callable[[DiffRows], bool]) -> dict[str, Wanted]:
    """The tables of which an application needs only the rows that changes reach, and which can be found. `is_known`: whether the
    rows of a base i-diff are known."""
    return findable(reach(done.depends_on), is_known)


def forms(done: Application, is_known: Callable[[DiffRows], bool]) -> Forms:
    """The application and, if reached rows of all its tables can be found, its form for these; each with what is wanted of them.
    `is_known`: as for `reached_by`. Rows that are found by a condition may be many, so the application is also given without
    them."""
    usual = reached_by(done, is_known)
    by_keys = findable({table: each for table, each in usual.items() if not each.by_condition}, is_known)
    found = ((done, usual),) if len(by_keys) == len(usual) else ((done, by_keys), (done, usual))
    if not has_all(done, usual):  # the other form reads the same tables, and more of them
        return found
    other = done.over_reached
    if other is done or not has_all(other, wanted := reached_by(other, is_known)):
        return found
    return (*found, (other, wanted))


def has_all(form: Application, found: Mapping[str, object]) -> bool:
    """Whether the application reads no other tables than those `found`, and the clock, whose row is a constant in each state."""
    return found.keys() >= {*form.tables} - {CLOCK}


def findable(wanted: Mapping[str, Wanted], is_known: Callable[[DiffRows], bool]) -> dict[str, Wanted]:
    """The tables whose rows can be fetched and found: all columns can be literals, and all keys have the values of base i-diffs
    that are known, or of rows that can be found. `is_known`: whether the rows of a base i-diff are."""

    def can_be_found(finder: AnyFinder, found: Mapping[str, Wanted]) -> bool:
        if isinstance(finder, Differing):
            return all(map(is_known, finder.clock.leaves))
        sources = finder.sources
        return all(each.finder.table in found if isinstance(each, Found) else is_known(each.leaf) for each in sources)

    found = {table: each for table, each in wanted.items() if all(is_inlinable(a.type) for a in each.columns)}
    while True:
        left = {table: each for table, each in found.items() if all(can_be_found(finder, found) for finder in each.finders)}
        if len(left) == len(found):
            return found
        found = left


def find(wanted: Mapping[str, Wanted], binding: Binding) -> Generator[Ask, SourceRows | None, dict[str, SourceRows]]:
    """Yields the queries; is sent the rows that each returned, None if they are too many. Returns the rows of each table of
    which all reached rows were found. `wanted`: tables that are `findable`."""
    search = _Search(dict(wanted), binding)
    while (table := search.next()) is not None:
        finders = search.ready(table)
        query = search.query(table, finders)
        rows = (yield Ask(table, query)) if query is not None else search.none(table)
        search.answer(table, finders, rows)
    return search.found


class _Search:
    """What is known while tables are asked."""

    def __init__(self, wanted: dict[str, Wanted], binding: Binding) -> None:
        self.wanted, self.binding = wanted, binding
        self.found: dict[str, SourceRows] = {}
        self._done: dict[AnyFinder, frozenset[Row]] = {}  # finder whose rows are found → its values, of a condition none
        self._asked: dict[AnyFinder, frozenset[Row]] = {}  # finder → the values that were asked for

    def next(self) -> str | None:
        """The table to ask next: one of which all keys are known, if there is one. None if all are done."""
        left = {table: self._left(table) for table in self.wanted}
        ready = {table: self.ready(table) for table, finders in left.items() if finders}
        whole = (table for table, finders in ready.items() if len(finders) == len(left[table]))
        return next(whole, None) or next((table for table, finders in ready.items() if finders), None)

    def _left(self, table: str) -> list[AnyFinder]:
        return [each for each in self.wanted[table].finders if each not in self._done]

    def ready(self, table: str) -> list[AnyFinder]:
        """The finders of a table that are not asked for yet, and whose values are known."""
        return [
            each
            for each in self._left(table)
            if isinstance(each, Differing)
            or all(source.finder in self._done for source in each.sources if isinstance(source, Found))
        ]

    def query(self, table: str, finders: Sequence[AnyFinder]) -> SourceQuery | None:
        """The query for the rows of these finders; None if they have no values."""
        binder = self.binding.statement()
        name = binder.alias("stored")
        by_keys = _tests((each, self._wanted(each)) for each in finders if isinstance(each, Finder))
        new = [
            *self._conditions(finders, name),
            *(
                exp.and_(*(is_one_of(column(each, name), sorted(of, key=repr), kind) for each, kind, of in test))
                for test in by_keys
            ),
        ]
        if not new:
            return None
        columns = self.wanted[table].columns
        source = exp.alias_(self.binding.dialect.table(table, self.binding.versions.get(table)), name, table=True)
        rows = exp.Select(expressions=[exp.alias_(each.value(name), each.name, quoted=True) for each in columns]).from_(source)
        rows = rows.where(exp.or_(*new))
        if old := self._conditions((each for each in self.wanted[table].finders if each in self._asked), name):
            rows = rows.where(exp.Not(this=exp.Coalesce(this=exp.paren(exp.or_(*old)), expressions=[exp.false()])))
        return fetching(rows, [each.name for each in columns], tuple(each.type for each in columns), MOST_ROWS)

    def _conditions(self, finders: Iterable[AnyFinder], name: str) -> list[exp.Expr]:
        """The conditions of finders, with the values of the clock, each once; without those of which no value differs."""
        found = (self._condition(each, name) for each in finders if isinstance(each, Differing))
        return [*dict.fromkeys(each for each in found if each is not None)]

    def _condition(self, finder: Differing, name: str) -> exp.Expr | None:
        """The condition with the values of the clock; None if none of them differs."""
        scan, clock = finder.child, finder.clock
        old, new = (self.binding.changes.rows(leaf) for leaf in clock.leaves)
        if not old or not new:
            return None
        before, now = constants(clock.scan, old[0]), constants(clock.scan, new[0])
        cells = {scan.attribute(each.name): each.value(name) for each in scan.base_columns}
        times = {**now, **{each: before[attribute] for each, attribute in clock.before}}
        return exp.paren(substitute(finder.condition, {**cells, **times}))

    def _wanted(self, finder: AnyFinder) -> frozenset[Row]:
        """The values that are asked for."""
        return frozenset() if isinstance(finder, Differing) else self._values(finder, finder.new_sources)

    def _values(self, finder: Finder, sources: Iterable[Source]) -> frozenset[Row]:
        found = {value for source in sources for value in self._of(source)}
        return frozenset(
            value for value in found if all(cell is not None or nulls for cell, nulls in zip(value, finder.nulls, strict=True))
        )

    def _of(self, source: Source) -> Iterable[Row]:
        if isinstance(source, Changed):
            places = [source.leaf.scan.columns.index(name) for name in source.names]
            return (tuple(row[place] for place in places) for row in self.binding.changes.rows(source.leaf) or ())
        finder, rows = source.finder, self.found[source.finder.table]
        places = _places(rows, source.names)
        if isinstance(finder, Differing):
            return (tuple(row[p] for p in places) for row in rows.rows)
        values, keys = self._done[finder], _places(rows, finder.columns)
        return (tuple(row[p] for p in places) for row in rows.rows if tuple(row[p] for p in keys) in values)

    def _new(self, table: str, rows: SourceRows) -> SourceRows:
        """The rows that no query before has found by keys."""
        asked = _tests((each, self._asked[each]) for each in self.wanted[table].by_keys if each in self._asked)
        tests = [
            [(place, of) for place, (_, _, of) in zip(_places(rows, [c for c, _, _ in test]), test, strict=True)]
            for test in asked
        ]
        return replace(
            rows, rows=tuple(row for row in rows.rows if not any(all(row[place] in of for place, of in test) for test in tests))
        )

    def none(self, table: str) -> SourceRows:
        columns = self.wanted[table].columns
        return SourceRows(tuple(each.name for each in columns), tuple(each.type for each in columns), ())

    def answer(self, table: str, finders: Sequence[AnyFinder], rows: SourceRows | None) -> None:
        """Take the rows in; without them, leave out the table, and those whose keys depend on it."""
        if rows is None:
            left = {name: each for name, each in self.wanted.items() if name != table}
            self.wanted = findable(left, self.binding.changes.is_known)
            self.found = {name: each for name, each in self.found.items() if name in self.wanted}
            return
        rows = self._new(table, rows)
        for each in finders:
            values = frozenset[Row]() if isinstance(each, Differing) else self._values(each, each.sources)
            self._done[each], self._asked[each] = values, self._wanted(each)
        known = self.found.get(table)
        self.found[table] = rows if known is None or not known.rows else _both(known, rows)


# One of several conditions of a query, each a conjunction: a column, its type, and the values of which it has one.
_Test: TypeAlias = tuple[tuple[str, str, frozenset[Value]], ...]


def _tests(finders: Iterable[tuple[Finder, frozenset[Row]]]) -> list[_Test]:
    """The conditions that a row has one of a finder's values in each of its columns. Finders of one column share theirs: a
    condition for each would take as many times as long. Those of several columns do not, because the values of two of them make
    further combinations."""
    found: dict[tuple[Finder | None, tuple[tuple[str, str], ...]], set[Row]] = {}
    for finder, values in finders:
        alone = finder if len(finder.columns) > 1 else None
        found.setdefault((alone, tuple(zip(finder.columns, finder.kinds, strict=True))), set()).update(values)
    return [
        tuple((name, kind, frozenset(value[place] for value in values)) for place, (name, kind) in enumerate(columns))
        for (_, columns), values in found.items()
        if values
    ]


def _both(known: SourceRows, more: SourceRows) -> SourceRows:
    return SourceRows(known.names, known.types if known.rows else more.types, known.rows + more.rows)


def _places(rows: SourceRows, names: Iterable[str]) -> list[int]:
    return [rows.names.index(name) for name in names]
