"""Screening conditions: for each table occurrence what a row has to satisfy to matter to the view at all.

A change of rows that cannot satisfy them, before and after, is a readily ignorable update (Hanson 1986, after Buneman and
Clemons): it is told from the net diff alone, before any table or the view is read.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, conjuncts, substitute
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import Aggregate, Join, Project, Scan, Select, SemiAntiJoin

Conditions = tuple[exp.Expr, ...]


def screens(root: Operator) -> Mapping[str, Conditions]:
    """Occurrence → the conditions over its own attributes without which no row of the view comes of a row of it."""
    found: dict[str, Conditions] = {}
    _collect(root, (), found)
    return found


def _collect(node: Operator, above: Conditions, found: dict[str, Conditions]) -> None:
    if isinstance(node, Scan):
        own = frozenset(node.columns)
        found[node.occurrence] = tuple(each for each in above if attributes(each) and own.issuperset(attributes(each)))
        return
    for child, conditions in zip(node.inputs, _below(node, above), strict=True):
        _collect(child, conditions, found)


def _below(node: Operator, above: Conditions) -> tuple[Conditions, ...]:
    """For each input, what its rows have to satisfy if those of `node` have to satisfy `above`."""
    if isinstance(node, Select):
        return ((*above, *conjuncts(node.condition)),)
    if isinstance(node, Project):
        passed = {name: definition for name, definition in node.definitions if isinstance(definition, exp.Column)}
        return (tuple(substitute(each, passed) for each in above if passed.keys() >= set(attributes(each))),)
    if isinstance(node, Join):
        return ((*above, *conjuncts(node.condition)),) * 2
    if isinstance(node, SemiAntiJoin):
        # the left rows of an anti-join stay where the condition fails
        own = conjuncts(node.condition)
        return (above if node.anti else (*above, *own), own)
    if isinstance(node, Aggregate):
        return (tuple(each for each in above if set(attributes(each)) <= set(node.groups)),)
    return ((),) * len(node.inputs)
