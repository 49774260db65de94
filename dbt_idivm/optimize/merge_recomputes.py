"""Recompute i-diffs over the same attributes → a single one with all their values.

    before   REC(cid) from d_ins__orders, REC(cid) from d_del__orders
    after    REC(cid) from d_ins__orders + d_del__orders

Each REC costs an evaluation of the restricted view, so values that several of them contain would be evaluated several times. The
payload is dropped.
"""

from __future__ import annotations

from dbt_idivm.idiff.build import united
from dbt_idivm.idiff.idiff import REC, IDiff


def merge_recomputes(idiffs: tuple[IDiff, ...]) -> tuple[IDiff, ...]:
    return united(idiffs, lambda diff: diff.kind is REC)
