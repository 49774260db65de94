"""The i-diff: a diff whose rows identify view rows by (a part of) their IDs. idIVM §2; REC is our fourth kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cached import cached_property


class Kind(StrEnum):
    """What the rows of an i-diff say about the rows of R that they name.

    Their values are those of the post-state, so i-diffs may be applied in any order and any number of times.
    """

    INS = "ins"  # the named row is in R⁺ with these values: an upsert by full ID
    DEL = "del"  # no row of R⁺ carries these IDs
    UPD = "upd"  # every row of R⁺ with these IDs has the assigned and the known values
    REC = "rec"  # recompute: every row of R⁻ or R⁺ that may have changed has one of these values; a superset is allowed


INS, DEL, UPD, REC = Kind.INS, Kind.DEL, Kind.UPD, Kind.REC


@dataclass(frozen=True, order=True)
class Origin:
    """The base i-diff that an i-diff comes from: a table occurrence and the class of its change."""

    occurrence: str
    kind: Kind

    def __str__(self) -> str:
        return f"d_{self.kind}__{self.occurrence}"


@dataclass(frozen=True)
class IDiff:
    """An i-diff over a relation R.

    `ids` is P: the attributes that identify rows of R, all of R's IDs or a part of them. `assigned` is A: the attributes that
    change (UPD), or those of the new row (INS). `known` is K: attributes whose value is carried but does not change; for DEL
    the pre-state values, for REC the values of both images. `relation` has the columns P ∪ A ∪ K. `fresh` (INS): no row of R⁻
    has this ID. `constants`: attributes of P that are the same literal in all rows, such as a branch.
    """

    kind: Kind
    ids: tuple[str, ...]
    assigned: tuple[str, ...]
    known: tuple[str, ...]
    relation: Relation
    origins: frozenset[Origin]
    fresh: bool = False
    constants: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        expected = set(self.ids) | set(self.assigned) | set(self.known)
        if expected != set(self.relation.columns):
            raise ValueError(f"{self.kind} i-diff says {sorted(expected)}, its rows have {self.relation.columns}")

    @property
    def payload(self) -> tuple[str, ...]:
        """A ∪ K."""
        return self.assigned + self.known

    @cached_property
    def attributes(self) -> frozenset[str]:
        """P ∪ A ∪ K: the attributes that are known without reading R."""
        return frozenset(self.ids + self.payload)

    @property
    def name(self) -> str:
        return "+".join(str(origin) for origin in sorted(self.origins))

    def assigns(self, attributes: frozenset[str] | set[str] | tuple[str, ...]) -> bool:
        """Whether this is an UPD that assigns one of `attributes`."""
        return self.kind is UPD and not set(attributes).isdisjoint(self.assigned)

    def over(self, relation: Relation, *, known: tuple[str, ...] | None = None) -> IDiff:
        """The same i-diff with another relation, and perhaps fewer known attributes."""
        return replace(self, relation=relation, known=self.known if known is None else known)

    def __str__(self) -> str:
        parts = [", ".join(self.ids) or "()"]
        if self.assigned:
            parts.append("assigns " + ", ".join(self.assigned))
        if self.known:
            parts.append("knows " + ", ".join(self.known))
        return f"{self.kind.upper()}({'; '.join(parts)}) from {self.name}"
