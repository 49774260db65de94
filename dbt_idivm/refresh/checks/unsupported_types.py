"""Types whose equality differs from the equality of their texts, so that they have no net diff. Plans may not read them.

Under a collation, different texts are equal. CHAR(n) is padded with blanks when it is read. What it is compared with is padded,
too, but only where the engine knows the column: rows inlined as literals would be compared unpadded. DESCRIBE reports such a
column of a Delta table as a string.

Structs whose type is shown only in part are excluded as well: changes in the hidden part would go unnoticed. So are columns in
which a query stored what session_window returns. For these Spark keeps a mark in the schema of the table, which DESCRIBE does not
show. Where such a column is grouped, as in a net diff, Spark merges the sessions that overlap.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.types import is_cut, type_of
from dbt_idivm.algebra.types_of_times import ALL_TIMESTAMPS
from dbt_idivm.errors import Finding, finding
from dbt_idivm.operators.scan import Scan
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.commands import ALL_COLUMNS
from dbt_idivm.refresh.engine.scoped import temporarily
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.engine.together import grouped
from dbt_idivm.refresh.protocol import Rows
from dbt_idivm.script.dialect import may_hold_text

_PADDING = "readSidePadding"  # in the plan of a query that reads such a column
_MERGING = "MergingSessions"  # in the plan of a query that groups sessions
_CUT = re.compile(r"\.\.\. \d+ more fields")  # in a plan of which long lists of columns are not shown whole
_CHAR = re.compile(r"\bchar\(", re.IGNORECASE)


def unsupported_types(client: Client, scans: Collection[Scan]) -> Steps[tuple[Finding, ...]]:
    """Why a plan with these scans of base tables cannot be used; empty if it can."""
    cut = sorted({(scan.table, a.name) for scan in scans for a in scan.base_columns if a.definition is None and is_cut(a.type)})
    read = sorted(
        {
            (scan.table, a.name, a.type)
            for scan in scans
            for a in scan.base_columns
            if a.definition is None and may_hold_text(a.type)
        }
    )
    found = [
        finding(228, what=f"column {name} of {table}, because the engine shows only a part of its type") for table, name in cut
    ]
    found += [
        finding(228, what=f"column {name} of {table} with a collation")
        for table, name, kind in read
        if " collate " in kind.lower()
    ]
    tables = sorted({table for table, _, _ in read})
    yield from _look_at_all(client, tables)
    for table in tables:
        padded = yield from client.once(("padding", table), lambda table=table: _may_pad(client, table))  # type: ignore[misc]
        for name in [name for each, name, _ in read if padded and each == table]:
            described = yield from client.ask(client.commands.describe_column(table, name))
            if any(_CHAR.search(str(value)) for key, value, *_ in described.rows if key == "data_type"):
                found.append(finding(228, what=f"column {name} of {table} of type CHAR"))
    windows = sorted({(s.table, a.name) for s in scans for a in s.base_columns if a.definition is None and _is_window(a.type)})
    for table, name in windows:
        if (yield from client.once(("sessions", table, name), lambda t=table, n=name: _merges(client, t, n))):  # type: ignore[misc]
            what = f"column {name} of {table}, which holds sessions of session_window that Spark merges (store its start and end)"
            found.append(finding(228, what=what))
    return tuple(found)


def _is_window(kind: str) -> bool:
    """Whether this is the type of what window and session_window return."""
    struct = type_of(kind)
    fields = [each for each in struct.expressions if isinstance(each, exp.ColumnDef)]
    if [each.name.lower() for each in fields] != ["start", "end"]:
        return False
    return all(each.args["kind"].this in ALL_TIMESTAMPS for each in fields)


def _merges(client: Client, table: str, name: str) -> Steps[bool]:
    """Whether Spark merges sessions where it groups the column, which its plan shows."""
    grouped = exp.Select(expressions=[column(name)]).from_(client.dialect.table(table, None)).group_by(column(name))
    rows = yield from client.ask(client.commands.explain_query(client.dialect.sql(grouped), f"groups of {name} of {table}"))
    return any(_MERGING in str(row[0]) for row in rows.rows)


def _look_at_all(client: Client, tables: Iterable[str]) -> Steps[None]:
    """Remember of these tables that they pad nothing, if the plan that reads all of them does not."""
    asked = [table for table in tables if not client.invocation.knows(("padding", table))]
    for group in grouped(asked, lambda _: True):
        try:
            may_pad = yield from _may_pad(client, *group)
        except EngineFailure:  # each is asked alone, and reports its own failure
            continue
        if not may_pad:
            for table in group:
                client.invocation.remember(("padding", table), False)


# Wrong without the second question: Spark shows the first 25 columns only, and a CHAR behind them would be read as any text.
def _may_pad(client: Client, *tables: str) -> Steps[bool]:
    """Whether the plan of reading the tables pads a column, or is not shown whole."""
    asked = client.commands.explain(*tables)
    shown = _text((yield from client.ask(asked)))
    if _CUT.search(shown) and _PADDING not in shown:
        shown = _text((yield from temporarily(client, ALL_COLUMNS, client.ask(asked), needed=False)))
    return _PADDING in shown or _CUT.search(shown) is not None


def _text(plan: Rows) -> str:
    return "\n".join(str(row[0]) for row in plan.rows)
