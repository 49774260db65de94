"""Views that consist of π and σ over one ω with a PARTITION BY: their outputs and conditions over the attributes of ω."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from sqlglot import exp

from dbt_idivm.algebra.core import Compute, Filter
from dbt_idivm.algebra.expressions import attributes, column, conjunction, conjuncts, passing, substitute
from dbt_idivm.algebra.operator import SIGN, Operator, operators_of
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import Type, cannot_be_carried, is_known, is_storable, name_of_type
from dbt_idivm.cached import cached_property
from dbt_idivm.operators.project import Project
from dbt_idivm.operators.window import Window

Definitions = tuple[tuple[str, exp.Expr], ...]


@dataclass(frozen=True)
class WindowRoot:
    """A view over `window`. `outputs` defines its attributes, and `conditions` select its rows, both over the attributes of ω.

    All calls must have the same ORDER BY for the view to be maintained from stored rows. Outputs that are `late` are evaluated
    only for rows of the view: they depend on window values, or may fail on a row that the view does not have.
    """

    window: Window
    outputs: Definitions
    conditions: tuple[exp.Expr, ...]

    # Rows that are gone are removed from the stored rows by their IDs. Of a row number no input knows the value.
    @property
    def has_lasting_ids(self) -> bool:
        """Whether a row has the same IDs in each state."""
        child = self.window.child
        return child.unique and all(each.number is None for each in operators_of(child, Window))

    @property
    def partition(self) -> tuple[str, ...]:
        return self.window.partition

    @property
    def order(self) -> tuple[exp.Expr, ...]:
        return self.window.calls[0].order

    @property
    def ordering(self) -> tuple[str, ...]:
        """The attributes of O, the ORDER BY."""
        return tuple(dict.fromkeys(name for each in self.order for name in attributes(each)))

    @property
    def values(self) -> tuple[str, ...]:
        """The attributes that ω adds."""
        return tuple(call.name for call in self.window.calls)

    @cached_property
    def late(self) -> frozenset[str]:
        return frozenset(
            name
            for name, definition in self.outputs
            if not {*self.values}.isdisjoint(attributes(definition)) or may_raise(definition, self.window.types)
        )

    @property
    def early(self) -> Definitions:
        """The outputs that can be computed before the window functions are."""
        return tuple((name, definition) for name, definition in self.outputs if name not in self.late)

    @property
    def read_late(self) -> tuple[str, ...]:
        """The attributes from which late outputs are computed. They may repeat."""
        return tuple(name for output, definition in self.outputs if output in self.late for name in attributes(definition))

    def signed(self, parts: Definitions = ()) -> Relation:
        """ΔR with the outputs of the view that are not late, and `parts`. Only changes of partitions that the view has."""
        changes, conditions = self.window.child.signed(), conjunction(self.conditions)
        kept = changes if conditions is None else Filter(changes, conditions)
        return Compute(kept, (*self.early, *parts, (SIGN, column(SIGN))))

    def shown(self, rows: Relation, values: Mapping[str, exp.Expr] = MappingProxyType({})) -> Relation:
        """Rows that have the early outputs and all that late ones are computed from, as rows of the view.

        `values`: definitions of attributes of ω that the rows have under another name.
        """
        late = {
            name: substitute(definition, {**{each: column(each) for each in attributes(definition)}, **values})
            for name, definition in self.outputs
            if name in self.late
        }
        return Compute(rows, tuple((name, late.get(name, column(name))) for name, _ in self.outputs))

    @property
    def held(self) -> frozenset[str]:
        """The attributes of ω that the view has unchanged, under their own names."""
        return frozenset(
            name for name, definition in self.outputs if isinstance(definition, exp.Column) and definition.name == name
        )


def window_root(root: Operator) -> WindowRoot | None:
    """The view as π and σ over an ω with a PARTITION BY; None if it has another form."""
    nodes = []
    node = root
    while _is_passing(node):
        nodes.append(node)
        (node,) = node.inputs
    if not isinstance(node, Window) or not node.partition:
        return None
    return WindowRoot(node, *_composed(node, nodes))


def _is_passing(node: Operator) -> bool:
    """Whether this is π or σ."""
    return node.is_select_project_join and len(node.inputs) == 1


def _composed(window: Window, nodes: list[Operator]) -> tuple[Definitions, tuple[exp.Expr, ...]]:
    """(outputs, conditions) of the π and σ above ω, over the attributes of ω."""
    outputs, conditions = passing(window.columns), []
    for each in reversed(nodes):
        known = dict(outputs)
        conditions += [substitute(part, known) for condition in each.conditions for part in conjuncts(condition)]
        outputs = tuple((name, substitute(definition, known)) for name, definition in each.defined) or outputs
    return outputs, tuple(conditions)


# Wrong for a condition on other attributes: over ω_{cid; row_number() by placed → n}(orders), σ n <= 2 ∧ open may keep one row of
# a partition of ten, which then looks like a partition of one row.
def is_of_partitions(window: Window, condition: exp.Expr) -> bool:
    """Whether the condition is true for all rows of a partition or for none, and cannot fail on changed rows."""
    return {*attributes(condition)} <= {*window.partition} and not may_raise(condition, window.types)


def can_be_stored(kind: exp.DataType) -> bool:
    """Whether a hidden column can store values of the type."""
    return is_known(kind) and kind.this != Type.NULL and is_storable(name_of_type(kind)) and not cannot_be_carried(kind)


def passed_up(root: Operator, names: Iterable[str]) -> Operator:
    """The tree with the attributes `names` passed through each π above ω."""
    if not _is_passing(root):
        return root
    names = tuple(names)
    found = root.with_inputs(*(passed_up(each, names) for each in root.inputs))
    if not isinstance(found, Project):
        return found
    return replace(found, definitions=found.definitions + passing(name for name in names if name not in root.columns))
