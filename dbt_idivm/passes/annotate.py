"""Facts about every operator of a final plan, computed in one walk. Other modules read them here and do not infer them again.

    ⋈ o.cid = c.id           IDs: o.id, c.id   key: o.id, which determines o.cid, hence c.id, hence the customer
      scan orders as o       IDs: o.id         key: o.id
      scan customers as c    IDs: c.id         key: c.id

All facts are conservative: an attribute counts as determined, or as not NULL, only if that is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dbt_idivm.algebra.inference import Dependency, determined_by
from dbt_idivm.algebra.operator import Conditions, Operator
from dbt_idivm.algebra.types import has_one_value
from dbt_idivm.cached import cached_property
from dbt_idivm.operators.scan import scans
from dbt_idivm.passes.screening import screens


@dataclass(frozen=True, order=True)
class BaseColumn:
    """A column of one occurrence of a table."""

    occurrence: str
    table: str
    name: str

    def __str__(self) -> str:
        return f"{self.occurrence}.{self.name}"


@dataclass(frozen=True)
class Facts:
    """Facts about the rows of one operator, and about its inputs.

    `dependencies`: all functional dependencies of its rows, keys included. `equal`: pairs of attributes that are equal in each
    row. `provenance`: attribute → the base columns; each value is taken unchanged from one of them; () if it is computed.
    """

    node: Operator
    inputs: tuple[Facts, ...]
    dependencies: tuple[Dependency, ...]
    equal: tuple[tuple[str, str], ...]
    provenance: Mapping[str, tuple[BaseColumn, ...]]

    @property
    def ids(self) -> tuple[str, ...]:
        return self.node.ids

    @property
    def unique(self) -> bool:
        return self.node.unique

    @property
    def nullable(self) -> frozenset[str]:
        return self.node.nullable

    @property
    def naming(self) -> tuple[str, ...]:
        """The columns by which i-diffs may identify its rows: IDs, then `named_by`. All of them are in its output."""
        return tuple(dict.fromkeys((*self.node.ids, *self.node.named_by)))

    @cached_property
    def joined(self) -> tuple[Facts, ...]:
        """The relations that contribute exactly one row each to a row, looking through σ, π, ⋈
        and the like; (self,) if there are none.
        """
        combined = _combined(self.node, self.inputs)
        return tuple(each for facts in combined for each in facts.joined) if combined else (self,)

    @cached_property
    def key(self) -> tuple[str, ...] | None:
        """A minimal key: the IDs without those that the others determine; None if IDs are not unique."""
        if not self.unique:
            return None
        kept = self.ids
        for name in reversed(self.ids):
            rest = tuple(each for each in kept if each != name)
            if name in determined_by(frozenset(rest), self.dependencies):
                kept = rest
        return kept

    def determines_all(self, start: Facts) -> bool:
        """Whether each row of `start`, one of `joined`, contributes to at most one row."""
        known = determined_by(frozenset(start.node.columns), self.dependencies)
        return all(each is start or (each.unique and known >= frozenset(each.ids)) for each in self.joined)

    def __iter__(self) -> Iterator[Facts]:
        """The facts of all operators below, inputs before the operators that read them, and then these."""
        for each in self.inputs:
            yield from each
        yield self


def shared_ids(facts: Facts, shown: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Pairs (hidden ID, other attribute): IDs that need no column, because they always
    equal an attribute that has one (ADR 0016).

    `shown` are the attributes that have a column anyway. Both attributes of a pair are unchanged columns of tables, of the
    same type, whose equal values are identical.
    """
    types, held, found = facts.node.types, list(shown), []
    for name in facts.naming:
        if name in held:
            continue
        same = _equal_to(name, facts.equal)
        other = next((each for each in held if each in same and types[each] == types[name] and facts.provenance[each]), None)
        if other is None or not facts.provenance[name] or not has_one_value(types[name]):
            held.append(name)
        else:
            found.append((name, other))
    return tuple(found)


def _equal_to(name: str, pairs: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """The equivalence class of an attribute under `pairs`, including itself."""
    known = frozenset({name})
    while more := [each for pair in pairs if not known.isdisjoint(pair) for each in pair if each not in known]:
        known = known.union(more)
    return known


@dataclass(frozen=True)
class Annotated:
    """The facts of a plan's operators, and for each table occurrence the conditions that screen its changes (`screening.py`)."""

    facts: Facts
    screens: Mapping[str, Conditions]


def annotate(root: Operator) -> Annotated:
    """The facts and screening conditions of an ID-extended tree."""
    return Annotated(facts_of(root), screens(root))


def facts_of(root: Operator) -> Facts:
    """The facts of the root of an ID-extended tree, which contain those of all operators below."""
    base = {
        scan.attribute(a.name): BaseColumn(scan.occurrence, scan.table, a.name) for scan in scans(root) for a in scan.base_columns
    }

    def walk(node: Operator) -> Facts:
        inputs = tuple(map(walk, node.inputs))
        below = {id(each.node): each for each in inputs}
        provenance = {name: _provenance(node, name, below, base) for name in node.columns}
        return Facts(node, inputs, _dependencies(node, inputs), _equal(node, inputs), provenance)

    return walk(root)


def _combined(node: Operator, inputs: tuple[Facts, ...]) -> tuple[Facts, ...]:
    return tuple(each for each in inputs if any(each.node is child for child in node.combined))


def _dependencies(node: Operator, inputs: tuple[Facts, ...]) -> tuple[Dependency, ...]:
    key = ((frozenset(node.ids), frozenset(node.columns)),) if node.unique and not node.combined else ()
    return (*key, *node.dependencies(*(each.dependencies for each in inputs)))


def _equal(node: Operator, inputs: tuple[Facts, ...]) -> tuple[tuple[str, str], ...]:
    return (*node.equal, *(pair for facts in _combined(node, inputs) for pair in facts.equal))


def _provenance(node: Operator, name: str, below: Mapping[int, Facts], base: Mapping[str, BaseColumn]) -> tuple[BaseColumn, ...]:
    """The base columns from which the values of an attribute come; () if it is computed. `below`: id of an input → its facts."""
    sources = node.provenance((name,))
    if sources == ():
        return (base[name],)
    found = [below[id(source)].provenance[theirs] for source, (theirs,) in sources or () if id(source) in below]
    return tuple(sorted({column for columns in found for column in columns})) if all(found) else ()
