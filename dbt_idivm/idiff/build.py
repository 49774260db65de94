"""Helpers for rule builders: look-ups and conversions that all operators share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from dbt_idivm.algebra.bags import Concat, Distinct
from dbt_idivm.algebra.core import project
from dbt_idivm.algebra.lookups import Touched
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff

if TYPE_CHECKING:
    from dbt_idivm.algebra.operator import Operator


def passed(diff: IDiff) -> tuple[IDiff, ...]:
    return (diff,)


def dropped() -> tuple[IDiff, ...]:
    return ()


def recompute(diff: IDiff, ids: tuple[str, ...] | None = None) -> IDiff:
    """REC over the rows that `diff` identifies, by `ids` (default: its own P). The payload is kept if it covers both images.

    The values of an update are dropped, because they are those of the post-state only: a row
    would not be found by its pre-state value.
    """
    names = diff.ids if ids is None else ids
    known = () if diff.kind is UPD else tuple(a for a in diff.relation.columns if a not in names)
    return IDiff(
        REC,
        names,
        (),
        known,
        project(diff.relation, names + known),
        diff.origins,
        constants=tuple(pair for pair in diff.constants if pair[0] in names),
    )


def touched(diff: IDiff, node: Operator, wanted: tuple[str, ...]) -> Relation:
    """A superset of the `wanted` values of the rows of `node` that `diff` touches, in both states if both matter.

    DEL needs the pre-state, and REC needs both states: a look-up in the post-state does not find rows that were
    deleted, and the group they were in would stay. The any-state (post-state plus deleted rows) contains both without
    time travel. For UPD the post-state suffices: rows that left are covered by the i-diff that moved them. Raises
    ValueError if an UPD assigns a wanted attribute.
    """
    if diff.assigns(wanted):
        raise ValueError("convert an update of the wanted attributes to REC first")
    if diff.kind is INS:
        return Distinct(project(diff.relation, wanted))
    names = frozenset((*diff.ids, *wanted))
    source = node.in_state("post").narrowed(names) if diff.kind is UPD else node.in_any_state(names)
    return Distinct(Touched(diff.relation, diff.ids, wanted, source))


def united(idiffs: tuple[IDiff, ...], which: Callable[[IDiff], bool]) -> tuple[IDiff, ...]:
    """The i-diffs, with those for which `which` is true (all of them RECs) merged into one
    for each P. A merged REC has no payload.
    """
    groups: dict[tuple[str, ...], list[IDiff]] = {}
    for diff in filter(which, idiffs):
        groups.setdefault(diff.ids, []).append(diff)
    others = tuple(diff for diff in idiffs if not which(diff))
    return others + tuple(group[0] if len(group) == 1 else _united(group) for group in groups.values())


def _united(group: list[IDiff]) -> IDiff:
    first = group[0]
    relation = Distinct(Concat(tuple(project(diff.relation, first.ids) for diff in group)))
    origins = frozenset(origin for diff in group for origin in diff.origins)
    constants = first.constants if all(diff.constants == first.constants for diff in group) else ()
    return replace(first, known=(), relation=relation, origins=origins, constants=constants)


def kept(diff: IDiff, names: tuple[str, ...]) -> IDiff:
    """`diff` reduced to the attributes `names`, which include its IDs."""
    known = tuple(a for a in diff.known if a in names)
    assigned = tuple(a for a in diff.assigned if a in names)
    relation = project(diff.relation, diff.ids + assigned + known)
    return replace(diff, assigned=assigned, known=known, relation=relation)


__all__ = ["DEL", "INS", "REC", "UPD", "dropped", "kept", "passed", "recompute", "touched", "united"]
