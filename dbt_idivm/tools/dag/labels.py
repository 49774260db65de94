"""Labels of operations for people: `σ orders.price > 5`, `⋈ orders.cid = customers.cid`, `γ customers.region; SUM(price)`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, render
from dbt_idivm.relation_name import name_parts
from dbt_idivm.tools.dag.forms import Block, Form, Grouping, Other, Table, Test, source_of
from dbt_idivm.tools.dag.subsumption import combined

_SYMBOLS = {"SemiAntiJoin": "⋉", "UnionAll": "∪", "OuterJoin": "⟕", "Window": "ω", "Unnest": "μ"}


def selection(block: Block, classes: Iterable[Sequence[str]], tests: Iterable[Test]) -> str:
    """σ with these conditions of a block."""
    return f"σ {' AND '.join(_conditions(block, classes, tests)) or 'TRUE'}"


def joining(block: Block, one: int, other: int) -> str:
    """⋈ of two parts of a block (bit sets of sources), with the conditions that involve both."""

    def sides(names: Iterable[str]) -> tuple[bool, bool, bool]:
        masks = [1 << source_of(name)[0] for name in names]
        return any(mask & one for mask in masks), any(mask & other for mask in masks), all(mask & (one | other) for mask in masks)

    pairs = []
    for each in block.classes:
        mine = [name for name in each if 1 << source_of(name)[0] & one]
        theirs = [name for name in each if 1 << source_of(name)[0] & other]
        pairs += [(mine[0], theirs[0])] if mine and theirs else []
    tests = [test for test in block.tests if not test.last and sides(test.columns) == (True, True, True)]
    return f"⋈ {' AND '.join(_conditions(block, pairs, tests)) or 'TRUE'}"


def grouping(form: Grouping) -> str:
    groups, calls = (", ".join(written(each, form.input) for each in some) for some in (form.groups, form.calls))
    return f"γ {groups or '()'}{'; ' if calls else ''}{calls}"


def combining(form: Grouping, fine: Grouping) -> str:
    """γ over a finer γ; a projection if the groups are the same."""
    if len(form.groups) == len(fine.groups):
        return f"π{grouping(form)[1:]}"
    groups = ", ".join(written(each, form.input) for each in form.groups)
    calls = ", ".join(combined(each, has_groups=bool(form.groups)) for each in form.calls)
    return f"γ {groups or '()'}{'; ' if calls else ''}{calls}"


def _conditions(block: Block, classes: Iterable[Sequence[str]], tests: Iterable[Test]) -> list[str]:
    equal = [f"{shown(block, each[0])} = {shown(block, name)}" for each in classes for name in each[1:]]
    return [*equal, *(written(test.expression, block) for test in tests)]


def written(expression: exp.Expr, form: Form) -> str:
    """An expression over a form's columns, as text."""
    return render(
        expression.transform(lambda node: exp.Var(this=shown(form, node.name)) if isinstance(node, exp.Column) else node)
    )


def shown(form: Form, name: str) -> str:
    """A column of a form, as text: qualified by its table, or as the expression that computes it."""
    if isinstance(form, Table):
        return _written(name)
    if isinstance(form, Block):
        number, rest = source_of(name)
        return f"{_title(form, number)}{shown(form.sources[number], rest)}"
    if isinstance(form, Grouping) and name[1:].isdigit():
        return written((form.groups if name[0] == "g" else form.calls)[int(name[1:])], form.input)
    if isinstance(form, Other) and name not in form.columns.values():
        number, rest = source_of(name)
        below = form.inputs[number]
        return f"{_name(below)}.{shown(below, rest)}" if isinstance(below, Table) else shown(below, rest)
    return f"{_SYMBOLS.get(type(form.node).__name__, '?')} {name}" if isinstance(form, Other) else name


@cache
def _written(name: str) -> str:
    return render(column(name))


def _title(block: Block, number: int) -> str:
    """The name of a source as a prefix of its columns, numbered among the occurrences of one table."""
    source = block.sources[number]
    if not isinstance(source, Table):
        return ""
    alike = [place for place, each in enumerate(block.sources) if each.text == source.text]
    return f"{_name(source)}{f'_{alike.index(number) + 1}' if number != alike[0] else ''}."


def _name(table: Table) -> str:
    return name_parts(table.text)[-1]
