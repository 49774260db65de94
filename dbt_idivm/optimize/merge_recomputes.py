"""Recompute i-diffs over the same attributes → one, over all their values.

    before   REC(cid) from d_ins__orders, REC(cid) from d_del__orders
    after    REC(cid) from d_ins__orders + d_del__orders

Each REC of a refresh costs an evaluation of the restricted view; values that several of them name would be evaluated
several times. Payload that only some carry is dropped.
"""

from __future__ import annotations

from dbt_idivm.idiff.build import united
from dbt_idivm.idiff.idiff import REC, IDiff


def merge_recomputes(idiffs: tuple[IDiff, ...]) -> tuple[IDiff, ...]:
    return united(idiffs, lambda diff: diff.kind is REC)
