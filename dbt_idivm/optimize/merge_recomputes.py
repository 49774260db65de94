"""Recompute i-diffs over the same attributes → one, over all their values.

    before   REC(cid) from d_ins__orders, REC(cid) from d_del__orders
    after    REC(cid) from d_ins__orders + d_del__orders

Each REC of a refresh costs an evaluation of the restricted view; values that several of them name would be evaluated
several times. Payload that only some carry is dropped.
"""

from __future__ import annotations

from dataclasses import replace

from dbt_idivm.algebra.bags import Concat, Distinct
from dbt_idivm.algebra.core import project
from dbt_idivm.idiff.idiff import REC, IDiff


def merge_recomputes(idiffs: tuple[IDiff, ...]) -> tuple[IDiff, ...]:
    groups: dict[tuple[str, ...], list[IDiff]] = {}
    for diff in idiffs:
        if diff.kind is REC:
            groups.setdefault(diff.ids, []).append(diff)
    others = tuple(diff for diff in idiffs if diff.kind is not REC)
    return others + tuple(group[0] if len(group) == 1 else _merged(group) for group in groups.values())


def _merged(group: list[IDiff]) -> IDiff:
    first = group[0]
    relation = Distinct(Concat(tuple(project(diff.relation, first.ids) for diff in group)))
    origins = frozenset(origin for diff in group for origin in diff.origins)
    constants = first.constants if all(diff.constants == first.constants for diff in group) else ()
    return replace(first, known=(), relation=relation, origins=origins, constants=constants)
