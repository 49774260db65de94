"""Convert operator trees to normal forms: views that read the same rows have the same form, however they are spelled.

    SELECT o.id, o.price * 2 AS p FROM orders AS o, customers AS c WHERE c.region = 'EU' AND o.cid = c.cid
    WITH eu AS (SELECT * FROM customers WHERE 'EU' = region) SELECT x.id FROM eu JOIN orders AS x USING (cid)

Joins, selections and projections are flattened into one block. Names that a projection computes are replaced by their expressions
where they are read, and are not part of the form (Mistry et al. 2001, §4.2, unify the DAG of the views in the same way). An
operator of any other kind is a form of its own over the forms of its inputs, and a source of the block around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.expression_text import text_of
from dbt_idivm.algebra.expressions import attributes, column, conjuncts, substitute
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.operators import (
    Aggregate,
    LookUpJoin,
    OuterJoin,
    Scan,
    SemiAntiJoin,
    UnionAll,
    Unnest,
    Window,
)
from dbt_idivm.passes.inner_joins import to_inner_joins
from dbt_idivm.passes.query_graph import Definitions, query_graph
from dbt_idivm.tools.dag.block import block_of
from dbt_idivm.tools.dag.forms import Block, Form, Grouping, Other, Table, Types, of, renamed


@dataclass(frozen=True)
class Normal:
    """An operator's form, and the definitions of its attributes over the columns of the form."""

    form: Form
    names: Definitions


def normal_form(root: Operator) -> Normal:
    """The normal form of a view as the front end returns it, before IDs are inferred."""
    return _normal(to_inner_joins(root))


def _normal(node: Operator) -> Normal:
    graph = query_graph(node)
    sources = tuple(map(_source, graph.sources))
    known = _below(sources)
    assert len(known) == sum(len(each.names) for each in sources), "two sources have an attribute of the same name"
    form, names = block_of([each.form for each in sources], [substitute(each, known) for each in graph.conditions])
    return Normal(form, {name: renamed(substitute(each, known), names) for name, each in graph.names.items()})


def _prefixed(expression: exp.Expr, number: int) -> exp.Expr:
    return renamed(expression, {name: of(number, name) for name in attributes(expression)})


def _source(node: Operator) -> Normal:
    """The form of an operator that is a source of blocks."""
    return MAKERS[type(node)](node, tuple(_normal(each) for each in node.inputs))


def _table(node: Scan, inputs: tuple[Normal, ...]) -> Normal:
    table = Table(node.table, node)
    return Normal(table, {attribute: column(name) for name, attribute in table.names.items()})


def _grouping(node: Aggregate, inputs: tuple[Normal, ...]) -> Normal:
    (below,) = inputs
    groups = {name: below.names[name] for name in node.groups}
    calls = {call.name: substitute(call.value, below.names) for call in node.calls}
    known, columns, parts = min((_named(*each) for each in _spellings(groups, calls, below.form)), key=lambda each: each[2])
    certain = node.certain_types
    form = Grouping(
        f"γ[{'; '.join(parts)}]({below.form.text})",
        below.form,
        _in_order(known, "g"),
        _in_order(known, "c"),
        {columns[name]: node.types[name] for name in node.columns},
        {columns[name]: certain[name] for name in node.columns if name in certain},
    )
    return Normal(form, {name: column(columns[name]) for name in node.columns})


def _named(groups: Definitions, calls: Definitions) -> tuple[Definitions, dict[str, str], list[str]]:
    """The columns of a γ, attribute → column, and the parts of its text: groups and calls, ordered by their texts."""
    columns, parts = {}, []
    for letter, wanted in (("g", groups), ("c", calls)):
        texts = {name: text_of(each) for name, each in wanted.items()}
        ordered = sorted(set(texts.values()))
        columns.update({name: f"{letter}{ordered.index(text)}" for name, text in texts.items()})
        parts.append(", ".join(ordered))
    return {columns[name]: each for name, each in [*groups.items(), *calls.items()]}, columns, parts


def _spellings(groups: Definitions, calls: Definitions, below: Form) -> Iterator[tuple[Definitions, Definitions]]:
    """Equivalent spellings: in r AS a, r AS b, if nothing distinguishes the two, groups of a are the same as groups of b."""
    yield groups, calls
    if not isinstance(below, Block):
        return
    for order in below.symmetries:
        names = {
            of(number, name): below.first(of(order[number], name))
            for number, each in enumerate(below.sources)
            for name in each.types
        }
        turned, called = ({name: renamed(each, names) for name, each in some.items()} for some in (groups, calls))
        yield turned, called


def _in_order(known: Definitions, letter: str) -> tuple[exp.Expr, ...]:
    return tuple(known[name] for name in sorted((each for each in known if each[0] == letter), key=lambda each: int(each[1:])))


# --- other operators: their own part, besides their inputs, and the names of their attributes ---


