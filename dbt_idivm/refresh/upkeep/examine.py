"""The checks of `idivm doctor`: try out what a project needs of its engine and of its inputs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from dbt_idivm.definition.config import FEED
from dbt_idivm.definition.found_keys import tests_to_add
from dbt_idivm.definition.request import Ignored, KeyCandidate
from dbt_idivm.errors import Finding, listed, nearest
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.relations import describe
from dbt_idivm.refresh.catalog.retention import NAMES, in_words
from dbt_idivm.refresh.catalog.state import Consumed
from dbt_idivm.refresh.catalog.stored_view import read_state
from dbt_idivm.refresh.changes.moves import move_over
from dbt_idivm.refresh.changes.proving import doubted, reason_of
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Statement


@dataclass(frozen=True)
class Check:
    """The result of one check. `state`: `fails` means that no view, or not this one, can be maintained."""

    what: str
    state: Literal["ok", "warning", "fails"]
    found: str
    way_out: str = ""


def examine_rights(client: Client, scratch: str) -> Steps[tuple[Check, ...]]:
    """Create a Delta table called `scratch`, MERGE into it, read its history and its change feed, replace it, and drop it."""
    table = client.dialect.relation_sql(scratch)
    merge = f"MERGE INTO {table} AS t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"
    feed = f"SELECT * FROM table_changes({client.dialect.string_sql(table)}, 0)"
    tries = (
        (
            "create Delta tables",
            f"CREATE TABLE {table} (id INT) USING DELTA TBLPROPERTIES ('{FEED}' = 'true')",
            "grant CREATE TABLE on the schema; a server of yours needs the Delta JARs and "
            "io.delta.sql.DeltaSparkSessionExtension",
        ),
        ("MERGE", merge, "grant MODIFY on the schema"),
        ("read histories", f"DESCRIBE HISTORY {table} LIMIT 1", "grant SELECT on the schema, or make the user the owner"),
        ("read change feeds", feed, "grant SELECT on the schema"),
        (
            "replace tables",
            f"CREATE OR REPLACE TABLE {table} USING DELTA AS SELECT 1 AS id",
            "grant CREATE TABLE on the schema; Spark 3.5.6 and later need Delta 3.3.3 (IDIVM-506)",
        ),
    )
    checks: list[Check] = []
    for what, sql, way_out in tries:
        try:
            yield from client.ask(Statement(sql, "metadata", what))
        except EngineFailure as failure:
            checks.append(Check(what, "fails", failure.first_line, way_out))
            break
        checks.append(Check(what, "ok", "works"))
    try:
        yield from client.ask(client.commands.drop("table", scratch))
    except EngineFailure as failure:
        checks.append(Check("drop tables", "fails", failure.first_line, f"grant it, and drop {scratch}"))
    return tuple(checks)


def found_keys(client: Client, view: str) -> Steps[Mapping[str, tuple[str, ...]]]:
    """Input → columns of its key that nobody has declared, for the inputs of a maintained view whose rows rely on such a key."""
    facts = yield from describe(client, view)
    if facts is None or facts.maintained is None:
        return {}
    stored = yield from read_state(client, facts.maintained)
    return stored.state.found if stored is not None and stored.state is not None and stored.reason is None else {}


def examine_input(
    client: Client, relation: str, name: str, keys: Collection[str], every: timedelta | None, found: tuple[str, ...] = ()
) -> Steps[Check]:
    """Check an input of maintained models. `name`: the user's name; `keys`: its declared keys as texts; `every`: the time between
    runs of the project; `found`: its key that was found in the data."""
    what = f"input {name}"
    facts = yield from describe(client, relation)
    if facts is None:
        return Check(what, "fails", f"there is no {relation}", "create it, or run what makes it")
    if facts.kind == "view":
        return Check(what, "ok", "a view, which is read through")
    if not facts.is_delta:
        return Check(
            what,
            "warning",
            f"{facts.provider or 'no table'}: models that read it are rebuilt on each run",
            "make it a Delta table, or let `dbt` copy it into one",
        )
    if not facts.has_feed:
        return Check(
            what,
            "warning",
            "has no change data feed: models that read it are rebuilt when it changes",
            f"{client.commands.set_properties(relation, {FEED: 'true'}).sql}; `idivm doctor --fix` does this for all sources",
        )
    kept = facts.kept
    if every is not None and kept is not None and kept < 2 * every:
        return Check(
            what,
            "warning",
            f"its changes are kept for {in_words(kept)}, and the project is run every "
            f"{in_words(every)}: after one run that fails its models are rebuilt",
            f"set {' and '.join(NAMES)}, or run more often",
        )
    doubt = yield from _doubt(client, relation, name)
    if doubt is not None:
        return Check(
            what,
            "warning",
            f"{doubt.summary}: models compare the table's versions instead of reading its change feed",
            "report it to the makers of the writer, or write the table with another one",
        )
    if found and not keys:
        return Check(
            what,
            "ok",
            f"no key is declared; ({', '.join(found)}) was found in its data. Where it breaks, models are rebuilt without it",
            tests_to_add(found, name),
        )
    if not keys:
        return Check(
            what,
            "warning",
            "no key is declared: its rows are compared by all their values",
            "declare one: a `primary_key` constraint, tests `unique` and `not_null`, or `keys` in the model's config",
        )
    return Check(what, "ok", f"key: {'; '.join(keys)}")


def examine_keys(
    client: Client, relation: str, name: str, declared: Collection[KeyCandidate], ignored: Collection[Ignored]
) -> Steps[tuple[Check, ...]]:
    """Report declarations about the keys of an input that have no effect: those already `ignored`, and `declared` keys with
    columns that it does not have. They are warnings if the input has no other key, or if they can only be mistakes."""
    facts = yield from describe(client, relation)
    names = [] if facts is None else [each.name for each in facts.columns]
    known = {each.lower() for each in names}
    found: list[Check] = []
    usable = 0
    for key in declared:
        missing = next((each for each in key.columns if each.lower() not in known), None) if known else None
        usable += missing is None
        if missing is not None:
            why = f"{key.source}: there is no column `{missing}`, so this key is ignored"
            found.append(
                Check(f"key of {name}", "warning", why, f"correct it: the nearest is {listed(nearest(missing, names, 1))}")
            )
    for each in ignored:
        found.append(Check(f"key of {name}", "ok" if usable else "warning", f"{each.what} is ignored: {each.why}", each.do))
    if facts is not None and facts.is_plain_view and declared:
        why = "the view is read through, so its keys are ignored"
        found.append(Check(f"key of {name}", "ok", why, "declare keys of the tables that it reads"))
    return tuple(found)


def _doubt(client: Client, relation: str, name: str) -> Steps[Finding | None]:
    """Why the change feed of one of the newest commits is not used; None if it is used, or no longer exists."""
    try:
        page = yield from history.page(client, relation)
        oldest, newest = page[-1], page[0]
        consumed = Consumed(relation, oldest.version, oldest.at)
        move = yield from move_over(client, consumed, newest.version, newest.at, page)
        found = (yield from doubted(client, move)) if move.commits else None
    except EngineFailure:
        return None
    return None if found is None or found.is_usual else reason_of(found, name, move)
