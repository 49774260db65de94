"""From an operator tree to a plan: the passes in order."""

from __future__ import annotations

import re
from itertools import count

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators.project import Project
from dbt_idivm.optimize import optimize
from dbt_idivm.passes.attributes import prune_attributes
from dbt_idivm.passes.base_idiffs import base_idiffs
from dbt_idivm.passes.infer_ids import infer_ids
from dbt_idivm.passes.operator_caches import additive_state, place_operator_caches
from dbt_idivm.passes.propagate import propagate
from dbt_idivm.script.plan import Plan, Strategy, ViewColumn

HIDDEN = "idivm__"  # hidden columns of the stored view begin with this
_REFUSED = re.compile(r"[ ,;{}()\n\t=]")  # what Delta takes in a column name only under column mapping


def compile_plan(root: Operator, output: tuple[tuple[str, str], ...], *, strategy: Strategy = "id",
                 caches: bool = True) -> Plan:
    """The plan of the view `root` whose user columns are `output`: (name, attribute of root), in order.

    prune attributes → place operator caches → infer IDs → base i-diffs → propagate → optimise; a tuple-based plan ends
    with the IDs. Without `caches` no hidden state is added to the view.
    """
    shown = tuple(dict.fromkeys(attribute for _, attribute in output))
    view: Operator = root if isinstance(root, Project) else Project(root, tuple((name, column(name)) for name in shown))
    view = prune_attributes(view, frozenset(shown))
    caches = caches and strategy != "recompute"
    if caches:
        view = place_operator_caches(view)
    view = infer_ids(view)
    columns = tuple(ViewColumn(name, attribute) for name, attribute in output)
    columns += _hidden([name for name, _ in output], [name for name in view.columns if name not in shown])
    state = additive_state(view) if caches else None
    if strategy == "tuple":
        return Plan(view, columns, {}, (), (), (), state, strategy)
    base = base_idiffs(view, strategy == "recompute")
    found = propagate(view, base)
    return Plan(view, columns, base, found.idiffs, optimize(found.idiffs), found.firings, state, strategy)


def _hidden(shown: list[str], attributes: list[str]) -> tuple[ViewColumn, ...]:
    """The hidden columns, under names that every Delta table can have and the user has not taken."""
    taken = {name.lower() for name in shown}
    found = []
    for attribute in attributes:
        base = HIDDEN + _REFUSED.sub("_", attribute)
        tried = (base if number == 1 else f"{base}_{number}" for number in count(1))
        name = next(each for each in tried if each.lower() not in taken)
        taken.add(name.lower())
        found.append(ViewColumn(name, attribute, hidden=True))
    return tuple(found)
