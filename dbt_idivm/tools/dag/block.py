"""A block in normal form: its sources in an order independent of spelling, classes of equal columns, and the remaining tests.

    a.x = b.x AND b.x = c.x        a.x = b.x AND a.x = c.x        one class: a.x, b.x, c.x

A class contains only columns of one type whose equal values are identical, so any member can replace any other in every
expression. A test of one member is then a test of all, and the restriction of a block to some of its sources (`part_of`) has
everything that follows for them, whichever member the query used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, permutations, product
from math import factorial, prod

from sqlglot import exp

from dbt_idivm.algebra.expression_text import column_text, expression_text, negated
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.algebra.types import infer_type
from dbt_idivm.tools.dag.forms import Block, Form, Test, Types, of, source_of

_MOST_ORDERS = 300
Classes = tuple[tuple[str, ...], ...]


def block_of(sources: Sequence[Form], conditions: Iterable[exp.Expr]) -> tuple[Form, Mapping[str, str]]:
    """The block, and the name in it of each column `<source>.<name>`: the first member of its class. A single source without
    conditions is returned unchanged."""
    known = dict(enumerate(sources))
    conditions = [part for each in conditions for part in _parts(each)]
    if len(sources) == 1 and not conditions:
        return sources[0], {of(0, name): name for name in sources[0].types}
    classes, rest = _classes(known, conditions)
    types = {of(number, name): kind for number, each in known.items() for name, kind in each.types.items()}
    tests = tuple(Test(each, not each.find(exp.Column) or _may_fail(each, types)) for each in rest)
    return _arranged(known, classes, tests).block()


def part_of(block: Block, numbers: Iterable[int], *, last: bool = False) -> Arrangement:
    """The restriction of a block to some of its sources. `last`: include the tests that come after all joins."""
    known = {number: block.sources[number] for number in sorted(numbers)}
    classes = tuple(
        inside for each in block.classes if len(inside := tuple(name for name in each if source_of(name)[0] in known)) > 1
    )
    stand_ins = {each[0]: next((name for name in each if source_of(name)[0] in known), "") for each in block.classes}
    tests = []
    for test in block.tests:
        names = {name: stand_ins.get(name) or name for name in test.columns}
        if (last or not test.last) and all(source_of(name)[0] in known for name in names.values()):
            tests.append(test if all(one == other for one, other in names.items()) else test.renamed(names))
    return _arranged(known, classes, tuple(tests))


class Arrangement:
    """Sources of a block in their canonical order. `text` is available before the block is created."""

    def __init__(self, sources: Mapping[int, Form], classes: Classes, tests: Sequence[Test], order: Sequence[int]) -> None:
        self.sources, self.classes, self.tests, self.order = sources, classes, tests, order
        self.symmetries: tuple[tuple[int, ...], ...] = ()
        self.place = {number: place for place, number in enumerate(order)}
        self._first = {name: min(each, key=self._key) for each in classes for name in each}

    def _key(self, name: str) -> tuple[int, str]:
        number, rest = source_of(name)
        return self.place[number], rest

    def name(self, name: str) -> str:
        """The name of a column in the block: the first column of its class."""
        place, rest = self._key(self._first.get(name, name))
        return of(place, rest)

    def conditions(self) -> str:
        classes = sorted("=".join(column_text(of(*key)) for key in sorted(map(self._key, each))) for each in self.classes)
        texts = {_text(test, {name: self.name(name) for name in test.columns}) for test in self.tests}
        return "; ".join([*classes, *sorted(texts)])

    @property
    def text(self) -> str:
        if len(self.order) == 1 and not self.classes and not self.tests:
            return self.sources[self.order[0]].text
        sources = ", ".join(self.sources[number].text for number in self.order)
        return f"⋈[{self.conditions()}]({sources})"

    def block(self) -> tuple[Form, Mapping[str, str]]:
        """The form, and the names of the columns in it."""
        sources = tuple(self.sources[number] for number in self.order)
        if len(sources) == 1 and not self.classes and not self.tests:
            return sources[0], {of(self.order[0], name): name for name in sources[0].types}
        classes = sorted(tuple(of(*key) for key in sorted(map(self._key, each))) for each in self.classes)
        tests: dict[str, Test] = {}
        for test in self.tests:
            names = {name: self.name(name) for name in test.columns}
            tests.setdefault(_text(test, names), test.renamed(names))
        names = {of(number, name): self.name(of(number, name)) for number, each in self.sources.items() for name in each.types}
        written = tuple(self.place[number] for number in sorted(self.order))
        return Block(
            self.text, sources, tuple(classes), tuple(tests[text] for text in sorted(tests)), written, self.symmetries
        ), names


def _text(test: Test, names: Mapping[str, str]) -> str:
    return expression_text(test.expression, names, ordered=test.last)


def _arranged(sources: Mapping[int, Form], classes: Classes, tests: tuple[Test, ...]) -> Arrangement:
    """Arrange sources by their texts; sources with equal texts, such as occurrences of one table, so that the text of the
    conditions is least. If there are too many orders to try, the given order is kept, and the block equals only itself."""
    texts = {number: each.text for number, each in sources.items()}
    ties = _ties(sorted(sources, key=lambda number: (texts[number], number)), texts)
    if len(ties) < len(sources):
        marks = {number: (texts[number], _mark(number, texts, classes, tests)) for number in sources}
        ties = _ties(sorted(sources, key=lambda number: (marks[number], number)), marks)
    if prod(factorial(len(tie)) for tie in ties) > _MOST_ORDERS:
        return Arrangement(sources, classes, tests, [*chain(*ties)])
    return _least([Arrangement(sources, classes, tests, [*chain(*order)]) for order in product(*map(permutations, ties))])


def _least(arrangements: list[Arrangement]) -> Arrangement:
    """The first arrangement with the least text; the others with the same text become its symmetries."""
    if len(arrangements) == 1:
        return arrangements[0]
    texts = [each.conditions() for each in arrangements]
    found, *others = [each for each, text in zip(arrangements, texts, strict=True) if text == min(texts)]
    found.symmetries = tuple(tuple(each.place[number] for number in found.order) for each in others)
    return found


def _ties(ordered: Sequence[int], marks: Mapping[int, object]) -> list[list[int]]:
    return [list(group) for _, group in groupby(ordered, key=lambda number: marks[number])]


def _mark(source: int, texts: Mapping[int, str], classes: Classes, tests: Sequence[Test]) -> list[str]:
    """The conditions on a source, with all other sources represented by their texts only."""

    def name(column: str) -> str:
        number, rest = source_of(column)
        return f"{'me' if number == source else texts[number]}.{rest}"

    shared = {each: f"{{{', '.join(sorted(map(name, members)))}}}" for members in classes for each in members}
    mine = [
        test
        for test in tests
        if any(source_of(each)[0] == source for column in test.columns for each in _class_of(column, classes))
    ]
    found = [_text(test, {each: shared.get(each) or name(each) for each in test.columns}) for test in mine]
    inside = {shared[each] for each in shared if source_of(each)[0] == source}
    return sorted([*found, *inside])


def _class_of(name: str, classes: Classes) -> tuple[str, ...]:
    return next((each for each in classes if name in each), (name,))


def _parts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The conjuncts of a condition. BETWEEN counts as two comparisons, as in Spark."""
    node = condition.unnest()
    if isinstance(node, exp.Not):
        node = negated(node.this.unnest()) or node
    if isinstance(node, exp.And):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif isinstance(node, exp.Between) and not node.args.get("symmetric"):
        yield exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
        yield exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
    elif not (isinstance(node, exp.Boolean) and node.this):
        yield node


