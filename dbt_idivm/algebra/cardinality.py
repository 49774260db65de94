"""How many rows a relation has, estimated from the numbers of rows of tables, keys, and equalities in conditions.

The textbook model (Selinger et al. 1979, System R): values are uniform and independent; an equality of two attributes keeps one
pair in as many as the larger of their domains has values. A domain is known where an attribute set is a key. An estimate may
be wrong by any factor: it decides what is quick, never what is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, conjuncts

# System R's guesses where nothing is known: the part of the rows that an equality, a range, any other condition keeps.
EQUALITY, RANGE, OTHER = 1 / 10, 1 / 4, 1 / 3
# rows of a group, and rows with one value of an attribute that is no key, where nothing is known
_PER_VALUE = 10.0
# no estimate is higher: products of estimates stay numbers, and a query of so many rows is as endless as any larger one
_MOST = 1e18
_RANGES = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_EQUALITIES = (exp.EQ, exp.NullSafeEQ)


class Sizes(Protocol):
    """What estimates begin with: rows of tables, and rows of the classes of their net diffs."""

    def table(self, name: str) -> float: ...

    def changes(self, occurrence: str, diff_class: Any, split: frozenset[str]) -> float: ...


@dataclass(frozen=True)
class Domain:
    """How many values an attribute set can have, whether these occur in the rows or not, and the attributes that it
    determines."""

    size: float
    determined: frozenset[str]


@dataclass(frozen=True)
class Cardinality:
    """`rows`; the domains of the attribute sets that are a key of some table; attribute → the rows of the table that it is from,
    which it cannot have more values than."""

    rows: float
    domains: Mapping[frozenset[str], Domain] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)

    def domain(self, names: Iterable[str]) -> float | None:
        """How many values `names` can have together, at least; None where nothing is known."""
        wanted = frozenset(names)
        return max((domain.size for known, domain in self.domains.items() if known <= wanted), default=None)

    def values(self, names: Iterable[str]) -> float:
        """How many values of `names` occur among the rows."""
        return drawn(self._size(frozenset(names)), self.rows)

    def _size(self, wanted: frozenset[str]) -> float:
        """The product of the domains of attribute sets that determine parts of `wanted`, and a guess for each other attribute."""
        rest, size = wanted, 1.0
        for known, domain in sorted(self.domains.items(), key=lambda item: (-len(item[1].determined & wanted), sorted(item[0]))):
            if known <= wanted and known & rest:
                rest, size = rest - domain.determined - known, size * max(domain.size, 1.0)
        for name in rest:
            size *= max(self.limits.get(name, self.rows) / _PER_VALUE, 1.0)
        return min(size, _MOST)

    def with_rows(self, rows: float) -> Cardinality:
        return Cardinality(rows, self.domains, self.limits)

    def filtered(self, condition: exp.Expr) -> Cardinality:
        """σ."""
        return self.with_rows(self.rows * self.selectivity(condition))

    def selectivity(self, condition: exp.Expr) -> float:
        """The part of the rows for which a condition is true, from 0 to 1."""
        node = condition.unnest()
        if isinstance(node, exp.Boolean):
            return 1.0 if node.this else 0.0
        if isinstance(node, exp.And):
            return self.selectivity(node.left) * self.selectivity(node.right)
        if isinstance(node, exp.Or):
            return 1 - (1 - self.selectivity(node.left)) * (1 - self.selectivity(node.right))
        if isinstance(node, exp.Not):
            return 1 - self.selectivity(node.this)
        if isinstance(node, exp.In) and node.expressions:
            return min(len(node.expressions) * self._one_value(node.this), 0.5)
        if isinstance(node, _EQUALITIES):
            return min(self._one_value(node.left), self._one_value(node.right))
        return RANGE if isinstance(node, _RANGES) else OTHER

    def _one_value(self, expression: exp.Expr) -> float:
        size = self.domain(attributes(expression)) if isinstance(expression.unnest(), exp.Column) else None
        return EQUALITY if size is None else 1 / max(size, 1.0)

    def computed(self, sources: Mapping[str, str]) -> Cardinality:
        """π; `sources`: attribute → the attribute of the input that it is, for those that pass unchanged."""
        names: dict[str, str] = {}
        for name, source in sources.items():
            names.setdefault(source, name)
        kept = {
            frozenset(names[each] for each in known): Domain(
                domain.size, frozenset(name for name, source in sources.items() if source in domain.determined)
            )
            for known, domain in self.domains.items()
            if all(each in names for each in known)
        }
        limits = {name: self.limits[source] for name, source in sources.items() if source in self.limits}
        return Cardinality(self.rows, kept, limits)

    def paired(
        self, other: Cardinality, conditions: Iterable[exp.Expr], mine: Iterable[str], theirs: Iterable[str]
    ) -> Cardinality:
        """⋈ on AND-ed conditions. `mine` and `theirs`: the attributes of the two sides."""
        left, right = frozenset(mine), frozenset(theirs)
        pairs, rest = _split(conditions, left, right)
        domains = {**self.domains, **other.domains}
        rows = min(self.rows * other.rows, _MOST)
        if pairs:
            sizes = (self.domain(one for one, _ in pairs), other.domain(two for _, two in pairs))
            known = [size for size in sizes if size is not None]
            # nothing known: as many rows as the larger side has
            rows /= max(*known, 1.0) if known else max(min(self.rows, other.rows), 1.0)
        for one, two in pairs:
            _share(domains, one, two)
        joined = Cardinality(rows, domains, {**self.limits, **other.limits})
        for part in rest:
            joined = joined.filtered(part)
        return joined

    def kept(self, keys: Cardinality, on: Iterable[str], *, anti: bool = False) -> Cardinality:
        """⋉ on equal attributes, or ▷."""
        names = tuple(on)
        if not names:
            part = min(keys.rows, 1.0)
        else:
            size = self.domain(names) or keys.domain(names) or max(self.rows / _PER_VALUE, keys.rows)
            part = min(keys.rows / max(size, 1.0), 1.0)
        return self.with_rows(self.rows * (1 - part if anti else part))

    def probed(
        self, other: Cardinality, condition: exp.Expr, mine: Iterable[str], theirs: Iterable[str], *, anti: bool = False
    ) -> Cardinality:
        """⋉ or ▷ on a condition: a row has a partner if it has at least one expected partner, else in proportion."""
        partners = self.paired(other, conjuncts(condition.unnest()), mine, theirs).rows
        part = min(partners / self.rows, 1.0) if self.rows else 0.0
        return self.with_rows(self.rows * (1 - part if anti else part))

    def grouped(self, groups: Sequence[str]) -> Cardinality:
        """γ: one row for each group; one without groups."""
        if not groups:
            return Cardinality(1.0)
        names = frozenset(groups)
        kept = {known: Domain(domain.size, domain.determined & names) for known, domain in self.domains.items() if known <= names}
        size = max(self._size(names), 1.0)
        return Cardinality(
            self.values(groups),
            {**kept, names: Domain(size, names)},
            {name: limit for name, limit in self.limits.items() if name in names},
        )


def _share(domains: dict[frozenset[str], Domain], one: str, two: str) -> None:
    """Equal attributes have the smaller of their domains, and determine what either determines."""
    keys = (frozenset({one}), frozenset({two}))
    found = [domains[key] for key in keys if key in domains]
    if found:
        shared = Domain(min(each.size for each in found), frozenset({one, two}).union(*(each.determined for each in found)))
        domains.update(dict.fromkeys(keys, shared))


def drawn(values: float, rows: float) -> float:
    """How many of `values` are among `rows` random ones: D·(1 − (1 − 1/D)^n) (Cardenas 1975)."""
    if values <= 1:
        return min(rows, max(values, 0.0))
    return min(values * (1 - float((1 - 1 / values) ** rows)), rows)


def united(parts: Iterable[Cardinality]) -> Cardinality:
    """⊎: all rows of all parts; the domains that all of them have, the largest each."""
    found = tuple(parts)
    first = found[0] if found else Cardinality(0.0)
    domains = {
        known: max((each.domains[known] for each in found), key=lambda domain: domain.size)
        for known in first.domains
        if all(known in each.domains for each in found)
    }
    limits = {
        name: sum(each.limits[name] for each in found) for name in first.limits if all(name in each.limits for each in found)
    }
    return Cardinality(sum(each.rows for each in found), domains, limits)


def _split(
    conditions: Iterable[exp.Expr], left: frozenset[str], right: frozenset[str]
) -> tuple[list[tuple[str, str]], list[exp.Expr]]:
    """The pairs of attributes that conditions equate, of the left side and of the right, and the other conditions."""
    pairs, rest = [], []
    for part in conditions:
        node = part.unnest()
        if isinstance(node, _EQUALITIES):
            one, two = node.left.unnest(), node.right.unnest()
            if isinstance(one, exp.Column) and isinstance(two, exp.Column):
                if one.name in left and two.name in right:
                    pairs.append((one.name, two.name))
                    continue
                if two.name in left and one.name in right:
                    pairs.append((two.name, one.name))
                    continue
        rest.append(node)
    return pairs, rest
