"""π_{D, f(Y)→c}(R): attributes D that pass unchanged, and computed ones. IDs always pass: ID(π R) = ID(R).

| rule                | i-diff | when                                    | out (idIVM Table 8)
|---------------------|--------|-----------------------------------------|-------------------------------------------
| project_ins         | INS    |                                         | INS(π Δ)
| project_del         | DEL    |                                         | DEL, knows f(Y) where Y ⊆ P ∪ K
| project_upd         | UPD    | each f(Y): Y ∩ A = ∅ or Y ⊆ P ∪ A ∪ K   | UPD, assigns f(Y) where Y ∩ A ≠ ∅; or nothing
| project_time        | UPD    | the same, A is of the clock, ID unique  | the same, and UPD(I; f(Y)) of rows with another f(Y)
| project_time_bag    | UPD    | the same, ID not unique                 | the same, and REC(I) of rows with another f(Y)
| project_upd_lookup  | UPD    | some f(Y) needs a look-up, ID unique    | the same, and UPD(I; f(Y)) over R⁺ ⋉_P Δ
| project_upd_again   | UPD    | the same, and Δ itself was looked up    | REC(P)
| project_upd_bag     | UPD    | some f(Y) needs a look-up, ID not unique| REC(P)
| project_rec         | REC    |                                         | REC, knows f(Y) where Y ⊆ P ∪ K

An f(Y) that may fail, such as a / b, is evaluated only for rows of R, as in the query. If an i-diff may name other rows, because
a condition or join below was not applied to it, f(Y) is looked up (UPD) or not carried (DEL, REC).

If the time moves, f(Y) is compared at both times (`operators/clock.py`), unless it may fail.

Example, π price * rate → cost, with price from `orders` and rate from `currencies`: an update of price does not know the rate, so
cost is looked up for the rows with that order. An update of orders.note assigns no output attribute, so it is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.answers import UnaryOperator
from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import Compute, project
from dbt_idivm.algebra.expressions import attributes, column, passing, substitute
from dbt_idivm.algebra.inference import Dependency, certain_type, is_function_of_values, may_be_null, parts_of_value
from dbt_idivm.algebra.operator import SIGN, Conditions, Operator, State
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.build import recompute
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.idiff.rule import IDiffRule, always, both, is_bag, is_unique
from dbt_idivm.operators.clock import (
    are_comparable,
    changed_before,
    clock_below,
    moved_clock,
    signed_values,
    with_other_values,
)
from dbt_idivm.operators.scan import Scan, reads_tables


@dataclass(frozen=True)
class Project(Compute, UnaryOperator):
    """π over `child`; `definitions` maps each output attribute to an expression over the child's attributes."""

    child: Operator

    scope = None
    conditions = ()
    equal = ()
    united = ()
    is_select_project_join = True
    padded = ()
    monotone = True
    by_key = False

    def __post_init__(self) -> None:
        missing = {name for _, e in self.definitions for name in attributes(e)} - set(self.child.columns)
        if missing:
            raise ValueError(f"π uses {sorted(missing)}, which its input lacks")

    def rewritten(self, change: Callable[[exp.Expr], exp.Expr], *inputs: Operator) -> Operator:
        (child,) = inputs
        return replace(self, child=child, definitions=tuple((name, change(each)) for name, each in self.definitions))

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return self.child.ids

    @cached_property
    def unique(self) -> bool:
        return self.child.unique

    @cached_property
    def named_by(self) -> tuple[str, ...]:
        return self.child.named_by

    def with_ids(self) -> Operator:
        passed = dict.fromkeys((*self.child.ids, *self.child.named_by))
        added = passing(name for name in passed if name not in self.columns)
        return replace(self, definitions=self.definitions + added)

    @cached_property
    def reads(self) -> Mapping[str, frozenset[str]]:
        """Output attribute → the input attributes from which it is computed."""
        return {name: frozenset(attributes(definition)) for name, definition in self.definitions}

    def lineage(self, names: frozenset[str]) -> frozenset[str]:
        """The input attributes from which the output attributes `names` are computed."""
        return frozenset(y for name, below in self.reads.items() if name in names for y in below)

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return (self.lineage(above),)

    def pruned(self, above: frozenset[str]) -> Operator:
        return replace(self, definitions=tuple(d for d in self.definitions if d[0] in above))

    conditional = needed

    @cached_property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        found = ((name, certain_type(definition, self.child.certain_types)) for name, definition in self.definitions)
        return {name: kind for name, kind in found if kind is not None}

    @cached_property
    def nullable(self) -> frozenset[str]:
        return frozenset(name for name, definition in self.definitions if may_be_null(definition, self.child.nullable))

    @property
    def combined(self) -> tuple[Operator, ...]:
        return (self.child,)

    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        kinds = self.child.certain_types
        found = (
            (frozenset(attributes(each)), frozenset({name})) for name, each in self.computed if is_function_of_values(each, kinds)
        )
        parts = ((frozenset({name}), parts_of_value(each)) for name, each in self.computed)
        return (*found, *((whole, names) for whole, names in parts if names), *below[0])

    @property
    def defined(self) -> tuple[tuple[str, exp.Expr], ...]:
        return self.definitions

    @property
    def has_row(self) -> bool:
        return self.child.has_row

    def carried(self, occurrence: str) -> frozenset[str] | None:
        known = self.child.carried(occurrence)
        return None if known is None else frozenset(name for name, e in self.definitions if set(attributes(e)) <= known)

    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        passed = {name: definition for name, definition in self.definitions if isinstance(definition, exp.Column)}
        return (tuple(substitute(each, passed) for each in above if passed.keys() >= set(attributes(each))),)

    def in_state(self, state: State) -> Relation:
        return Compute(self.child.in_state(state), self.definitions)

    def in_any_state(self, names: frozenset[str]) -> Relation:
        kept = tuple((name, definition) for name, definition in self.definitions if name in names)
        return Compute(self.child.in_any_state(self.lineage(names)), kept)

    def changed_values(self, names: frozenset[str]) -> Relation:
        kept = tuple((name, definition) for name, definition in self.definitions if name in names)
        return Compute(self.child.changed_values(self.lineage(names)), kept)

    def signed(self) -> Relation:
        signed = (*self.definitions, (SIGN, column(SIGN)))
        clock = clock_below(self.child, *(each for _, each in self.computed))
        if clock is None:
            return Compute(self.child.signed(), signed)
        read = {name: self.by_name[name] for name, below in self.reads.items() if not below.isdisjoint(clock.columns)}
        if not read or not are_comparable(read, self.child.types):
            return Compute(self.child.signed(), signed)
        changed = Compute(changed_before(self.child, clock), signed)
        return Concat((changed, *signed_values(self.child, self.by_name, read, clock)))