def _other(
    node: Operator,
    inputs: tuple[Normal, ...],
    content: Iterable[str],
    passed: Definitions,
    own: Mapping[str, str],
    reads: Iterable[exp.Expr],
) -> Normal:
    """The form of an operator. `content`: texts of its own parts. `own`: attribute → column of the form, which is part of its
    text. `passed`: definitions of the other attributes. `reads`: expressions over the numbered columns of the inputs that
    determine the rows and the own columns."""
    parts = "; ".join([*content, ", ".join(sorted(set(own.values())))])
    forms = tuple(each.form for each in inputs)
    text = f"{type(node).__name__}[{parts}]({', '.join(each.text for each in forms)})"
    read = {name for each in reads for name in attributes(each)}
    below = tuple(frozenset(name for name in each.types if of(number, name) in read) for number, each in enumerate(forms))
    form = Other(text, node, forms, tuple(each.names for each in inputs), own, below)
    return Normal(form, {**passed, **{name: column(each) for name, each in own.items()}})


def _conditions(condition: exp.Expr, names: Definitions, types: Types) -> list[str]:
    """The conjuncts as texts. They keep their order if one of them may fail for rows that another one excludes."""
    texts = [text_of(substitute(each, names)) for each in conjuncts(condition.unnest())]
    return texts if may_raise(condition, types) else sorted(set(texts))


def _below(inputs: tuple[Normal, ...]) -> Definitions:
    return {name: _prefixed(each, number) for number, side in enumerate(inputs) for name, each in side.names.items()}


# A value computed below the padded side is NULL in padded rows, even coalesce(y, 0), so it is a column of its own.
def _outer_join(node: OuterJoin, inputs: tuple[Normal, ...]) -> Normal:
    names = _below(inputs)
    padded = {name for side in node.padded for name in node.inputs[side].columns}
    own = {
        name: f"{side}:{text_of(names[name])}"
        for side in node.padded
        for name in node.inputs[side].columns
        if not isinstance(names[name], exp.Column)
    }
    own.update({name: f"m{number}" for number, name in enumerate(node.marks if node.marked else ())})
    types = {**node.left.types, **node.right.types}
    content = ["full" if node.full else "left", *_conditions(node.condition, names, types)]
    passed = {name: each for name, each in names.items() if name not in own}
    reads = [substitute(node.condition, names), *(names[name] for name in own if name in padded)]
    return _other(node, inputs, content, passed, own, reads)


def _semijoin(node: SemiAntiJoin, inputs: tuple[Normal, ...]) -> Normal:
    names = _below(inputs)
    types = {**node.left.types, **node.right.types}
    content = ["anti" if node.anti else "semi", *_conditions(node.condition, names, types)]
    return _other(
        node, inputs, content, {name: names[name] for name in node.left.columns}, {}, [substitute(node.condition, names)]
    )


def _union(node: UnionAll, inputs: tuple[Normal, ...]) -> Normal:
    names = _below(inputs)
    null = exp.null()
    below = {
        output: [names[name] if (name := sources[place]) is not None else null for sources in node.sources]
        for place, output in enumerate(node.outputs)
    }
    own = {output: f"({', '.join(map(text_of, each))})" for output, each in below.items()}
    return _other(node, inputs, [], {}, {**own, node.branch: "branch"}, [each for values in below.values() for each in values])


def _window(node: Window, inputs: tuple[Normal, ...]) -> Normal:
    names = _below(inputs)
    own, reads = {}, [names[name] for name in node.partition]
    for call in node.calls:
        parts = [substitute(each, names) for each in call.expressions]
        frame = text_of(call.frame) if call.frame is not None else ""
        own[call.name] = f"{', '.join(map(text_of, parts))}, {frame}: {call.kind.sql('spark')}"
        reads += parts
    partition = sorted({text_of(names[name]) for name in node.partition})
    return _other(node, inputs, [", ".join(partition)], {name: names[name] for name in node.child.columns}, own, reads)


def _unnest(node: Unnest, inputs: tuple[Normal, ...]) -> Normal:
    names = _below(inputs)
    collection = substitute(node.collection, names)
    own = {node.place: "place", **{name: f"e{number}" for number, name in enumerate(node.elements)}}
    content = ["outer" if node.outer else "inner", text_of(collection)]
    return _other(node, inputs, content, {name: names[name] for name in node.child.columns}, own, [collection])


# For each class that can be a source of a block (`tests/unit/test_closed_algebra.py`): the form over those of the inputs.
MAKERS: Mapping[type[Operator], Callable[..., Normal]] = {
    Scan: _table,
    Aggregate: _grouping,
    OuterJoin: _outer_join,
    LookUpJoin: _outer_join,
    SemiAntiJoin: _semijoin,
    UnionAll: _union,
    Window: _window,
    Unnest: _unnest,
}
