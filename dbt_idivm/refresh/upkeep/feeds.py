"""Change data feeds that inputs of maintained models lack: what can be done about each, and switching one on.

A table that dbt creates is left to dbt: its config says whether the table has a feed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dbt_idivm.definition.config import FEED
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.inputs import Input, look_up
from dbt_idivm.refresh.catalog.relations import OWNER
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.refresh.upkeep.examine import Check

Node = Mapping[str, Any]
_MISSING, _NO_FEED = "IDIVM-301", "IDIVM-303"
_SWITCHES = "SET TBLPROPERTIES"  # the operation of the commit
_RECENT = 10  # commits among which it is looked for


@dataclass(frozen=True)
class FeedOff:
    """A relation that maintained models read, and whose changes are not known.

    `name`: for people. `table`: its table, at `version`, whose feed can be switched on; "" if that is left to the user, for the
    `reason`. `way_out`: what the user can do then.
    """

    name: str
    table: str = ""
    version: int = -1
    reason: str = ""
    way_out: str = ""


def switch_on_statement(client: Client, table: str) -> Statement:
    return client.commands.set_properties(table, {FEED: "true"})


def feeds_off(client: Client, relation: str, name: str, made_by: Mapping[str, Node]) -> Steps[tuple[FeedOff, ...]]:
    """The relations of an input whose changes are not known: its table, or those that a view is read through to.

    `name`: the user's name of the relation. `made_by`: relation, or ID of a node → the node of dbt's graph that dbt creates.
    Nothing is changed, and no error is raised: what cannot be looked up has its reason.
    """
    everything = exp.Select(expressions=[exp.Star()]).from_(client.dialect.table(relation, None))
    try:
        inputs = yield from look_up(client, client.dialect.sql(everything, pretty=False))
    except IdivmError as error:
        # dbt has not created a table of its own yet: it creates it with a feed
        found = [each for each in error.findings if each.code != _MISSING or each.details["source"] not in made_by]
        return tuple(FeedOff(name, reason=each.title, way_out=each.do) for each in found)
    except EngineFailure as failure:
        return (FeedOff(name, reason=failure.first_line, way_out="grant SELECT on it"),)
    unfit = [*inputs.obstacles, *([inputs.unread] if inputs.unread is not None else [])]
    lacking = [FeedOff(name, reason=each.title, way_out=each.do) for each in unfit if each.code != _NO_FEED]
    for each in inputs.tables.values():
        if each.facts.is_delta and not each.facts.has_feed:
            shown = name if each.name == relation else f"{each.table}, read through {name}"
            lacking.append(_feed_off(client, each, shown, made_by))
    return tuple(lacking)


def _feed_off(client: Client, found: Input, name: str, made_by: Mapping[str, Node]) -> FeedOff:
    owner = found.facts.properties.get(OWNER)
    maker = made_by.get(owner or found.table, made_by.get(found.name))
    if maker is not None:
        reason, way_out = _left_to_dbt(client, found.table, maker)
        return FeedOff(name, reason=reason, way_out=way_out)
    if owner is not None:
        return FeedOff(
            name, reason=f"it is the table of {owner}, a model of another project", way_out="look at that model's config"
        )
    assert found.commit is not None
    return FeedOff(name, found.table, found.commit.version)


# Wrong without it: the next `dbt run` may create the table again as its config says, without a feed.
def _left_to_dbt(client: Client, table: str, maker: Node) -> tuple[str, str]:
    """Why a table that dbt creates is left as it is, and what gives it a feed."""
    kind, config = str(maker["resource_type"]), maker.get("config") or {}
    what = f"dbt creates this table, by the {kind} {maker['name']}"
    configured = {str(key).lower(): value for key, value in (config.get("tblproperties") or {}).items()}
    if str(configured.get(FEED.lower(), "true")).lower() != "true":
        return f"{what}, whose `tblproperties` switch the feed off", f"remove `{FEED}` there, then create the table again"
    sql = switch_on_statement(client, table).sql
    if kind == "snapshot":
        return f"{what}, and never creates it again", f"run {sql}"
    if kind == "seed":
        return what, f"`dbt seed --full-refresh --select {maker['name']}` creates it with the feed"
    if config.get("materialized") == "table":
        return what, f"`dbt run --select {maker['name']}` creates it with the feed"
    return what, f"`dbt run --full-refresh --select {maker['name']}` creates it with the feed. To keep its rows run {sql}"


def switch_on(client: Client, off: FeedOff) -> Steps[Check]:
    """Switch the feed of `off.table` on, and say from which version on changes are known. A refusal is a result."""
    what = f"feed of {off.name}"
    try:
        yield from client.ask(switch_on_statement(client, off.table))
    except EngineFailure as failure:
        return Check(what, "fails", failure.first_line, "let the owner of the table run the statement, or grant MODIFY on it")
    try:
        version = yield from _switched_at(client, off)
    except EngineFailure as failure:
        return Check(what, "ok", f"is on; since which version is not known: {failure.first_line}")
    return Check(what, "ok", f"is on: changes are known from version {version} on")


# Wrong without it: others may have written between the statement and the look at the history, and a version before the statement
# has no feed.
def _switched_at(client: Client, off: FeedOff) -> Steps[int]:
    """The version that the statement has made: the newest change of properties since the table was looked at. The newest version
    if there is none."""
    newest = yield from history.newest(client, off.table, _RECENT)
    made = (each.version for each in newest if each.operation == _SWITCHES and each.version > off.version)
    return next(made, newest[0].version)
