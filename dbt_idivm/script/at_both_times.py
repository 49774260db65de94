"""Where a moved clock makes a Δ-script read rows by a condition: the condition at the table that it tests.

The rows that another time changes are σ_φ(R ⋈ clock⁺ ⋈ clock⁻), where φ compares a condition or a value at both times
(`operators/clock.py`). Both times are constants. So a part of φ that reads columns of one table only, beside the clock's, says
which rows of that table matter, as keys do:

    σ d ≥ c⁺ ∧ ¬(d ≥ c⁻) (events ⋈ users ⋈ clock⁺ ⋈ clock⁻)     events at d ≥ c⁺ ∧ ¬(d ≥ c⁻); then users at the ids of these

Sound: what becomes of the table's other rows does not satisfy φ, and this σ stays in the Δ-script, so that it removes what a
superset adds. A part of φ is a condition on rows of R. It goes down to a table through σ, π, ⋈, ⋉, ▷, ∪ and the preserved side of
⟕: from a row that does not satisfy it these make only rows that do not. It stays above padded sides, groups and windows. What may
fail stays where it is, because the table has rows that a σ or ⋈ below φ leaves out.

Only parts that read both times restrict a table: of a window of years, d ≥ c⁺ alone leaves most rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.bags import Concat, Distinct
from dbt_idivm.algebra.core import Compute, Filter, Pair, Probe, SemiJoin
from dbt_idivm.algebra.expressions import attributes, column, conjunction, conjuncts, substitute
from dbt_idivm.algebra.lookups import Named
from dbt_idivm.algebra.outer import OuterPair
from dbt_idivm.algebra.probe_any import ProbeAny
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.algebra.relation import Relation, folded, folded_each, over
from dbt_idivm.operators.scan import DiffClass, DiffRows, Scan
from dbt_idivm.operators.union import Branches

_TIMES: tuple[DiffClass, DiffClass] = ("minus", "plus")


@dataclass(frozen=True)
class Clock:
    """A clock whose time moved. `before`: name of a value at the time before → the clock's attribute."""

    scan: Scan
    before: tuple[tuple[str, str], ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of its values at both times."""
        return frozenset(self.scan.columns).union(name for name, _ in self.before)

    @property
    def leaves(self) -> tuple[DiffRows, DiffRows]:
        """The base i-diffs that have its row at the time before, and its row now. They have none if no value differs."""
        old, new = (DiffRows(self.scan, each, self.scan.columns) for each in _TIMES)
        return old, new

    @property
    def types(self) -> Mapping[str, exp.DataType]:
        return {**self.scan.types, **{name: self.scan.types[attribute] for name, attribute in self.before}}

    def compares(self, names: frozenset[str]) -> bool:
        """Whether values at both times are among these."""
        return not names.isdisjoint(self.scan.columns) and any(name in names for name, _ in self.before)


@dataclass(frozen=True)
class Differing(Filter):
    """The rows of the table `child` that satisfy a condition, over its attributes and the clock's at both times."""

    child: Scan
    clock: Clock

    @property
    def table(self) -> str:
        return self.child.table

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return SemiJoin(self, on, keys)

    def narrowed(self, names: frozenset[str]) -> Relation:
        return self


def at_tables(relations: Sequence[Relation]) -> tuple[Relation, ...]:
    """The relations with their conditions over both times of a clock at the tables that these test, as `Differing`. They are to
    be looked at, not to be evaluated."""
    definitions: dict[str, Relation] = {}

    def placed(node: Relation, children: tuple[Relation, ...]) -> Relation:
        if isinstance(node, Named):
            if node.name not in definitions:
                definitions[node.name] = folded(node.definition, placed)
            definition = definitions[node.name]
            return node if definition is node.definition else Named(node.name, definition)
        found = over(node, children)
        if isinstance(found, Filter) and isinstance(found.child, Pair) and (clock := _clock(found.child.right)) is not None:
            rows = _restricted(found.child.left, _parts(found.condition), clock)
            return over(found, [over(found.child, [rows, found.child.right])])
        return found

    return folded_each(relations, placed)


def _clock(relation: Relation) -> Clock | None:
    """The clock of which the relation is the row of the time before."""
    if not isinstance(relation, Compute) or not isinstance(relation.child, DiffRows):
        return None
    leaf, names = relation.child, [(name, each.name) for name, each in relation.definitions if isinstance(each, exp.Column)]
    is_before = leaf.scan.is_clock and leaf.diff_class == "minus" and len(names) == len(relation.definitions)
    return Clock(leaf.scan, tuple(names)) if is_before else None


def _parts(condition: exp.Expr) -> tuple[exp.Expr, ...]:
    found = conjuncts(condition.unnest())
    return found if len(found) < 2 else tuple(part for each in found for part in _parts(each))


def _restricted(node: Relation, parts: Sequence[exp.Expr], clock: Clock) -> Relation:
    """σ_parts(node) as far as it restricts tables; perhaps with other rows."""
    match node:
        case Scan():
            return _differing(node, parts, clock)
        case Compute():
            return over(node, [_restricted(node.child, _below(parts, node.by_name, clock), clock)])
        case Filter() | Distinct():
            return over(node, [_restricted(node.child, parts, clock)])
        case SemiJoin() if node.anti or not node.on:  # others restrict by keys
            return over(node, [_restricted(node.child, parts, clock), node.keys])
        case Pair():
            return over(node, [_restricted(each, parts, clock) for each in node.children])
        case Probe() | ProbeAny() | OuterPair() if not (isinstance(node, OuterPair) and node.full):
            return over(node, [_restricted(node.left, parts, clock), *node.children[1:]])
        case Concat():
            return over(node, [_restricted(each, parts, clock) for each in node.parts])
        case Branches():
            return over(node, [_of_branch(node, number, parts, clock) for number in range(len(node.parts))])
    return node


def _of_branch(node: Branches, number: int, parts: Sequence[exp.Expr], clock: Clock) -> Relation:
    sources = {output: column(source) for output, source in node.pairs(number) if source is not None}
    return _restricted(node.parts[number], _below(parts, sources, clock), clock)


def _below(parts: Sequence[exp.Expr], definitions: Mapping[str, exp.Expr], clock: Clock) -> list[exp.Expr]:
    """The parts over the attributes by which those above are defined; without parts that read others."""
    known = {**{name: column(name) for name in clock.names}, **definitions}
    return [substitute(each, known) for each in parts if known.keys() >= {*attributes(each)}]


def _differing(scan: Scan, parts: Sequence[exp.Expr], clock: Clock) -> Relation:
    own, types = frozenset(scan.columns), {**scan.types, **clock.types}
    found = [each for each in parts if own.intersection(attributes(each)) and own | clock.names >= {*attributes(each)}]
    found = [each for each in found if not may_raise(each, types)]
    condition = conjunction(found)
    if scan.is_clock or condition is None or not clock.compares(frozenset(attributes(condition))):
        return scan
    return Differing(scan, condition, clock)
