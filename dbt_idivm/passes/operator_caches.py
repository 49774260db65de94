"""Operator caches of γ: the calls that its additive rules need, stored in the view itself (idIVM Tables 9, 11, 12).

A call is maintained by adding to its stored value. So it is stored even if the view only shows it inside expressions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, passing, substitute
from dbt_idivm.algebra.operator import Operator, operators_of
from dbt_idivm.operators.additive import AdditiveRule, Extreme, additive_calls, additive_rule
from dbt_idivm.operators.aggregate import Aggregate, Call
from dbt_idivm.operators.project import split_projections


@dataclass(frozen=True)
class AdditiveState:
    """The γ at the root of a view, with its operator caches among its calls.

    `calls` are its calls with their rules; caches of a call come before the call. `rows` is the attribute of count(*).
    `outputs` defines each attribute of the view over the attributes of γ.
    """

    aggregate: Aggregate
    calls: tuple[tuple[AdditiveRule, Call], ...]
    rows: str
    outputs: tuple[tuple[str, exp.Expr], ...]

    @property
    def extremes(self) -> tuple[tuple[Extreme, Call], ...]:
        """The calls that are minima or maxima, with their `Extreme`."""
        return tuple((rule.extreme, call) for rule, call in self.calls if rule.extreme is not None)


def place_operator_caches(root: Operator) -> Operator:
    """`root` with the operator caches of its γ in its output; unchanged if it has no additive form.

    It has one if the root is a γ under projections only, each of its calls has an additive rule, and there is no other γ below.
    """
    aggregate = _aggregate(root)
    if aggregate is None or not _is_additive(aggregate):
        return root
    caches = _caches(aggregate)
    return _with_calls(root, aggregate, caches)


def additive_state(root: Operator) -> AdditiveState | None:
    """The additive state of an ID-extended root; None if it has no additive form or does not store all caches."""
    aggregate = _aggregate(root)
    if aggregate is None or not _is_additive(aggregate):
        return None
    caches, outputs = _caches(aggregate), _outputs(root)
    held = {name for name, definition in outputs if isinstance(definition, exp.Column) and definition.name == name}
    if not set(caches) <= set(aggregate.calls) or not held >= {call.name for call in caches}:
        return None
    rows = next(call.name for call in aggregate.calls if call.function == "count" and call.argument is None)
    return AdditiveState(aggregate, additive_calls(aggregate), rows, outputs)


def _aggregate(root: Operator) -> Aggregate | None:
    _, below = split_projections(root)
    return below if isinstance(below, Aggregate) else None


def _is_additive(aggregate: Aggregate) -> bool:
    if any(additive_rule(aggregate, call) is None for call in aggregate.calls):
        return False
    # the signed rows of a γ below would need two evaluations, REC(G) needs one
    return bool(aggregate.calls) and not any(operators_of(aggregate.child, Aggregate))


def _caches(aggregate: Aggregate) -> tuple[Call, ...]:
    """The calls that must be stored for the rules, under the name of the view's own call if it has the same one.

    They include every call that is maintained by adding, even one that is not itself in the select
    list, as in `SELECT g, round(sum(x), 2)`.
    """
    wanted: list[tuple[str, str | None]] = [("count", None)]
    added_to = []
    for call in aggregate.calls:
        rule = additive_rule(aggregate, call)
        assert rule is not None
        wanted += [(function, call.argument) for function in rule.caches]
        added_to += [call] if rule.delta is not None else []
    have = {(call.function, call.argument): call for call in aggregate.calls}
    return tuple(dict.fromkeys((*(have.get(key) or Call.of(_name(*key), *key) for key in wanted), *added_to)))


def _name(function: str, argument: str | None) -> str:
    return f"{function}__{argument}" if argument else "count__rows"


def _with_calls(root: Operator, aggregate: Aggregate, calls: tuple[Call, ...]) -> Operator:
    """The tree with `calls` added to γ and passed through each π above it."""
    have = {call.name for call in aggregate.calls}
    node: Operator = replace(aggregate, calls=aggregate.calls + tuple(call for call in calls if call.name not in have))
    for each in reversed(split_projections(root)[0]):
        added = tuple((call.name, column(call.name)) for call in calls if call.name not in each.columns)
        node = replace(each, child=node, definitions=each.definitions + added)
    return node


def _outputs(root: Operator) -> tuple[tuple[str, exp.Expr], ...]:
    """(attribute of the root, its definition over the attributes of γ)."""
    projections, below = split_projections(root)
    found = passing(below.columns)
    for each in reversed(projections):
        known = dict(found)
        found = tuple((name, substitute(definition, known)) for name, definition in each.definitions)
    return found
