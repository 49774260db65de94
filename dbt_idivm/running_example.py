"""The running example of the idIVM paper (§2, Figure 1) for `docs/onboarding.md`: V, the parts of phones, and V', their cost."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.definition.compiling import compiled
from dbt_idivm.definition.questions import without_engine
from dbt_idivm.explain import tree
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.by_idiffs import ByIDiffs
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.diff import InlineDiff
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import BoundScript, bind, render_rows
from dbt_idivm.script.source_rows import SourceRows
from dbt_idivm.script.ways import STRATEGIES, Strategy

TABLES = (
    TableInfo("devices", (Attribute("did", "int"), Attribute("category", "string")), ("did",), "primary key"),
    TableInfo("parts", (Attribute("pid", "int"), Attribute("price", "int")), ("pid",), "primary key"),
    TableInfo("devices_parts", (Attribute("did", "int"), Attribute("pid", "int")), ("did", "pid"), "primary key"),
)
_FROM = """FROM parts AS p
JOIN devices_parts AS dp ON p.pid = dp.pid
JOIN devices AS d ON dp.did = d.did
WHERE d.category = 'phone'"""
V = f"SELECT d.did, p.pid, p.price\n{_FROM}"
COSTS = f"SELECT d.did, SUM(p.price) AS cost\n{_FROM}\nGROUP BY d.did"
# the price of part 1 changes from 10 to 11
PRICE_CHANGE = {"parts": InlineDiff(("pid", "price"), (((1, 10), -1), ((1, 11), 1)))}


def plan_of(sql: str, strategy: Strategy = "id") -> Plan:
    catalog = Catalog({table.name: table for table in TABLES})
    return without_engine(compiled(sql, catalog, ways=STRATEGIES[strategy])).plan


def blocks() -> Mapping[str, str]:
    """Name → text, for each block of the page."""
    view, costs = plan_of(V), plan_of(COSTS)
    way = view.way("id")
    assert isinstance(way, ByIDiffs)
    return {
        "V": V,
        "V ids": "\n".join(tree(view.root)),
        "V base": "\n".join(f"{occurrence}: {diff}" for occurrence, diffs in way.base.items() for diff in diffs),
        "V rules": "\n".join(
            f"{firing.operator}: {firing.incoming} → {firing.rule}, {firing.outgoing} out" for firing in way.firings
        ),
        "V naive": "\n".join(map(str, way.naive)),
        "V optimised": "\n".join(map(str, way.idiffs)),
        "V price": _merge(view),
        "V price by key": _by_key(view),
        "V price by tuples": _merge(plan_of(V, "tuple")),
        "costs": COSTS,
        "costs ids": "\n".join(tree(costs.root)),
        "costs price": _merge(costs),
    }


def _merge(plan: Plan) -> str:
    return DELTA.sql(_script(plan).statement)


def _by_key(plan: Plan) -> str:
    """The statement that replaces the MERGE once the rows of its source are known."""
    source = SourceRows(("p__pid", "p__price"), ("int", "int"), ((1, 11),))
    statement = render_rows(_script(plan), source, DELTA)
    assert isinstance(statement, exp.Update)
    return DELTA.sql(statement)


def _script(plan: Plan) -> BoundScript:
    script = bind(plan, Binding(changes=net_changes(plan, PRICE_CHANGE)), "v")
    assert script is not None
    return script
