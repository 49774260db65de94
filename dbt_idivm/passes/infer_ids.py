"""Pass 1, ID inference (idIVM §4, Table 1): the plan is extended so that every operator's output contains its IDs."""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator


def infer_ids(root: Operator) -> Operator:
    """The ID-extended plan: the same rows, with any missing ID attributes and any missing `named_by` attributes in each output.

    Raises AssertionError if an operator does not pass them.
    """
    extended = root.with_inputs(*map(infer_ids, root.inputs)).with_ids()
    if missing := {*extended.ids, *extended.named_by} - set(extended.columns):
        raise AssertionError(f"{extended.label()} lacks {sorted(missing)}, by which its rows are named")
    return extended