def split_projections(root: Operator) -> tuple[tuple[Project, ...], Operator]:
    """The projections at the top, from the root down, and the first operator below them that is not a projection."""
    found = []
    while isinstance(root, Project):
        found.append(root)
        root = root.child
    return tuple(found), root


def known(node: Project, diff: IDiff) -> tuple[tuple[str, exp.Expr], ...]:
    """The definitions that can be evaluated from the i-diff's own attributes, and cannot
    fail on rows that the query does not have.
    """
    unsafe = unguarded(node, diff)
    have = diff.attributes
    return tuple((name, e) for name, e in node.definitions if node.reads[name] <= have and name not in unsafe)


# Wrong without it: π amount / qty above σ qty <> 0 ∧ active, with `active` from another table. An update of `amount` passed on as
# UPD(id; amount / qty) fails on rows with qty = 0, for which the query never divides.
def unguarded(node: Project, diff: IDiff) -> frozenset[str]:
    """The computed attributes that may fail on a row that the i-diff names, although the query does not evaluate them for it.

    Inserted rows are rows of R⁺. Other i-diffs may name rows that a condition or join below removes.
    """
    (child,) = node.inputs
    if diff.kind is INS or all(child.carried(origin.occurrence) is not None for origin in diff.origins):
        return frozenset()
    return frozenset(name for name, e in node.computed if may_raise(e, child.types))


def mapped(node: Project, diff: IDiff) -> IDiff:
    """The i-diff in terms of the output attributes, including the computed ones for which its own attributes suffice."""
    definitions = known(node, diff)
    changed = {name for name, _ in definitions if diff.kind is INS or not node.reads[name].isdisjoint(diff.assigned)}
    names = tuple(name for name, _ in definitions)
    ids = node.ids if diff.kind is INS else diff.ids
    assigned = tuple(n for n in names if n in changed and n not in ids)
    carried = tuple(n for n in names if n not in changed and n not in ids)
    order = ids + assigned + carried
    by_name = dict(definitions)
    relation = Compute(diff.relation, tuple((n, by_name[n]) for n in order))
    return replace(diff, ids=ids, assigned=assigned, known=carried, relation=relation)


