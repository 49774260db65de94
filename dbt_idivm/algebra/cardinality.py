"""How many rows a relation has, estimated from the numbers of rows of tables, keys, and equalities in conditions.

The textbook model (Selinger et al. 1979, System R): values are uniform and independent; an equality of two attributes has the
selectivity 1 / max(domain sizes). A domain is known if the attribute set is a key. An estimate may be wrong by any factor: it
affects speed, never correctness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, conjuncts

# System R's default selectivities of an equality, a range and any other condition, where nothing is known.
EQUALITY, RANGE, OTHER = 1 / 10, 1 / 4, 1 / 3
# default number of rows per group, and per value of an attribute that is not a key
_PER_VALUE = 10.0
# upper bound of all estimates, so that products stay finite; a query over that many rows never ends anyway
_MOST = 1e18
_RANGES = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_EQUALITIES = (exp.EQ, exp.NullSafeEQ)


class Sizes(Protocol):
    """The inputs of an estimate: the number of rows of each table, and of each class of rows in its net diff."""

    def table(self, name: str) -> float: ...

    def changes(self, occurrence: str, diff_class: Any, split: frozenset[str]) -> float: ...


@dataclass(frozen=True)
class Domain:
    """The number of possible values of an attribute set, whether or not they occur in the
    rows, and the attributes that it determines.
    """

    size: float
    determined: frozenset[str]


@dataclass(frozen=True)
class Cardinality:
    """The estimated number of rows, with what is known of their attributes.

    `domains`: attribute set that is a key of some table → its domain. `limits`: attribute → number of rows of the table that
    it comes from, an upper bound of its number of values.
    """

    rows: float
    domains: Mapping[frozenset[str], Domain] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)

    def domain(self, names: Iterable[str]) -> float | None:
        """A lower bound of the number of values that `names` can have together; None if nothing is known."""
        wanted = frozenset(names)
        return max((domain.size for known, domain in self.domains.items() if known <= wanted), default=None)

    def values(self, names: Iterable[str]) -> float:
        """The estimated number of distinct values of `names` among the rows."""
        return drawn(self._size(frozenset(names)), self.rows)

    def _size(self, wanted: frozenset[str]) -> float:
        """The product of the known domains that cover parts of `wanted`, and of a guess for
        each attribute that none of them covers.
        """
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
        """σ: the rows for which the condition is true."""
        return self.with_rows(self.rows * self.selectivity(condition))

    def selectivity(self, condition: exp.Expr) -> float:
        """The fraction of the rows for which a condition is true, from 0 to 1."""
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
        """π. `sources`: output attribute → the input attribute that it is a copy of; computed attributes are not listed."""
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
            # nothing is known: assume as many rows as the larger side has
            rows /= max(*known, 1.0) if known else max(min(self.rows, other.rows), 1.0)
        for one, two in pairs:
            _share(domains, one, two)
        joined = Cardinality(rows, domains, {**self.limits, **other.limits})
        for part in rest:
            joined = joined.filtered(part)
        return joined

    def kept(self, keys: Cardinality, on: Iterable[str], *, anti: bool = False) -> Cardinality:
        """⋉ on equal attributes, or ▷ if `anti`."""
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
        """⋉ on a condition, or ▷ if `anti`. A row has a partner with probability min(expected number of partners, 1)."""
        partners = self.paired(other, conjuncts(condition.unnest()), mine, theirs).rows
        part = min(partners / self.rows, 1.0) if self.rows else 0.0
        return self.with_rows(self.rows * (1 - part if anti else part))

    def grouped(self, groups: Sequence[str]) -> Cardinality:
        """γ: one row for each group, or a single row without grouping attributes."""
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
    """Merge the domains of two equal attributes: the smaller size, and everything that either of them determines."""
    keys = (frozenset({one}), frozenset({two}))
    found = [domains[key] for key in keys if key in domains]
    if found:
        shared = Domain(min(each.size for each in found), frozenset({one, two}).union(*(each.determined for each in found)))
        domains.update(dict.fromkeys(keys, shared))


def drawn(values: float, rows: float) -> float:
    """The expected number of distinct values among `rows` random draws from `values`: D·(1 − (1 − 1/D)^n) (Cardenas 1975)."""
    if values <= 1:
        return min(rows, max(values, 0.0))
    return min(values * (1 - float((1 - 1 / values) ** rows)), rows)


def united(parts: Iterable[Cardinality]) -> Cardinality:
    """⊎: the sum of all rows. Of the domains only those that every part has are kept, each with its largest size."""
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
    """Split conditions into equated attribute pairs (left, right) and all other conditions."""
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
