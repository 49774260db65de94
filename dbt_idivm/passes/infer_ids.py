"""Pass 1, inferring IDs (idIVM §4, Table 1): the plan extended so that every operator's output holds its IDs."""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator


def infer_ids(root: Operator) -> Operator:
    """The ID-extended plan, children first: the rows of `root`, with the ID attributes that were missing, and those by which
    recompute i-diffs may name its rows. Raises AssertionError for an operator that does not pass them."""
    extended = root.with_inputs(*map(infer_ids, root.inputs)).with_ids()
    if missing := {*extended.ids, *extended.named_by} - set(extended.columns):
        raise AssertionError(f"{extended.label()} lacks {sorted(missing)}, by which its rows are named")
    return extended
