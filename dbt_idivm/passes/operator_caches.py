"""Operator caches of γ, held in the view itself: what sums, counts and averages need to be maintained by adding.

Per group n = count(*), and for each argument its sum and count(x) (idIVM Tables 9, 11, 12; Table 12 keeps AVG's sum and
count as caches). Only over exact types: a float sum depends on the order of its rows, so its groups are recomputed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, substitute
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import is_integral, is_summable
from dbt_idivm.operators.aggregate import Aggregate, Call
from dbt_idivm.operators.project import Project

_ADDITIVE = frozenset({"sum", "count", "avg"})


@dataclass(frozen=True)
class AdditiveState:
    """The γ at the root of a view, with its state among its calls.

    `rows` is the attribute of count(*); `sums` and `counts` map an argument to the attributes of sum(x) and count(x).
    `outputs` defines each attribute of the view over the attributes of γ.
    """

    aggregate: Aggregate
    rows: str
    sums: tuple[tuple[str, str], ...]
    counts: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, exp.Expr], ...]


def place_operator_caches(root: Operator) -> Operator:
    """`root` with the state of its γ among its attributes; as it is where no additive form exists.

    The state is added if the root is γ under projections only, every aggregate is a sum, count or average without
    DISTINCT over an exact type, and there is no γ below it.
    """
    aggregate = _aggregate(root)
    if aggregate is None or not _is_additive(aggregate):
        return root
    state = _state_calls(aggregate)
    return _with_calls(root, state, tuple(call.name for call in state))


def additive_state(root: Operator) -> AdditiveState | None:
    """The additive state of an ID-extended root that has it; None where a state attribute or the form is missing."""
    aggregate = _aggregate(root)
    if aggregate is None or not _is_additive(aggregate):
        return None
    found = {(call.function, call.argument): call.name for call in aggregate.calls if not call.distinct}
    if any((call.function, call.argument) not in found for call in _state_calls(aggregate)):
        return None
    outputs = _outputs(root)
    held = {definition.name for _, definition in outputs if isinstance(definition, exp.Column)}
    if not held >= {call.name for call in aggregate.calls if call.function != "avg"}:
        return None
    by_function = {function: tuple((argument, name) for (f, argument), name in found.items()
                                   if f == function and argument is not None) for function in ("sum", "count")}
    return AdditiveState(aggregate, found["count", None], by_function["sum"], by_function["count"], outputs)


def _aggregate(root: Operator) -> Aggregate | None:
    while isinstance(root, Project):
        (root,) = root.inputs
    return root if isinstance(root, Aggregate) else None


def _is_additive(aggregate: Aggregate) -> bool:
    types = aggregate.child.types
    for call in aggregate.calls:
        if call.function not in _ADDITIVE or call.distinct:
            return False
        if call.function == "sum" and not is_summable(types[call.argument or ""]):
            return False
        # Integers: Spark divides DOUBLEs, exact below 2^53. A decimal quotient would be rounded twice (docs/adr/0004).
        if call.function == "avg" and not is_integral(types[call.argument or ""]):
            return False
    return bool(aggregate.calls) and not _aggregates(aggregate.inputs[0])


def _aggregates(node: Operator) -> bool:
    """Whether there is a γ: its signed rows are two evaluations, where REC(G) takes one."""
    return isinstance(node, Aggregate) or any(map(_aggregates, node.inputs))


def _state_calls(aggregate: Aggregate) -> tuple[Call, ...]:
    """The calls that the state needs, with the names of those that the view has already."""
    wanted: list[tuple[str, str | None]] = [("count", None)]
    for call in aggregate.calls:
        if call.function in ("sum", "avg"):
            wanted += [("sum", call.argument), ("count", call.argument)]
        elif call.argument is not None:
            wanted.append(("count", call.argument))
    have = {(call.function, call.argument): call for call in aggregate.calls}
    return tuple(have.get(key) or Call(_name(*key), *key) for key in dict.fromkeys(wanted))


def _name(function: str, argument: str | None) -> str:
    return f"{function}__{argument}" if argument else "count__rows"


def _with_calls(node: Operator, calls: tuple[Call, ...], names: tuple[str, ...]) -> Operator:
    """γ with the calls added, and each π above it passing them."""
    if isinstance(node, Aggregate):
        have = {call.name for call in node.calls}
        return replace(node, calls=node.calls + tuple(call for call in calls if call.name not in have))
    assert isinstance(node, Project)
    child = _with_calls(node.inputs[0], calls, names)
    added = tuple((name, column(name)) for name in names if name not in node.columns)
    return replace(node, child=child, definitions=node.definitions + added)


def _outputs(root: Operator) -> tuple[tuple[str, exp.Expr], ...]:
    """Each attribute of the root over the attributes of γ."""
    if not isinstance(root, Project):
        return tuple((name, column(name)) for name in root.columns)
    below = dict(_outputs(root.inputs[0]))
    return tuple((name, substitute(definition, below)) for name, definition in root.definitions)
