"""Types whose equality differs from that of their texts, so that they have no net diff. Plans may not read them.

Under a collation, different texts are equal. CHAR(n) is padded with blanks when it is read, and so is whatever it is compared
with, but only where the engine knows the column: rows inlined as literals would be compared unpadded. DESCRIBE reports such a
column of a Delta table as a string.

Structs whose type is shown only in part are excluded as well: changes in the hidden part would go unnoticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dbt_idivm.algebra.types import is_cut
from dbt_idivm.errors import Finding, finding
from dbt_idivm.operators.scan import Scan
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.script.dialect import may_hold_text

_PADDING = "readSidePadding"  # in the plan of a query that reads such a column
_CHAR = re.compile(r"\bchar\(", re.IGNORECASE)


def unsupported_types(client: Client, scans: Iterable[Scan]) -> Steps[list[Finding]]:
    """Why a plan with these scans of base tables cannot be used; empty if it can."""
    scans = tuple(scans)
    cut = sorted({(scan.table, a.name) for scan in scans for a in scan.base_columns if a.definition is None and is_cut(a.type)})
    read = sorted(
        {
            (scan.table, a.name, a.type)
            for scan in scans
            for a in scan.base_columns
            if a.definition is None and may_hold_text(a.type)
        }
    )
    found = [finding(228, what=f"column {name} of {table}, of whose type the engine shows only a part") for table, name in cut]
    found += [
        finding(228, what=f"column {name} of {table} with a collation")
        for table, name, kind in read
        if " collate " in kind.lower()
    ]
    for table in sorted({table for table, _, _ in read}):
        padded = yield from client.once(("padding", table), lambda table=table: _pads(client, table))  # type: ignore[misc]
        for name in [name for each, name, _ in read if padded and each == table]:
            column = yield from client.ask(client.commands.describe_column(table, name))
            if any(_CHAR.search(str(value)) for key, value, *_ in column.rows if key == "data_type"):
                found.append(finding(228, what=f"column {name} of {table} of type CHAR"))
    return found


def _pads(client: Client, table: str) -> Steps[bool]:
    rows = yield from client.ask(client.commands.explain(table))
    return any(_PADDING in str(row[0]) for row in rows.rows)
