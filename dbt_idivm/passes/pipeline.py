"""The passes that turn a view's operator tree into its final form, in order, and the checks after each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dbt_idivm.algebra.expressions import attributes, passing
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import may_be_same
from dbt_idivm.operators.project import Project
from dbt_idivm.operators.scan import scans
from dbt_idivm.passes.attributes import prune_attributes
from dbt_idivm.passes.first_rows import place_first_rows
from dbt_idivm.passes.infer_ids import infer_ids
from dbt_idivm.passes.inner_joins import to_inner_joins
from dbt_idivm.passes.look_ups import to_look_ups
from dbt_idivm.passes.operator_caches import place_operator_caches
from dbt_idivm.passes.running import place_running


@dataclass(frozen=True)
class Request:
    """What is required of a tree: the attributes that the view shows, and whether it may store operator caches."""

    shown: tuple[str, ...]
    operator_caches: bool


def show_output(root: Operator, request: Request) -> Operator:
    """Put a π at the top that has the attributes that the view shows."""
    return root if isinstance(root, Project) else Project(root, passing(request.shown))


def use_inner_joins(root: Operator, request: Request) -> Operator:
    """Replace outer joins whose padded rows are removed by a condition."""
    return to_inner_joins(root)


def use_look_ups(root: Operator, request: Request) -> Operator:
    """Replace outer joins on a key of their right input by look-ups."""
    return to_look_ups(root)


def drop_unused(root: Operator, request: Request) -> Operator:
    """Drop all attributes on which the view does not depend."""
    return prune_attributes(root, frozenset(request.shown))


def place_caches_of_operators(root: Operator, request: Request) -> Operator:
    """Store the sums and counts that the additive rules of γ need in the view itself."""
    return place_operator_caches(root) if request.operator_caches else root


def place_what_rows_are_ranked_by(root: Operator, request: Request) -> Operator:
    """Store the attributes by which the first rows of partitions are ranked in the view itself."""
    return place_first_rows(root) if request.operator_caches else root


def place_what_values_are_continued_by(root: Operator, request: Request) -> Operator:
    """Store the attributes from which running values of new rows are continued in the view itself."""
    return place_running(root) if request.operator_caches else root


def extend_by_ids(root: Operator, request: Request) -> Operator:
    """Add IDs to all operators, and the columns by which recompute i-diffs identify rows."""
    return infer_ids(root)


PASSES: tuple[Callable[[Operator, Request], Operator], ...] = (
    show_output,
    use_inner_joins,
    use_look_ups,
    drop_unused,
    place_caches_of_operators,
    place_what_rows_are_ranked_by,
    place_what_values_are_continued_by,
    extend_by_ids,
)


@dataclass(frozen=True)
class Step:
    """The tree after one pass."""

    name: str
    root: Operator


def run_passes(root: Operator, request: Request) -> tuple[Step, ...]:
    """The tree after each of `PASSES`, in order. Raises AssertionError if the result
    of a pass violates an invariant (`check`).
    """
    steps = []
    for each in PASSES:
        before, root = root, each(root, request)
        check(each.__name__, before, root, request)
        steps.append(Step(each.__name__, root))
    return tuple(steps)


def check(name: str, before: Operator, after: Operator, request: Request) -> None:
    """Raise AssertionError unless the invariants of every pass hold.

    The view's attributes exist with the same types, the same table occurrences are read in the same order, attribute names are
    unique, and expressions use only attributes of their inputs.
    """
    if missing := set(request.shown) - set(after.columns):
        raise AssertionError(f"{name} loses {sorted(missing)}")
    old, new = before.types, after.types
    if changed := [each for each in request.shown if not may_be_same(old[each], new[each])]:
        raise AssertionError(f"{name} changes the types of {changed}")
    if [scan.occurrence for scan in scans(before)] != [scan.occurrence for scan in scans(after)]:
        raise AssertionError(f"{name} changes the tables that are read")
    for node in operators(after):
        _check_node(name, node)


def _check_node(name: str, node: Operator) -> None:
    below = {each for child in node.inputs for each in child.columns}
    if len(set(node.columns)) < len(node.columns):
        raise AssertionError(f"{name} leaves {node.label()} with two attributes of one name")
    if unknown := {each for expression in node.expressions for each in attributes(expression)} - below:
        raise AssertionError(f"{name} leaves {node.label()} with {sorted(unknown)}, which its inputs lack")
