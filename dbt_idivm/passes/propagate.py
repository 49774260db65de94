"""Passes 2 and 3: each base i-diff is propagated through the rules of the operators above it, up to i-diffs of the view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbt_idivm.algebra.bags import Concat, Distinct
from dbt_idivm.algebra.core import project
from dbt_idivm.algebra.lookups import Touched
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.idiff.build import united
from dbt_idivm.idiff.idiff import INS, REC, IDiff
from dbt_idivm.idiff.rule import IDiffRule
from dbt_idivm.operators.scan import Scan, scans

LONGEST_IDIFFS = 2_000  # limit on the nodes of one operator's i-diffs; twenty joins, windows or aggregates need a thousand


@dataclass(frozen=True)
class Firing:
    """One application of a rule: its name, the operator, the kind of the incoming i-diff, and the number of outgoing i-diffs."""

    rule: str
    operator: str
    incoming: str
    outgoing: int


@dataclass(frozen=True)
class Propagation:
    """The i-diffs of the root, and the rules that were applied on the way, in order."""

    idiffs: tuple[IDiff, ...]
    firings: tuple[Firing, ...]


def propagate(root: Operator, base: Mapping[str, tuple[IDiff, ...]]) -> Propagation:
    """Propagate the base i-diffs of each occurrence to `root`. The result is the naive Δ-script."""
    firings: list[Firing] = []
    lengths = _Lengths()

    def walk(node: Operator) -> tuple[IDiff, ...]:
        if isinstance(node, Scan):
            return base[node.occurrence]
        found = tuple(
            out for side, child in enumerate(node.inputs) for diff in walk(child) for out in apply_rule(node, side, diff, firings)
        )
        below = [diff for scan in scans(node) for diff in base[scan.occurrence]]
        return _within_limit(united(found, lambda diff: diff.kind is REC and not diff.known), below, lengths)

    return Propagation(walk(root), tuple(firings))


# Without it, each FULL JOIN of a chain would triple the length of the i-diffs: it looks up, in two states, the partners of the
# rows that the one below touches.
def _within_limit(idiffs: tuple[IDiff, ...], below: Sequence[IDiff], lengths: _Lengths) -> tuple[IDiff, ...]:
    """The i-diffs of one operator, with the longest replaced if they exceed the limit.

    They are replaced by one REC without IDs: it recomputes all rows if any base i-diff that they come from has rows. `below`:
    all base i-diffs below the operator.
    """
    total, kept = 0, set[int]()
    for diff in sorted(idiffs, key=lambda diff: lengths.of(diff.relation)):
        total += lengths.of(diff.relation)
        if total > LONGEST_IDIFFS:
            break
        kept.add(id(diff))
    if len(kept) == len(idiffs):
        return idiffs
    origins = frozenset(origin for diff in idiffs if id(diff) not in kept for origin in diff.origins)
    changes = tuple(project(diff.relation, ()) for diff in below if diff.origins <= origins)
    every = IDiff(REC, (), (), (), Distinct(Concat(changes)), origins)
    return (*(diff for diff in idiffs if id(diff) in kept), every)


class _Lengths:
    """The numbers of nodes of relations, counted once for each: those of an operator contain those of its inputs."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Relation, int]] = {}  # keeps the node, so that its id stays unique

    def of(self, node: Relation) -> int:
        """The number of nodes. The source of a look-up counts only if the i-diff does not carry the values itself."""
        known = self._known.get(id(node))
        if known is None:
            is_carried = isinstance(node, Touched) and {*node.wanted} <= {*node.delta.columns}
            counted = node.children[:1] if is_carried else node.children
            known = self._known[id(node)] = (node, 1 + sum(map(self.of, counted)))
        return known[1]


def apply_rule(node: Operator, side: int, diff: IDiff, firings: list[Firing]) -> tuple[IDiff, ...]:
    """The outgoing i-diffs of the one rule of `node` that accepts `diff`, which comes from input `side`.

    Raises AssertionError if an outgoing i-diff identifies rows by attributes that operators above need not pass.
    """
    rule = matching_rule(node, side, diff)
    result = rule.build(node, side, diff)
    firings.append(Firing(rule.name, node.label(), str(diff.kind), len(result)))
    for each in result:
        _check_names(node, each)
    return result


# Without it, a π above that does not pass the attribute fails with a KeyError, or the statement reads a column that the view
# lacks.
def _check_names(node: Operator, diff: IDiff) -> None:
    """INS must identify rows by IDs; other i-diffs may also use the `named_by` attributes of the operator."""
    named = {*node.ids} if diff.kind is INS else {*node.ids, *node.named_by}
    if unknown := set(diff.ids) - named:
        raise AssertionError(f"{node.label()} names rows by {sorted(unknown)}, no IDs and not in its named_by: {diff}")


def matching_rule(node: Operator, side: int, diff: IDiff) -> IDiffRule:
    """The rule of `node` for the kind of `diff` whose guard holds. Guards are exclusive
    and exhaustive, so there is exactly one.
    """
    fitting = [rule for rule in node.RULES if rule.on is diff.kind and rule.when(node, side, diff)]
    if len(fitting) != 1:
        names = [rule.name for rule in fitting]
        raise AssertionError(f"{type(node).__name__} has {names or 'no rule'} for {diff}")
    return fitting[0]
