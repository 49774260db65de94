"""UNION, INTERSECT and EXCEPT, and the rows of VALUES → ∪, ⋉, ▷, γ, with branches cast to the types of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, conjunction, same
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import Place, finding
from dbt_idivm.frontend.coercion import UntypedUnion, check, coerced, needs_types
from dbt_idivm.frontend.copies import copies_left
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.scope import Scope
from dbt_idivm.frontend.types import incomparable_attributes
from dbt_idivm.operators import Aggregate, SemiAntiJoin, UnionAll

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering, Rows


def set_operation(lowering: Lowering, node: exp.SetOperation, env: Env, name: str) -> tuple[Operator, Scope]:
    """UNION ALL is ∪, INTERSECT is ⋉ on equal columns, EXCEPT is ▷. DISTINCT adds γ without aggregates.

    INTERSECT ALL and EXCEPT ALL count the copies of a row on both sides.
    """
    before = lowering.uncast
    branches = [lowering.query(branch, env, name) for branch in _branches(node)]
    first, word = branches[0], _word(node)
    place = env.text.place(node.expression, word, "MINUS")
    for branch in branches[1:]:
        widths = len(first.scope.entries), len(branch.scope.entries)
        if widths[0] != widths[1]:
            lowering.findings.append(finding(227, place, operation=word, left=widths[0], right=widths[1]))
            return first.root, first.scope
    united, outputs = united_all(lowering, branches, place, name, later=lowering.uncast > before)
    root: Operator = united
    if not isinstance(node, exp.Union) and not node.args.get("distinct"):
        lowering.findings += incomparable_attributes(outputs, united, place, word)
        root = copies_left(united, lowering.names, name, common=isinstance(node, exp.Intersect))
    elif not isinstance(node, exp.Union):
        # the branches were cast as for UNION ALL
        left, right = united.inputs
        lowering.uncast += lowering.unions in lowering.untyped_unions or lowering.uncast > before
        outputs, others = cast("tuple[tuple[str, ...], tuple[str, ...]]", united.sources)
        lowering.findings += incomparable_attributes(others, right, place, word)
        equal = conjunction(same(column(one), column(other)) for one, other in zip(outputs, others, strict=True))
        root = SemiAntiJoin(left, right, cast(exp.Expr, equal), anti=isinstance(node, exp.Except))
    if node.args.get("distinct"):
        lowering.findings += incomparable_attributes(outputs, root, place, word)
        root = Aggregate(root, tuple(dict.fromkeys(outputs)), ())
    entries = zip(first.scope.entries, outputs, strict=True)
    return root, Scope(tuple(replace(entry, attribute=output) for entry, output in entries))


def united_all(
    lowering: Lowering, branches: Sequence[Rows], place: Place | None, name: str, *, at_once: bool = False, later: bool = False
) -> tuple[UnionAll, tuple[str, ...]]:
    """(∪ of branches of equal width, each cast to the types of the result if these are known; its outputs).

    `at_once`: the branches are rows of VALUES. `later`: types are not asked for yet, because those of a branch will change.
    """
    entries = branches[0].scope.entries
    union = lowering.names.union(name)
    outputs = tuple(lowering.names.attribute(union, entry.name) for entry in entries)
    parts = [(branch.root, tuple(entry.attribute for entry in branch.scope.entries)) for branch in branches]
    number = lowering.unions = lowering.unions + 1
    types = lowering.catalog.unions.get(number)
    if types is not None:
        word = "VALUES" if at_once else "a UNION"
        lowering.findings += [finding(228, place, what=f"{word} of different types: {kind}") for kind in types.unreadable]
        parts = [
            coerced(root, sources, types.casts(number), union, lowering.names) for number, (root, sources) in enumerate(parts)
        ]
    root = UnionAll(tuple(part for part, _ in parts), union, outputs, tuple(sources for _, sources in parts))
    if types is not None:
        check(root, types)
    elif not later and needs_types(root):
        lowering.untyped_unions[number] = UntypedUnion(root, at_once)
    return root, outputs


def _word(node: exp.SetOperation) -> str:
    return "UNION" if isinstance(node, exp.Union) else "INTERSECT" if isinstance(node, exp.Intersect) else "EXCEPT"


def _branches(node: exp.SetOperation) -> list[exp.Expr]:
    """The branches of a left-deep chain of UNION ALLs; two branches for any other operation."""
    left = node.this
    plain = all(isinstance(each, exp.Union) and not each.args.get("distinct") for each in (node, left))
    if plain and not left.args.get("with_"):
        return [*_branches(left), node.expression]
    return [left, node.expression]