def lookups(node: Project, diff: IDiff) -> tuple[str, ...]:
    """The computed attributes that an update changes but that cannot be evaluated from the attributes that it carries."""
    found = {name for name, _ in known(node, diff)}
    return tuple(name for name, below in node.reads.items() if name not in found and not below.isdisjoint(diff.assigned))


def project_map(node: Project, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (mapped(node, diff),)


def project_upd(node: Project, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    result = mapped(node, diff)
    return (result,) if result.assigned else ()


def is_time(node: Project, side: int, diff: IDiff) -> bool:
    """Whether the i-diff says that the time moved, and some f(Y) need a look-up that can compare them."""
    return _time(node, diff) is not None


def _time(node: Project, diff: IDiff) -> tuple[Scan, Mapping[str, exp.Expr]] | None:
    """(the clock, the definitions to be compared at both times)."""
    values = {name: node.by_name[name] for name in lookups(node, diff)}
    clock = moved_clock(node.child, diff, *values.values()) if values else None
    return (clock, values) if clock is not None and are_comparable(values, node.child.types) else None


def needs_lookup(node: Project, side: int, diff: IDiff) -> bool:
    return bool(lookups(node, diff)) and node.unique and not reads_tables(diff.relation) and not is_time(node, side, diff)


# Correct without it, but exponential: restricting by keys that were looked up themselves repeats their query wherever the keys
# are pushed down, and the next look-up repeats all of that. Five joins, each with a computed column, would give gigabytes of SQL.
def needs_second_lookup(node: Project, side: int, diff: IDiff) -> bool:
    return bool(lookups(node, diff)) and node.unique and reads_tables(diff.relation)


def needs_lookup_in_bag(node: Project, side: int, diff: IDiff) -> bool:
    return bool(lookups(node, diff)) and not node.unique and not is_time(node, side, diff)


def needs_none(node: Project, side: int, diff: IDiff) -> bool:
    return not lookups(node, diff)


# The second update identifies rows by the full ID, the first by P. Both may hit the same view row, so the direct MERGE is never
# used for them.
def project_upd_lookup(node: Project, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    names = lookups(node, diff)
    rows = project(node.restrict(diff.ids, diff.relation), node.ids + names)
    extra = IDiff(UPD, node.ids, names, (), rows, diff.origins, constants=diff.constants)
    return (*project_upd(node, side, diff), extra)


def project_time(node: Project, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    rows, values = _with_other_values(node, diff)
    definitions = {**dict(passing(node.ids)), **values}
    found = Compute(rows, tuple(definitions.items()))
    return (*project_upd(node, side, diff), IDiff(UPD, node.ids, tuple(values), (), found, diff.origins))


def project_time_bag(node: Project, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    rows, _ = _with_other_values(node, diff)
    return (*project_upd(node, side, diff), IDiff(REC, node.ids, (), (), project(rows, node.ids), diff.origins))


def _with_other_values(node: Project, diff: IDiff) -> tuple[Relation, Mapping[str, exp.Expr]]:
    found = _time(node, diff)
    assert found is not None
    clock, values = found
    return with_other_values(node.child, values, clock), values


# The looked-up rows of a bag would repeat an ID, but the IDs of an update must be a key of it. So such rows are recomputed.
def project_upd_bag(node: Project, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (recompute(diff),)


Project.RULES = (
    IDiffRule("project_ins", INS, always, "INS(π Δ)", project_map, "Table 8, ∆+"),
    IDiffRule("project_del", DEL, always, "DEL", project_map, "Table 8, ∆-"),
    IDiffRule("project_upd", UPD, needs_none, "UPD", project_upd, "Table 8, ∆u, if"),
    IDiffRule("project_time", UPD, both(is_time, is_unique), "UPD, UPD(I; f(Y))", project_time, "ours"),
    IDiffRule("project_time_bag", UPD, both(is_time, is_bag), "UPD, REC(I)", project_time_bag, "ours"),
    IDiffRule("project_upd_lookup", UPD, needs_lookup, "UPD, UPD(I; f(Y))", project_upd_lookup, "Table 8, ∆u, else"),
    IDiffRule("project_upd_again", UPD, needs_second_lookup, "REC(P)", project_upd_bag, "ours"),
    IDiffRule("project_upd_bag", UPD, needs_lookup_in_bag, "REC(P)", project_upd_bag, "ours"),
    IDiffRule("project_rec", REC, always, "REC", project_map, "ours"),
)