# DATE '2024-05-01' + INTERVAL 1 YEAR: it fails either for every row or for none.
_IN_CONSTANTS = (
    exp.Cast,
    exp.Interval,
    exp.Add,
    exp.Sub,
    exp.Neg,
    exp.Paren,
    exp.Literal,
    exp.Var,
    exp.DataType,
    exp.DataTypeParam,
)


def _may_fail(condition: exp.Expr, types: Types) -> bool:
    """Whether the condition may fail for some rows only."""
    constants: dict[str, exp.DataType] = {}

    def replaced(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Cast | exp.Interval | exp.Add | exp.Sub) or not _is_constant(node):
            return node
        name = f"constant {len(constants)}"
        constants[name] = infer_type(node, {})
        return column(name)

    without = condition.transform(replaced)
    return may_raise(without, {**types, **constants})


def _is_constant(node: exp.Expr) -> bool:
    return all(isinstance(each, _IN_CONSTANTS) for each in node.walk())


def _classes(sources: Mapping[int, Form], conditions: Iterable[exp.Expr]) -> tuple[Classes, list[exp.Expr]]:
    """The classes that follow from equalities of two columns, and the other conditions. x = x is one of the latter: it excludes
    NULL."""
    classes: list[set[str]] = []
    rest = []
    for each in conditions:
        pair = _equal(sources, each)
        if pair is None:
            rest.append(each)
            continue
        touched = [known for known in classes if not known.isdisjoint(pair)]
        classes = [*(known for known in classes if known.isdisjoint(pair)), pair.union(*touched)]
    return tuple(tuple(sorted(each)) for each in classes), rest


def _equal(sources: Mapping[int, Form], condition: exp.Expr) -> set[str] | None:
    if not isinstance(condition, exp.EQ):
        return None
    sides = (condition.left.unnest(), condition.right.unnest())
    names = [each.name for each in sides if isinstance(each, exp.Column)]
    if len(set(names)) < 2:
        return None
    kinds = [sources[number].exact(name) for number, name in map(source_of, names)]
    return set(names) if kinds[0] is not None and kinds[0] == kinds[1] else None
