"""The vocabulary of rule builders: look-ups and conversions that all operators share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dbt_idivm.algebra.bags import Distinct
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
    """REC over the rows that `diff` names, by `ids` (its own P unless given). The payload stays where it covers both images.

    An update's values are those of the post-state only, so they go: a row named by its pre-state value would be missed.
    """
    names = diff.ids if ids is None else ids
    known = () if diff.kind is UPD else tuple(a for a in diff.relation.columns if a not in names)
    return IDiff(REC, names, (), known, project(diff.relation, names + known), diff.origins,
                 constants=tuple(pair for pair in diff.constants if pair[0] in names))


def touched(diff: IDiff, node: Operator, wanted: tuple[str, ...]) -> Relation:
    """A superset of the `wanted` values of the rows of `node` that `diff` touches, in both states where both count.

    DEL needs the pre-state and REC both: a post-state look-up finds no row that left, and the group it left would
    survive. The any-state (post-state plus deleted rows) holds both without time travel. For UPD, which must not assign
    `wanted`, the post-state is enough: rows that left are covered by the i-diff that moved them.
    """
    if diff.assigns(wanted):
        raise ValueError("convert an update of the wanted attributes to REC first")
    if diff.kind is INS:
        return Distinct(project(diff.relation, wanted))
    source = node.in_state("post") if diff.kind is UPD else node.in_state("any")
    return Distinct(Touched(diff.relation, diff.ids, wanted, source))


def kept(diff: IDiff, names: tuple[str, ...]) -> IDiff:
    """`diff` reduced to the attributes `names`, which hold its IDs."""
    known = tuple(a for a in diff.known if a in names)
    assigned = tuple(a for a in diff.assigned if a in names)
    relation = project(diff.relation, diff.ids + assigned + known)
    return replace(diff, assigned=assigned, known=known, relation=relation)


__all__ = ["DEL", "INS", "REC", "UPD", "dropped", "kept", "passed", "recompute", "touched"]
