"""Rows and work of a tree of joins, conditions and unions, in the order of execution instead of the order in the text.

`FROM a, b, c WHERE ..` is a condition over products in the plan, but no engine computes these products: it applies a condition as
soon as its attributes are available, and joins next what a condition connects. So the tree is decomposed into products of leaves,
one for each branch of its unions, and each product is joined greedily.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.cardinality import Cardinality, united
from dbt_idivm.algebra.core import Compute, Filter, Pair, Probe, SemiJoin
from dbt_idivm.algebra.expressions import attributes, column, conjuncts
from dbt_idivm.algebra.lookups import Touched
from dbt_idivm.algebra.relation import Relation

_TAKEN_APART = (Compute, Concat, Filter, Pair, Probe, SemiJoin, Touched)
_MOST = 64  # products; a tree with more of them is not decomposed below its joins
Names = Mapping[str, str | None]  # attribute of a node → the leaf's attribute with its value; None if it is computed
Test = tuple[exp.Expr, frozenset[str]]  # a condition over leaves' attributes, and these attributes


@dataclass(frozen=True)
class _Product:
    """Numbers of leaves, conditions on combinations of their rows, subsequent ⋉ and ▷, and the names of the result."""

    leaves: tuple[int, ...]
    tests: tuple[Test, ...]
    steps: tuple[_Step, ...]
    names: Names


@dataclass(frozen=True)
class _Step:
    """A ⋉ or ▷ with a leaf: on equal attributes `on`, or by a `condition`."""

    leaf: int
    on: tuple[str, ...] | None
    condition: exp.Expr
    anti: bool

    def applied(self, rows: Cardinality, columns: frozenset[str], keys: Cardinality, theirs: Sequence[str]) -> Cardinality:
        if self.on is not None:
            return rows.kept(keys, self.on, anti=self.anti)
        return rows.probed(keys, self.condition, columns, theirs, anti=self.anti)


@dataclass
class Tree:
    """A decomposed tree: its leaves in order, the number of nodes above them, and the products whose union it is."""

    leaves: list[Relation] = field(default_factory=list)
    nodes: int = 0
    products: list[_Product] = field(default_factory=list)

    def rows(self, known: Sequence[Cardinality]) -> tuple[Cardinality, float]:
        """The rows of the result, and the number of tuples that its operators take in. `known`: the rows of each leaf."""
        found = [self._product(each, known) for each in self.products]
        return united(rows for rows, _ in found), sum(tuples for _, tuples in found)

    def _product(self, product: _Product, known: Sequence[Cardinality]) -> tuple[Cardinality, float]:
        tests, steps = list(product.tests), list(product.steps)
        tuples = 0.0
        parts = []
        for number in product.leaves:
            part, filtering = _filtered(Part(known[number], frozenset(self.leaves[number].columns)), tests)
            tuples += filtering
            for step in [step for step in steps if step.on and part.columns.issuperset(step.on)]:
                tuples += part.rows.rows + known[step.leaf].rows
                part = Part(part.rows.kept(known[step.leaf], step.on or (), anti=step.anti), part.columns)
                steps.remove(step)
            parts.append(part)
        now, joining = _in_best_order(parts, tests)
        tuples += joining
        for step in steps:
            tuples += now.rows.rows + known[step.leaf].rows
            rows = step.applied(now.rows, now.columns, known[step.leaf], self.leaves[step.leaf].columns)
            now = Part(rows, now.columns)
        sources = {name: leaf for name, leaf in product.names.items() if leaf is not None}
        return now.rows.computed(sources), tuples + now.rows.rows


def taken_apart(relation: Relation) -> Tree | None:
    """Decompose joins, conditions, projections and unions down to other relations, the leaves. None if `relation` is none of
    these."""
    if not isinstance(relation, _TAKEN_APART):
        return None
    tree = Tree()
    tree.products = _products(relation, tree)
    return tree


def _products(node: Relation, tree: Tree) -> list[_Product]:
    if isinstance(node, Touched):
        return _products(node.look_up(), tree)
    if not isinstance(node, _TAKEN_APART):
        return [_leaf(node, tree)]
    tree.nodes += 1
    if isinstance(node, Concat):
        return [each for part in node.parts for each in _products(part, tree)]
    if isinstance(node, Pair):
        left, right = (_products(side, tree) for side in node.children)
        if len(left) * len(right) > _MOST:
            return [_leaf(node, tree)]
        return [_tested(_times(one, other), node.condition) for one in left for other in right]
    found = _products(node.children[0], tree)
    if isinstance(node, Filter):
        return [_tested(each, node.condition) for each in found]
    if isinstance(node, Compute):
        return [
            _Product(
                each.leaves,
                each.tests,
                each.steps,
                {
                    name: each.names.get(source.name) if isinstance(source, exp.Column) else None
                    for name, source in node.definitions
                },
            )
            for each in found
        ]
    return [_with_step(each, node, tree) for each in found]


def _leaf(node: Relation, tree: Tree) -> _Product:
    tree.leaves.append(node)
    return _Product((len(tree.leaves) - 1,), (), (), {name: name for name in node.columns})


def _times(one: _Product, other: _Product) -> _Product:
    return _Product(one.leaves + other.leaves, one.tests + other.tests, one.steps + other.steps, {**one.names, **other.names})


def _tested(product: _Product, condition: exp.Expr) -> _Product:
    """Add a condition. Conjuncts over computed attributes only count as some condition."""
    tests = [_over_leaves(part, product.names) for part in conjuncts(condition.unnest())]
    return _Product(product.leaves, (*product.tests, *tests), product.steps, product.names)


def _over_leaves(condition: exp.Expr, names: Names) -> Test:
    used = attributes(condition)
    leaves = [names.get(name) for name in used]
    if any(leaf is None for leaf in leaves):
        everything = frozenset(leaf for leaf in names.values() if leaf is not None)
        return exp.Is(this=exp.null(), expression=exp.null()), everything
    if list(used) != leaves:
        condition = condition.transform(lambda node: column(names[node.name] or "") if isinstance(node, exp.Column) else node)
    return condition, frozenset(leaf for leaf in leaves if leaf is not None)


def _with_step(product: _Product, node: Relation, tree: Tree) -> _Product:
    """Append a ⋉ or ▷."""
    assert isinstance(node, SemiJoin | Probe)
    keys = node.keys if isinstance(node, SemiJoin) else node.right
    number = _leaf(keys, tree).leaves[0]
    if isinstance(node, SemiJoin):
        on = tuple(product.names.get(name) or name for name in node.on)
        step = _Step(number, on, exp.true(), node.anti)
    else:
        names = {**{name: name for name in keys.columns}, **product.names}
        step = _Step(number, None, _over_leaves(node.condition, names)[0], node.anti)
    return _Product(product.leaves, product.tests, (*product.steps, step), product.names)


@dataclass(frozen=True)
class Part:
    """A join's input, or the join of some inputs: its rows and its columns."""

    rows: Cardinality
    columns: frozenset[str]


