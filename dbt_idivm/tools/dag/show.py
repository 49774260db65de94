"""The DAG as text: each group in a line, followed by its operations.

2 customers: 10 rows of 16 bytes
3 orders ⋈ customers: 100 rows of 30 bytes; v1, v2
    ⋈ orders.cid = customers.cid of 1, 2
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_idivm.tools.dag.dag import Dag, Group


def show(dag: Dag) -> str:
    return "\n".join(line for group in dag.groups for line in _lines(group, dag))


def _lines(group: Group, dag: Dag) -> Iterator[str]:
    views = ", ".join(name for name, number in dag.views.items() if number == group.number)
    facts = [
        f"{group.rows:.0f} rows of {group.width:.0f} bytes",
        *([] if group.storable else ["not storable"]),
        *([views] if views else []),
    ]
    name = group.form if group.is_table else f"{{{', '.join(sorted(group.tables))}}}"
    yield f"{group.number} {name}: {'; '.join(facts)}"
    for each in group.operations:
        yield f"    {each.label} of {', '.join(map(str, each.inputs)) or 'nothing'}"
