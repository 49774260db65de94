"""Predict whether the next run after a change rebuilds a view, by comparing the parts of its fingerprint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot.errors import TokenError

from dbt_idivm.adaptation.moved import edit_of
from dbt_idivm.artifacts import Node, dbt_config
from dbt_idivm.definition.config import CHOOSING
from dbt_idivm.definition.fingerprint import LAYOUT, are_there, had_no_plan, used_columns
from dbt_idivm.errors import IdivmError, listed
from dbt_idivm.frontend.dialect import code_of
from dbt_idivm.project import Project
from dbt_idivm.relation_name import name_parts
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.script.plan import columns_of_plan
from dbt_idivm.settings import own_config
from dbt_idivm.tools.advice.show import seconds
from dbt_idivm.tools.advice.storing import EPHEMERAL
from dbt_idivm.tools.pull_request.facts import NextRun, Side
from dbt_idivm.tools.pull_request.migrations import Migrations

# Part of the fingerprint → difference, in the order in which a refresh reports them (IDIVM-402, 426, 412, 415).
_PARTS: Mapping[str, str] = {
    "sql": "another SELECT",
    "inputs": "other columns of what it reads",
    "caches": "other caches",
    "ties": "other columns that order tied rows",
    "keys": "other keys",
    "output": "another `output`",
    "stored": "another set of stored columns",
}
# Parts that may change together with the SELECT, and those that may change together with keys.
_OF_A_SELECT = frozenset({"sql", "inputs", "caches", "ties", "keys", "stored"})
_OF_KEYS = _OF_A_SELECT - {"sql", "inputs"}
_UNCHECKED = "rebuilds it if a refresh under the former `verify` left keys unchecked"


def unstored(now: Side, before: str | None) -> NextRun:
    """What the next run does with a model if nothing is stored under its name. `before`: its former relation, if it had another
    one."""
    if (told := _regardless(now)) is not None:
        return told
    return NextRun(True, "it is new" if before is None else "under another name; the old relation remains")


def next_run(before: Project, after: Project, old: Node, new: Node, was: Side, now: Side, migrations: Migrations) -> NextRun:
    """What the next run does with a model whose relation belonged to the node `old` before."""
    if (told := _regardless(now)) is not None:
        return told
    if was.kind == "other":
        return NextRun(True, f"it was no maintained model, but `{was.how}`")
    try:
        parts, wanted = before.fingerprint(old), after.fingerprint(new)
    except (IdivmError, SchemaFileError):
        return NextRun(True, _PARTS["sql"]) if code(old) != code(new) else NextRun(None)
    different = [part for part in wanted if parts.get(part) != wanted[part]]
    if "output" in parts and "output" not in wanted:  # the view's rows are not stored
        different.append("output")
    if different == [LAYOUT]:
        return _other_layout(new)
    if different and _forbids_other_columns(before, after, old, new):
        return NextRun(False, "the other columns are an error (`on_schema_change: fail`)")
    if (adapted := _adapted(before, after, old, new, different, migrations)) is not None:
        return adapted
    if "sql" in different and code(old) == code(new):
        return NextRun(True, "another SELECT of a view that it reads")
    if "sql" not in different and had_no_plan(parts, wanted):
        return NextRun(True, "it was built without a plan")
    if "sql" not in different and _has_other_keys(before, after, old, new, different):
        return NextRun(True, _PARTS["keys"])
    if different:
        return NextRun(True, next((what for part, what in _PARTS.items() if part in different), "another definition"))
    return NextRun(None, _UNCHECKED) if _verify(new) == "always" != _verify(old) else NextRun(False)


def _adapted(
    before: Project, after: Project, old: Node, new: Node, different: Sequence[str], migrations: Migrations
) -> NextRun | None:
    """The migration with its reads and its estimate; None if the model is rebuilt. A refresh decides by the same function, and
    additionally checks that the old manifest describes the stored view, and that the versions of its inputs still exist."""
    if not different or not {*different} <= _OF_A_SELECT:
        return None
    is_edited = "sql" in different and code(old) != code(new)
    if not is_edited and ("sql" in different or not _may_follow_keys(before, after, old, new, different)):
        return None
    if str(own_config(new).get("output")).lower() == "diffs" or own_config(old) != own_config(new):
        return None
    try:
        plan = after.plan(new)
        found = edit_of(before.plan(old), plan, str(old.get("relation_name")))
    except (IdivmError, SchemaFileError):
        return None
    if found is None:
        return None
    costs = migrations.of(str(old["unique_id"]), str(new["unique_id"]), plan, found)
    told = NextRun(False, "", True, *((costs.seconds, costs.rebuild) if costs is not None else ()))
    taken, rebuilt = (f" ({seconds(each)})" if each is not None else "" for each in (told.seconds, told.rebuild))
    whole = f"{_tables(plan.base_tables)}{rebuilt}"
    what = f"migrates it ({found.summary}): reads its stored rows"
    if not found.sources and not _chooses(new):
        return replace(told, why=f"{what}{taken}, where a rebuild reads {whole}")
    read = f"{what} and {_tables(found.sources)}" if found.sources else what
    why = f"{read}{taken}, or rebuilds it, which reads {whole}, by what is estimated to take less"
    return replace(told, rebuilds=None, why=why)


def _may_follow_keys(before: Project, after: Project, old: Node, new: Node, different: Sequence[str]) -> bool:
    """Whether nothing but keys, and what depends on them, differs."""
    return {*different} <= _OF_KEYS or _has_other_keys(before, after, old, new, different)


def _has_other_keys(before: Project, after: Project, old: Node, new: Node, different: Sequence[str]) -> bool:
    """Whether keys differ, and all columns that the view was built from are as they were: with another key it reads others."""
    if "keys" not in different:
        return False
    try:
        was, there = before.definition(old), after.definition(new).facts.tables
    except (IdivmError, SchemaFileError):
        return False
    return are_there(used_columns(was.facts, was.plan), {name: found.columns for name, found in there.items()})


def _chooses(node: Node) -> bool:
    """Whether a refresh of the model looks up table sizes: for small tables a rebuild takes less time than two commits."""
    return str(own_config(node).get("strategy") or "auto").lower() in CHOOSING


def _tables(names: Sequence[str]) -> str:
    return listed(dict.fromkeys(name_parts(name)[-1] for name in names))


def _regardless(now: Side) -> NextRun | None:
    """What happens whatever is stored; None if that makes a difference."""
    if now.kind == "other":
        return NextRun(
            None,
            "it has no relation of its own any more; the old one remains"
            if now.how == EPHEMERAL
            else f"dbt makes it, as `{now.how}`",
        )
    if now.kind == "error":
        return NextRun(False, "the run fails")
    if now.kind == "unknown":
        return NextRun(None)
    return NextRun(True) if now.kind == "rebuilt" else None  # like every run


def _verify(node: Node) -> str:
    return str(own_config(node).get("verify") or "always").lower()


def _forbids_other_columns(before: Project, after: Project, old: Node, new: Node) -> bool:
    """Whether the user's columns differ in names, order or types although they must not."""
    if str(dbt_config(new["config"]).get("on_schema_change")).lower() != "fail":
        return False
    try:
        return columns_of_plan(before.plan(old)) != columns_of_plan(after.plan(new))
    except (IdivmError, SchemaFileError):
        return False


def _other_layout(node: Node) -> NextRun:
    """The effect of another layout, which depends on `on_configuration_change`."""
    choice = str(dbt_config(node["config"]).get("on_configuration_change", "apply"))
    if choice == "apply":
        return NextRun(True, "another layout, or other properties of its table")
    return NextRun(
        False,
        "the table keeps its layout (`on_configuration_change: continue`)"
        if choice == "continue"
        else "the other layout is an error (`on_configuration_change: fail`)",
    )


def code(node: Node) -> str:
    """The compiled SQL of a node without comments and layout; "" if it has none."""
    sql = str(node.get("compiled_code") or "")
    try:
        return code_of(sql)
    except TokenError:
        return sql
