"""Pass 2 and 3: each base i-diff goes up through the rules of the operators above it, to i-diffs of the view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.idiff.idiff import REC, IDiff
from dbt_idivm.idiff.rule import IDiffRule
from dbt_idivm.operators.scan import Scan


@dataclass(frozen=True)
class Firing:
    """A rule that fired: its name, the operator, the kind of the incoming i-diff, and the number of outgoing ones."""

    rule: str
    operator: str
    incoming: str
    outgoing: int


@dataclass(frozen=True)
class Propagation:
    """The i-diffs of the root, and the rules that fired on the way, in order."""

    idiffs: tuple[IDiff, ...]
    firings: tuple[Firing, ...]


def propagate(root: Operator, base: Mapping[str, tuple[IDiff, ...]]) -> Propagation:
    """The naive Δ-script's i-diffs of `root` for the base i-diffs of each occurrence."""
    firings: list[Firing] = []

    def walk(node: Operator) -> tuple[IDiff, ...]:
        if isinstance(node, Scan):
            return base[node.occurrence]
        return tuple(out for side, child in enumerate(node.inputs)
                     for diff in walk(child) for out in apply_rule(node, side, diff, firings))

    return Propagation(walk(root), tuple(firings))


def apply_rule(node: Operator, side: int, diff: IDiff, firings: list[Firing]) -> tuple[IDiff, ...]:
    """The outgoing i-diffs of the one rule of `node` that takes `diff`, which came from input `side`.

    Raises AssertionError for an i-diff that names rows by what operators above need not pass.
    """
    rule = matching_rule(node, side, diff)
    result = rule.build(node, side, diff)
    firings.append(Firing(rule.name, node.label(), str(diff.kind), len(result)))
    for each in result:
        _check_names(node, each)
    return result


# Without it a π above that does not pass the attribute fails with a KeyError, or a view is asked for a column that it lacks.
def _check_names(node: Operator, diff: IDiff) -> None:
    """Rows are named by IDs; those to be recomputed also by what the operator announces."""
    named = {*node.ids, *node.recomputed_by} if diff.kind is REC else {*node.ids}
    if unknown := set(diff.ids) - named:
        raise AssertionError(f"{node.label()} names rows by {sorted(unknown)}, no IDs and not in its recomputed_by: {diff}")


def matching_rule(node: Operator, side: int, diff: IDiff) -> IDiffRule:
    """The rule of `node` whose kind and guard fit; guards are exclusive and exhaustive, so there is exactly one."""
    fitting = [rule for rule in node.RULES if rule.on is diff.kind and rule.when(node, side, diff)]
    if len(fitting) != 1:
        names = [rule.name for rule in fitting]
        raise AssertionError(f"{type(node).__name__} has {names or 'no rule'} for {diff}")
    return fitting[0]
