"""Read the files that say what the last run saw (`seen.py`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from dbt_idivm.definition.found_keys import FOUND
from dbt_idivm.errors import Finding, finding
from dbt_idivm.relation_name import as_named
from dbt_idivm.seen import FOLDER, VERSION

_FILES = "*/seen*.json"
_COLUMNS = {"type": "object", "additionalProperties": {"type": "string"}}
_KEY = {"type": "array", "items": {"type": "string"}}
_RELATION = {"type": "object", "required": ["columns"], "properties": {"columns": _COLUMNS, "key": _KEY}}
_FORM = {
    "type": "object",
    "required": ["inputs"],
    "properties": {
        "model": {
            "type": "object",
            "required": ["relation"],
            "properties": {"relation": {"type": "string"}, "columns": _COLUMNS},
        },
        "inputs": {"type": "object", "additionalProperties": _RELATION},
    },
}


@dataclass(frozen=True)
class Seen:
    """The columns (name → type) of a relation, and when they were seen, in seconds."""

    columns: Mapping[str, str]
    at: float


def seen_in(target: Path) -> tuple[dict[str, Seen], tuple[Finding, ...]]:
    """Relation → what was seen of it last, of all files in the target folder; and a finding (IDIVM-124) for each file that cannot
    be used."""
    found: dict[str, Seen] = {}
    problems = []
    for path in sorted((target / FOLDER).glob(_FILES)):
        try:
            at, content = path.stat().st_mtime, _content(path)
        except OSError as error:
            problems.append(finding(124, file=path, problem=f"it cannot be read: {error.strerror}"))
        except (ValueError, RecursionError) as error:
            problems.append(finding(124, file=path, problem=error))
        else:
            for name, columns in _relations(content):
                if columns and (name not in found or found[name].at <= at):
                    found[name] = Seen(columns, at)
    return found, tuple(problems)


def found_keys_in(target: Path) -> dict[str, tuple[str, ...]]:
    """Relation → columns of its key, where the last run that read it had found the key in the data. Files that cannot be used are
    left out."""
    last: dict[str, tuple[float, tuple[str, ...]]] = {}
    for path in sorted((target / FOLDER).glob(_FILES)):
        with suppress(OSError, ValueError, RecursionError):
            at, content = path.stat().st_mtime, _content(path)
            for name, each in content["inputs"].items():
                key = tuple(each.get("key", ())) if each.get("declared") == FOUND else ()
                last[as_named(name)] = max(last.get(as_named(name), (0.0, ())), (at, key))
    return {name: key for name, (_, key) in last.items() if key}


def _content(path: Path) -> dict[str, Any]:
    """The parsed file. Raises OSError, and ValueError with the reason why it cannot be used."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError("it is not JSON") from error
    version = found.get("version") if isinstance(found, dict) else None
    if not isinstance(found, dict) or version is None:
        raise ValueError("it has another form")
    if version != VERSION:
        raise ValueError(f"its format has the version {version}, and this version of dbt-idivm reads {VERSION}")
    if next(Draft202012Validator(_FORM).iter_errors(found), None) is not None:
        raise ValueError("it has another form")
    return found


def _relations(content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, str]]]:
    model = content.get("model") or {}
    if model.get("columns"):
        yield as_named(model["relation"]), model["columns"]
    for name, each in content["inputs"].items():
        yield as_named(name), each["columns"]