def joined(inputs: Sequence[Part], conditions: Iterable[exp.Expr]) -> Cardinality:
    """The rows of the join of all inputs on all conditions, each of which is applied as soon as its attributes are available."""
    tests: list[Test] = [(each, frozenset(attributes(each))) for each in conditions]
    return _in_best_order([_filtered(each, tests)[0] for each in inputs], tests)[0].rows


def _filtered(part: Part, tests: list[Test]) -> tuple[Part, float]:
    """The part's rows that satisfy the conditions over it, which are removed from the list; and the number of tuples taken in."""
    own = _taken(tests, part.columns)
    rows = part.rows
    for condition in own:
        rows = rows.filtered(condition)
    return Part(rows, part.columns), part.rows.rows if own else 0.0


def _in_best_order(parts: list[Part], tests: list[Test]) -> tuple[Part, float]:
    """Join all parts, starting with the smallest; next comes the part connected by a condition that gives the fewest rows.
    Returns the join, a single row if there are no parts, and the number of tuples taken in."""
    now = min(parts, key=lambda part: part.rows.rows, default=Part(Cardinality(1.0), frozenset()))
    rest = [part for part in parts if part is not now]
    tuples = 0.0
    while rest:
        pairs = [(part, _pair(tests, now, part)) for part in rest]
        part, pair = min(pairs, key=lambda each: (not each[1][1], each[1][0].rows.rows))
        rest.remove(part)
        tuples += now.rows.rows + part.rows.rows
        now = pair[0]
        _taken(tests, now.columns)
    for condition, _ in tests:
        now = Part(now.rows.filtered(condition), now.columns)
    return now, tuples


def _pair(tests: Sequence[Test], one: Part, other: Part) -> tuple[Part, bool]:
    """The join of two parts on all conditions over both, and whether there is any."""
    both = one.columns | other.columns
    found = [test for test, names in tests if names <= both]
    return Part(one.rows.paired(other.rows, found, one.columns, other.columns), both), bool(found)


def _taken(tests: list[Test], columns: frozenset[str]) -> list[exp.Expr]:
    """Remove the conditions over these columns from the list, and return them."""
    found = [test for test, names in tests if names <= columns]
    tests[:] = [each for each in tests if not each[1] <= columns]
    return found
