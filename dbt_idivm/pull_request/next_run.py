"""Whether the next run after a change rebuilds a view: by the parts of which a stored view is recognised."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot.errors import TokenError

from dbt_idivm.artifacts import Node, dbt_config
from dbt_idivm.errors import IdivmError
from dbt_idivm.project import Project
from dbt_idivm.pull_request.facts import NextRun, Side
from dbt_idivm.refresh.decide.fingerprint import LAYOUT, code_of
from dbt_idivm.schema_file import SchemaFileError

# Part of the fingerprint → what differs, the first one first, as a refresh reports them (IDIVM-402, 412, 415).
_PARTS: Mapping[str, str] = {
    "sql": "another SELECT", "inputs": "other columns of what it reads", "caches": "other caches", "keys": "other keys",
    "output": "another `output`", "stored": "another set of stored columns"}
_OTHER_NAME = "under another name; the old relation remains"


def next_run(before: Project, after: Project, unique_id: str, was: Side, now: Side) -> NextRun:
    """What the next run does with a model that both states have."""
    old, new = before.keys.nodes[unique_id], after.keys.nodes[unique_id]
    if now.kind == "other":
        return NextRun(None, f"dbt makes it a `{now.how}`")
    if now.kind == "unknown":
        return NextRun(None)
    if now.kind == "rebuilt":
        return NextRun(True)  # as each run does
    if was.kind == "other":
        return NextRun(True, f"it was no maintained model, but `{was.how}`")
    if old.get("relation_name") != new.get("relation_name"):
        return NextRun(True, _OTHER_NAME)
    try:
        parts, wanted = before.fingerprint(old), after.fingerprint(new)
    except (IdivmError, SchemaFileError):
        return NextRun(True, _PARTS["sql"]) if code(old) != code(new) else NextRun(None)
    different = [part for part in wanted if parts.get(part) != wanted[part]]
    if different == [LAYOUT]:
        return _other_layout(new)
    if "sql" in different and code(old) == code(new):
        return NextRun(True, "another SELECT of a view that it reads")
    found = next((what for part, what in _PARTS.items() if part in different), None)
    return NextRun(False) if not different else NextRun(True, found or "another definition")


def _other_layout(node: Node) -> NextRun:
    """As `on_configuration_change` wants it."""
    choice = str(dbt_config(node["config"]).get("on_configuration_change", "apply"))
    if choice == "apply":
        return NextRun(True, "another layout, or other properties of its table")
    return NextRun(False, "the table keeps its layout (`on_configuration_change: continue`)" if choice == "continue" else
                   "the other layout is an error (`on_configuration_change: fail`)")


def code(node: Node) -> str:
    """The compiled SQL of a node without comments and layout; "" if it has none."""
    sql = str(node.get("compiled_code") or "")
    try:
        return code_of(sql)
    except TokenError:
        return sql
