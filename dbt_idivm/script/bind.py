"""Choosing how one refresh is applied, and building its MERGE (design: direct, effective or additive; tuple-based)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import type_of
from dbt_idivm.idiff.idiff import REC, IDiff
from dbt_idivm.script.additive import additive_merge
from dbt_idivm.script.binding import Binding, Staged
from dbt_idivm.script.direct import direct_merge, is_direct
from dbt_idivm.script.effective import effective_merge
from dbt_idivm.script.key_ranges import add_key_ranges
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.prune_empty import non_empty
from dbt_idivm.script.tuple_based import tuple_merge
from dbt_idivm.script.value_range import TEXT

Shape = Literal["direct", "effective", "additive", "tuple"]


@dataclass(frozen=True)
class BoundScript:
    """The statement of one refresh, the way it applies, the i-diffs that it applies (none for additive and tuple), and what has
    to be staged for it."""

    merge: exp.Merge
    shape: Shape
    idiffs: tuple[IDiff, ...]
    staged: tuple[Staged, ...]

    @property
    def recomputes(self) -> bool:
        """Whether part of the view is evaluated anew."""
        return any(diff.kind is REC for diff in self.idiffs)


def bind(plan: Plan, binding: Binding, target: str, *, optimised: bool = True, additive: bool = True) -> BoundScript | None:
    """The Δ-script of one refresh as one MERGE into the table `target`; None if no i-diff has rows.

    Inlined net diffs are screened first. `optimised` chooses between the plan's two Δ-scripts. Raises KeyViolation where an
    inlined net diff shows one.
    """
    binding = replace(binding, screens=plan.annotated.screens, columns=plan.column_names)
    script = _script(plan, binding, target, optimised, additive)
    if script is not None:
        add_key_ranges(script.merge, _texts(plan, target))
    return script


def _script(plan: Plan, binding: Binding, target: str, optimised: bool, additive: bool) -> BoundScript | None:
    binder = binding.statement()
    if additive and plan.additive is not None:
        merge = additive_merge(plan, plan.additive, binder, target)
        return BoundScript(merge, "additive", (), binder.staged) if merge is not None else None
    if plan.strategy == "tuple":
        merge = tuple_merge(plan, binder, target)
        return BoundScript(merge, "tuple", (), binder.staged) if merge is not None else None
    idiffs = non_empty(plan.idiffs if optimised else plan.naive, binding.is_empty)
    if not idiffs:
        return None
    if is_direct(idiffs):
        merge = direct_merge(plan, idiffs, binder, target)
        return BoundScript(merge, "direct", idiffs, binder.staged)
    merge = effective_merge(plan, idiffs, binder, target, optimised=optimised)
    return BoundScript(merge, "effective", idiffs, binder.staged)


def _texts(plan: Plan, target: str) -> frozenset[tuple[str, str]]:
    """(table, column) of strings, in the tables and in the stored view."""
    types = plan.root.types
    stored = {(target, c.name) for c in plan.columns if types[c.attribute].this in TEXT}
    return frozenset(stored | {(scan.table, a.name) for scan in plan.scans for a in scan.base_columns
                               if type_of(a.type).this in TEXT})


def full_query(plan: Plan, binding: Binding) -> exp.Select:
    """The ID-extended view as a SELECT of its stored columns over the tables at their versions."""
    block = plan.root.block(replace(binding, columns=plan.column_names).statement())
    return replace(block, output={c.name: block.output[c.attribute] for c in plan.columns}).select()


def relation_query(relation: Relation, binding: Binding) -> exp.Query:
    """A relation as a SELECT of its attributes."""
    binder = binding.statement()
    return binder.attach(relation.block(binder).select())
