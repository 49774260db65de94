"""constants moved: an edit of constants alone, such as the value of a dbt variable.

    SELECT … FROM o WHERE d >= '2026-01-01'     SELECT … FROM o WHERE d >= '2026-02-01'

The constants that differ become the attributes of one row, as expressions of the clock are (ADR 0059). What the edit changes
is then what an update of this row changes: rows enter and leave as by a moved clock. The Δ-script reads the tables at the
versions in the old state, and its statement changes the stored rows.

Sound: with its old constants this plan has the rows that are stored, and with its new ones those of the new plan, hidden columns
included. Both are proven: the trees are equal, or it is an edit that changes nothing (`adapt.py`). Otherwise the view is
rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.adaptation.adapt import Adaptation, adapt
from dbt_idivm.adaptation.moving import Constant, Merging, NotOfConstants
from dbt_idivm.algebra.expressions import attributes, render
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.written_time import INPUT_SIGN, clock_calls
from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Caching, Word
from dbt_idivm.deep import deep_recursion
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.clock_input import ClockInput, expression_of
from dbt_idivm.frontend.names import names_of
from dbt_idivm.operators import Join
from dbt_idivm.operators.scan import CLOCK, Attribute, Scan, scans
from dbt_idivm.passes.attributes import prune_attributes
from dbt_idivm.passes.canonical import canonical
from dbt_idivm.script.diff import InlineDiff, NetChanges, Row
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ways import WayName

NAME = "constants moved"
_POLICIES: tuple[Word, ...] = ("auto", "none")  # whether rows have the state of the groups


@dataclass(frozen=True)
class Moved:
    """`plan`: the view over the constants, which are columns of the clock. `constants`: those that differ, by these columns.
    `table`: that of the stored rows. `way`: the way to be used; None: the first one that can be."""

    plan: Plan
    constants: Mapping[str, Constant]
    table: str
    way: WayName | None = None

    edits = (NAME,)
    summary = NAME
    in_place = True

    @property
    def sources(self) -> tuple[str, ...]:
        """The tables that are read in addition to the stored view."""
        return self.plan.tables

    def changes(self, old: Row, new: Row) -> NetChanges:
        """The net diff of the constants, which had and have these values in the order of `constants`."""
        rows = ((old, -1), (new, 1)) if old != new else ()
        return net_changes(self.plan, {CLOCK: InlineDiff(tuple(self.constants), rows)} if rows else {})


@deep_recursion()
def moved(old: Plan, new: Plan, table: str) -> Moved | None:
    """The edit of constants that leads from the stored rows of `old` to those of `new`; None if it is another edit."""
    if _times(old) != _times(new) or old.caches or new.caches:
        return None
    old, new = _as_written(old), _as_written(new)
    merging = Merging()
    try:
        tree = merging.tree(_lowered(old), _lowered(new))
    except NotOfConstants:
        return None
    if not merging.constants:
        return None
    shown = tuple((each.name, each.attribute) for each in new.columns if not each.hidden)
    root = ClockInput(names_of(tree)).read(tree, frozenset(attribute for _, attribute in shown))
    pruned = prune_attributes(root, frozenset(attribute for _, attribute in shown))  # times of writing are no attributes
    if any(clock_calls(each) for node in operators(pruned) for each in node.expressions):
        return None  # there is no rule for an operator that reads them
    known = {render(each.input): each for each in merging.constants}
    for policy in _POLICIES:
        try:
            ways = [each.name for each in new.ways]
            plan = compile_plan(root, shown, ways=ways, caching=Caching(policy), times=new.times)
        except (IdivmError, ValueError):
            return None
        constants = {each.name: known.get(each.name) or _of_clock(each) for each in plan.clock}
        found = Moved(plan, {name: each for name, each in constants.items() if each is not None}, table)
        if None in constants.values():
            return None
        if _is_proven(found, old, new):
            return found
    return None


def _as_written(plan: Plan) -> Plan:
    """The plan with the expressions of the clock in their places, where they are constants at one time."""
    steps = (replace(plan.passes[0], root=_in_place_of_the_clock(_lowered(plan), expression_of)), *plan.passes[1:])
    return replace(plan, root=_in_place_of_the_clock(plan.root, expression_of), passes=steps)


def _in_place_of_the_clock(root: Operator, value: Callable[[Attribute], exp.Expr]) -> Operator:
    """The tree without the row of the clock: this value stands in the place of each of its columns."""
    clocks = [each for each in scans(root) if each.is_clock]
    return _without_clock(root, {scan.attribute(each.name): value(each) for scan in clocks for each in scan.base_columns})


def _of_clock(attribute: Attribute) -> Constant | None:
    """An expression of the clock that stays as it is; None if a constant in it moves."""
    if INPUT_SIGN in attribute.name:
        return None
    expression = expression_of(attribute)
    return Constant(0, attribute.type, expression, expression)


def _times(plan: Plan) -> list[tuple[str, int, str]]:
    return [(each.name, each.place, render(each.definition)) for each in plan.times]


def _lowered(plan: Plan) -> Operator:
    return plan.passes[0].root


def _is_proven(found: Moved, old: Plan, new: Plan) -> bool:
    """Whether the plan has the rows of both views: with its old constants those of `old`, with its new ones those of `new`."""
    if len({tuple((each.name, each.hidden) for each in plan.columns) for plan in (found.plan, old, new)}) > 1:
        return False
    was = _with_constants(found, lambda each: each.old)
    now = _with_constants(found, lambda each: each.new)
    return _has_rows_of(was, old, found.table) and _has_rows_of(now, new, found.table)


def _has_rows_of(plan: Plan, other: Plan, table: str) -> bool:
    """Whether the stored columns, in their order, have the same values in the same rows."""
    mine, theirs = canonical(plan.root), canonical(other.root)
    if mine.text == theirs.text:
        names = mine.names_for(theirs)
        return [names[each.attribute] for each in plan.columns] == [each.attribute for each in other.columns]
    found = adapt(replace(other, times=()), replace(plan, times=()), table)
    return found is not None and found.is_nothing


def _with_constants(found: Moved, value: Callable[[Constant], exp.Expr]) -> Plan:
    """The plan with these values of the constants in their places."""
    root = _in_place_of_the_clock(found.plan.root, lambda each: value(found.constants[each.name]))
    return replace(found.plan, root=root)


def _without_clock(node: Operator, values: Mapping[str, exp.Expr]) -> Operator:
    if isinstance(node, Join) and isinstance(node.right, Scan) and node.right.is_clock:
        return _without_clock(node.left, values)
    inputs = [_without_clock(each, values) for each in node.inputs]
    return node.rewritten(lambda each: _put(each, values), *inputs)


# Wrong with `substitute`: it casts a constant to the type that it has as a column.
def _put(expression: exp.Expr, values: Mapping[str, exp.Expr]) -> exp.Expr:
    if values.keys().isdisjoint(attributes(expression)):
        return expression
    return expression.transform(
        lambda node: values[node.name].copy() if isinstance(node, exp.Column) and node.name in values else node
    )


def edit_of(old: Plan, new: Plan, table: str) -> Adaptation | Moved | None:
    """The edit that leads from the stored rows of `old` to those of `new`, by which least is written; None if it is not known."""
    found = adapt(old, new, table)
    if found is not None and found.in_place and (found.kept is None or found.more is None):
        return found
    return moved(old, new, table) or found
