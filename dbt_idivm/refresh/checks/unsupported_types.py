"""Types whose values are not equal as their texts are, so that they have no net diff: a plan may not read them.

A collation makes texts equal that differ. CHAR(n) is read with blanks up to its length, and what it is compared with gets
them too, but only where the engine knows the column: rows inlined as literals would be compared without. DESCRIBE calls
such a column of a Delta table a string.

And a struct of whose type only a part is shown: what others change of the rest would not be seen.
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
    """Why a plan that reads base tables by these scans cannot be used; nothing if it can."""
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
