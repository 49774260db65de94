"""The passes that make a view's operator tree final, as a tuple that can be read, and what is checked after each."""

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
    """What is asked of a tree: the attributes that the view shows, and whether it may hold operator caches."""

    shown: tuple[str, ...]
    operator_caches: bool


def show_output(root: Operator, request: Request) -> Operator:
    """A π at the top that has what the view shows."""
    return root if isinstance(root, Project) else Project(root, passing(request.shown))


def use_inner_joins(root: Operator, request: Request) -> Operator:
    """No outer join whose padded rows a condition removes."""
    return to_inner_joins(root)


def use_look_ups(root: Operator, request: Request) -> Operator:
    """No outer join along a key of its right input but look-ups."""
    return to_look_ups(root)


def drop_unused(root: Operator, request: Request) -> Operator:
    """No attribute that the view does not depend on."""
    return prune_attributes(root, frozenset(request.shown))


def place_caches_of_operators(root: Operator, request: Request) -> Operator:
    """The sums and counts that the additive rules of γ need, held in the view itself."""
    return place_operator_caches(root) if request.operator_caches else root


def place_what_rows_are_ranked_by(root: Operator, request: Request) -> Operator:
    """What the first rows of partitions are ranked by, held in the view itself."""
    return place_first_rows(root) if request.operator_caches else root


def place_what_values_are_continued_by(root: Operator, request: Request) -> Operator:
    """What running values of new rows are continued by, held in the view itself."""
    return place_running(root) if request.operator_caches else root


def extend_by_ids(root: Operator, request: Request) -> Operator:
    """IDs everywhere, and the columns that recompute i-diffs name rows by."""
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
    """The tree after each of `PASSES`. Raises AssertionError where a pass leaves something that is no such tree."""
    steps = []
    for each in PASSES:
        before, root = root, each(root, request)
        check(each.__name__, before, root, request)
        steps.append(Step(each.__name__, root))
    return tuple(steps)


def check(name: str, before: Operator, after: Operator, request: Request) -> None:
    """What holds after every pass: the view's attributes in the same types, the same tables, names that are unique and known."""
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
