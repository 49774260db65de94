"""Normal forms of random views: a respelled view has the same form, views with one form have the same rows, and what a part of a
block says follows from the block.

Rows are those of DuckDB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from dbt_idivm.algebra.expression_text import expression_text
from dbt_idivm.algebra.expressions import attributes, render
from dbt_idivm.context import Catalog
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from dbt_idivm.tools.dag.block import part_of
from dbt_idivm.tools.dag.build import build
from dbt_idivm.tools.dag.forms import Block
from dbt_idivm.tools.dag.normal_form import Normal, normal_form
from dbt_idivm.tools.dag.subsumption import is_selection
from tests.property.duck import OnDuckDB
from tests.property.plans import Table, lowered_of
from tests.property.strategies import Case, cases

COLUMNS = tuple(("abc"[number], "int") for number in range(3))
TABLES = tuple(Table(name, COLUMNS, ("a",)) for name in ("r", "s"))
CATALOG = Catalog({table.name: table.info() for table in TABLES})
FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">="}
NEGATED = {"=": "<>", "<>": "=", "<": ">=", "<=": ">"}
Term = tuple[int, str] | int  # a column of a source, or a constant
Test = tuple[str, Term, Term]


@dataclass(frozen=True)
class View:
    """SELECT of all columns, or of `groups` and `calls`, FROM `sources` WHERE all of `tests`, of which each is an OR."""

    sources: tuple[str, ...]
    tests: tuple[tuple[Test, ...], ...]
    groups: tuple[tuple[int, str], ...] = ()
    calls: tuple[tuple[str, tuple[int, str]], ...] = ()


@st.composite
def views(draw: Any) -> View:
    sources = tuple(draw(st.lists(st.sampled_from("rs"), min_size=1, max_size=3)))
    columns = st.tuples(st.integers(0, len(sources) - 1), st.sampled_from("abc"))
    term = columns | st.integers(0, 3)
    one = st.tuples(st.sampled_from(["=", "=", "=", *FLIPPED]), columns, term)
    tests = st.lists(st.tuples(one) | st.tuples(one) | st.tuples(one, one), max_size=4)
    found = View(sources, tuple(draw(tests)))
    if draw(st.integers(0, 3)):
        return found
    calls = st.lists(st.tuples(st.sampled_from(["sum", "count", "min"]), columns), max_size=2, unique=True)
    groups = st.lists(columns, min_size=1, max_size=2, unique=True)
    return replace(found, groups=tuple(draw(groups)), calls=tuple(draw(calls)))


def plain(view: View) -> str:
    return spelled(view, [*range(len(view.sources))], {n: f"x{n}" for n in range(len(view.sources))}, (), view.tests)


@st.composite
def respelled(draw: Any, view: View) -> str:
    """Another order of sources and conditions, other aliases, derived tables, flips, negations, other pairs of equal columns."""
    count = len(view.sources)
    order = draw(st.permutations(range(count)))
    aliases = {number: f"{draw(st.sampled_from('pqz'))}{place}" for place, number in enumerate(order)}
    tests = [tuple(draw(st.permutations([draw(turned(one)) for one in each]))) for each in draw(equal_otherwise(view.tests))]
    derived = tuple(number for number in range(count) if draw(st.booleans()))
    return spelled(view, order, aliases, derived, draw(st.permutations(tests)), negated=draw(st.booleans()))


@st.composite
def turned(draw: Any, test: Test) -> Test:
    op, left, right = test
    return (FLIPPED[op], right, left) if draw(st.booleans()) else test


@st.composite
def equal_otherwise(draw: Any, tests: Sequence[tuple[Test, ...]]) -> list[tuple[Test, ...]]:
    """Equalities of columns by other pairs of the same classes."""
    rest, classes = [], list[set[Any]]()
    for each in tests:
        op, left, right = each[0]
        if len(each) > 1 or op != "=" or isinstance(left, int) or isinstance(right, int) or left == right:
            rest.append(each)
            continue
        touched = [known for known in classes if known & {left, right}]
        classes = [*(known for known in classes if known not in touched), {left, right}.union(*touched)]
    for members in classes:
        ordered = draw(st.permutations(sorted(members)))
        rest += [(("=", draw(st.sampled_from(ordered[:place])), ordered[place]),) for place in range(1, len(ordered))]
    return rest


def spelled(
    view: View,
    order: Sequence[int],
    aliases: dict[int, str],
    derived: Sequence[int],
    tests: Sequence[tuple[Test, ...]],
    *,
    negated: bool = False,
) -> str:
    def written(term: Term) -> str:
        if isinstance(term, int):
            return str(term)
        number, name = term
        return f"{aliases[number]}.{f'k{name}' if number in derived else name}"

    def one(test: Test) -> str:
        op, left, right = test
        if negated and op in NEGATED:
            return f"NOT ({written(left)} {NEGATED[op]} {written(right)})"
        return f"{written(left)} {op} {written(right)}"

    below = {number: f"(SELECT c AS kc, a AS ka, b AS kb FROM {view.sources[number]})" for number in derived}
    sources = ", ".join(f"{below.get(number, view.sources[number])} AS {aliases[number]}" for number in order)
    where = " AND ".join(f"({' OR '.join(map(one, each))})" for each in tests)
    columns = [written(each) for each in view.groups] or [written((number, name)) for number in order for name in "abc"]
    items = [*columns, *(f"{function}({written(argument)})" for function, argument in view.calls)]
    query = f"SELECT {', '.join(f'{item} AS o{place}' for place, item in enumerate(items))} FROM {sources}"
    grouped = f" GROUP BY {', '.join(columns)}" if view.groups else ""
    return f"{query}{f' WHERE {where}' if where else ''}{grouped}"


def normal(sql: str) -> Normal:
    return normal_form(lower(sql, CATALOG).root)


VALUES = st.one_of(st.none(), st.integers(0, 3))
ROWS = st.lists(st.tuples(st.integers(0, 3), VALUES, VALUES), max_size=4, unique_by=lambda row: row[0])


@given(st.data())
def test_a_respelled_view_has_the_same_form(data: st.DataObject) -> None:
    view = data.draw(views())
    other = data.draw(respelled(view))
    assert normal(plain(view)).form.text == normal(other).form.text


@st.composite
def changed(draw: Any, view: View) -> View:
    """A view that is much like another one: with another condition, without one, or with the columns of a condition exchanged."""
    other = draw(views())
    tests = list(view.tests)
    if tests and draw(st.booleans()):
        place = draw(st.integers(0, len(tests) - 1))
        last = len(view.sources) - 1
        terms = {each: [term for one in each for term in one[1:]] for each in other.tests}
        extra = [each for each in other.tests if all(isinstance(term, int) or term[0] <= last for term in terms[each])]
        op, left, right = tests[place][0]
        exchanged = ((op, right, left), *tests[place][1:])
        tests[place : place + 1] = draw(st.sampled_from([[], extra[:1], [exchanged], [mirrored(tests[place], last)]]))
    return replace(view, tests=tuple(tests)) if draw(st.integers(0, 4)) else other


def mirrored(tests: tuple[Test, ...], last: int) -> tuple[Test, ...]:
    """The same of the sources in their opposite order."""

    def turned_round(term: Term) -> Term:
        return term if isinstance(term, int) else (last - term[0], term[1])

    return tuple((op, turned_round(left), turned_round(right)) for op, left, right in tests)


def world(r: list[Any], s: list[Any]) -> OnDuckDB:
    engine = OnDuckDB()
    for table, rows in zip(TABLES, (r, s), strict=True):
        engine.create(table.name, table.columns)
        engine.fill(table.name, table.columns, rows)
    return engine


def bag(engine: OnDuckDB, sql: str) -> tuple[tuple[str, ...], Counter[Any]]:
    """The rows with their columns in the order of what these are over the form, and that."""
    lowered = lower(sql, CATALOG)
    names = normal_form(lowered.root).names
    texts = [expression_text(names[each], {name: name for name in attributes(names[each])}) for _, each in lowered.output]
    order = sorted(range(len(texts)), key=lambda place: texts[place])
    rows = Counter(tuple(row[place] for place in order) for row in engine.oracle(sql))
    return tuple(texts[place] for place in order), rows


@given(st.data())
def test_views_with_one_form_have_the_same_rows(data: st.DataObject) -> None:
    view = data.draw(views())
    one, two = plain(view), data.draw(respelled(data.draw(changed(view))))
    if normal(one).form.text != normal(two).form.text:
        return
    engine = world(data.draw(ROWS), data.draw(ROWS))
    try:
        mine, theirs = bag(engine, one), bag(engine, two)
        assert mine[0] != theirs[0] or mine[1] == theirs[1]
        assert mine[0] == theirs[0] or view.groups
    finally:
        engine.close()


def block_sql(block: Block) -> str:
    """The block as a query that shows all of its columns."""

    def written(name: str) -> str:
        number, _, rest = name.partition(".")
        return f"x{number}.{rest}"

    columns = ", ".join(f'{written(name)} AS "{name}"' for name in block.types)
    sources = ", ".join(f"{each.text} AS x{number}" for number, each in enumerate(block.sources))
    equal = [f"{written(each[0])} = {written(name)}" for each in block.classes for name in each[1:]]
    tests = [
        render(
            each.expression.transform(
                lambda node: exp.Identifier(this=written(node.name)) if isinstance(node, exp.Column) else node
            )
        )
        for each in block.tests
    ]
    where = " AND ".join(f"({each})" for each in [*equal, *tests])
    return f"SELECT {columns} FROM {sources}{f' WHERE {where}' if where else ''}"


def parts(block: Block) -> Iterator[tuple[list[int], Block, dict[str, str]]]:
    """The parts that are blocks, and what the columns of their sources are called in them."""
    for mask in range(1, 1 << len(block.sources)):
        numbers = [number for number in range(len(block.sources)) if mask >> number & 1]
        form, names = part_of(block, numbers, last=True).block()
        if isinstance(form, Block):
            yield numbers, form, dict(names)


@given(views(), ROWS, ROWS)
def test_what_parts_say_follows_from_the_block(view: View, r: list[Any], s: list[Any]) -> None:
    found = normal(plain(replace(view, groups=(), calls=()))).form
    if not isinstance(found, Block):
        return
    engine = world(r, s)
    try:
        whole = engine.connection.execute(block_sql(found)).fetchall()
        for numbers, part, names in parts(found):
            places = {name: place for place, name in enumerate(found.types)}
            back = {names[name]: places[name] for name in names if name in places and int(name.partition(".")[0]) in numbers}
            rows = engine.connection.execute(block_sql(part)).fetchall()
            shown = [place for place, name in enumerate(part.types) if name in back]
            kept = {tuple(row[place] for place in shown) for row in rows}
            assert {tuple(row[back[[*part.types][place]]] for place in shown) for row in whole} <= kept
    finally:
        engine.close()


@given(st.data())
def test_a_selection_has_rows_of_the_other_only(data: st.DataObject) -> None:
    view = replace(data.draw(views()), groups=(), calls=())
    other = replace(data.draw(changed(view)), groups=(), calls=())
    one, two = normal(plain(view)).form, normal(plain(other)).form
    if not (isinstance(one, Block) and isinstance(two, Block)) or [s.text for s in one.sources] != [s.text for s in two.sources]:
        return
    engine = world(data.draw(ROWS), data.draw(ROWS))
    try:
        for narrow, wide in ((one, two), (two, one)):
            if is_selection(narrow, wide):
                rows = [Counter(engine.connection.execute(block_sql(each)).fetchall()) for each in (narrow, wide)]
                assert rows[0] <= rows[1]
    finally:
        engine.close()


class _Sizes:
    def table(self, name: str) -> float:
        return 100.0

    def changes(self, occurrence: str, diff_class: Any, split: frozenset[str]) -> float:
        return 1.0


@given(cases(1))
def test_a_dag_of_any_view(case: Case) -> None:
    """Inputs come before what reads them, and have its tables."""
    try:
        root = lowered_of(case.tables, case.sql, None).root
    except IdivmError:  # an order that nothing distinguishes
        return
    dag = build({"one": root, "two": root}, _Sizes())
    assert dag.views["one"] == dag.views["two"] < len(dag.groups)
    for group in dag.groups:
        for each in group.operations:
            assert all(number < group.number for number in each.inputs)
            assert frozenset[str]().union(*(dag.groups[number].tables for number in each.inputs)) == group.tables
