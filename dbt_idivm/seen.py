"""What the last run of a model saw: the columns, types and keys of its inputs and of itself, in `target/idivm/<model>/seen.json`.

    {"version": 1,
     "model": {"relation": "main.sales", "columns": {"id": "bigint", "total": "decimal(20,2)"}},
     "inputs": {"raw.orders": {"columns": {"id": "bigint", "price": "double"}, "key": ["id"], "declared": "test unique_id"}}}

Commands that have no engine read it (`seen_files.py`) to explain the project (`seen_columns.py`). A refresh never does. The text
is the same for the same inputs; when it was written is the time of the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from dbt_idivm.operators.scan import Attribute

VERSION = 1
FOLDER = "idivm"  # in dbt's target folder


@dataclass(frozen=True)
class Relation:
    """An input as a run saw it. `key`: the columns that the plan relied on, `declared`: where they are declared."""

    columns: tuple[Attribute, ...]
    key: tuple[str, ...] = ()
    declared: str = ""


def file_name(version: object = None) -> str:
    """The name of the file in the folder of a model. The versions of a model share a folder."""
    return "seen.json" if version is None else f"seen.v{version}.json"


def as_json(relation: str, columns: tuple[Attribute, ...], inputs: Mapping[str, Relation]) -> str:
    """The content of the file of the model `relation`. `columns`: empty if they are not known."""
    content = {
        "version": VERSION,
        "model": {"relation": relation, **({"columns": _types(columns)} if columns else {})},
        "inputs": {
            name: {
                "columns": _types(each.columns),
                **({"key": list(each.key), "declared": each.declared} if each.key else {}),
            }
            for name, each in sorted(inputs.items())
        },
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _types(columns: tuple[Attribute, ...]) -> dict[str, str]:
    return {each.name: each.type for each in columns}
