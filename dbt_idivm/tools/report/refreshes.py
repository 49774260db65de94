"""The refreshes of a model, from the commits of its table: what each did, which versions it read, and why it was a rebuild.

A commit carries the view's state (`state.py`), with the versions of the inputs and the definition, a note with the reason and the
estimate (`note.py`), and Delta's metrics. If a rebuild has no note, and a changed definition explains it, the reason is found by
comparing the states.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from zoneinfo import ZoneInfo

from dbt_idivm.cache_names import without_digest
from dbt_idivm.definition.fingerprint import had_no_plan
from dbt_idivm.refresh.catalog.history import Commit, number
from dbt_idivm.refresh.catalog.state import State, read
from dbt_idivm.relation_name import name_parts
from dbt_idivm.tools.report.facts import Refresh, What

_MILLISECONDS = 1000
# Part of the fingerprint (`fingerprint.py`) → description of a change in it.
_PARTS: Mapping[str, str] = {
    "sql": "another SELECT",
    "keys": "other keys",
    "stored": "another set of stored columns",
    "ansi": "another ANSI mode",
    "time_zone": "another time zone",
    "caches": "other caches",
    "ties": "other columns that order tied rows",
    "functions": "another definition of a function",
    "output": "another output",
    "inputs": "other columns of the inputs",
    "layout": "another layout of the table",
}


def refreshes(commits: Sequence[Commit], zone: str) -> tuple[Refresh, ...]:
    """The commits, newest first, as refreshes. OPTIMIZE and commits of others are "no refresh". `zone`: time zone of the commits'
    times."""
    found: list[Refresh] = []
    before: State | None = None
    for commit in reversed(commits):
        state = read(commit.user_metadata)
        state = None if state is not None and commit.is_quiet and not state.note.edits else state
        if state is None:
            found.append(Refresh("no refresh", _time(commit.at, zone), commit.version, commit.operation))
            continue
        if not (commit.is_quiet and _is_of_draft(before)):
            found.append(_refresh(commit, state, before, zone))
        before = state
    return tuple(reversed(found))


def _is_of_draft(state: State | None) -> bool:
    """Whether that commit has the rows of a migration, whose definition follows in another commit without rows (ADR 0047)."""
    return state is not None and bool(state.note.edits) and not state.trusted


def _refresh(commit: Commit, state: State, before: State | None, zone: str) -> Refresh:
    what = _what(commit, state)
    all_rows = {"inserted": number(commit.metrics, "numOutputRows")}
    done: Mapping[str, int | None] = all_rows if state.base is None else commit.counts
    why = state.note.edits or state.note.reason or (_why(state, before) if what == "rebuilt" else "")
    return Refresh(
        what,
        _time(commit.at, zone),
        commit.version,
        commit.operation,
        seconds=_seconds(commit),
        estimate=state.note.estimate,
        moves=_moves(state, before),
        why=why,
        run=state.run,
        **done,
    )


def _what(commit: Commit, state: State) -> What:
    if state.note.edits:
        return "migrated"
    if state.base is None:
        return "created" if commit.version == 0 else "rebuilt"
    # a commit without data only advances the state
    return "incremental" if sum(commit.counts.values()) or commit.feed_rows is None else "nothing changed"


def _why(state: State, before: State | None) -> str:
    if not state.inputs and not state.trusted:
        return "built from a part of the inputs"
    if before is None or not before.inputs:
        return ""
    other = [part for part in dict.fromkeys((*state.plan, *before.plan)) if state.plan.get(part) != before.plan.get(part)]
    if "sql" not in other and had_no_plan(before.plan, state.plan):
        return "built without a plan before"
    # the other differences follow from another SELECT
    return ", ".join(_PARTS.get(part, part) for part in (["sql"] if "sql" in other else other))


def _moves(state: State, before: State | None) -> tuple[tuple[str, int | None, int], ...]:
    """(input, version before, version after) of the inputs whose version has changed."""
    known = {} if before is None else before.inputs
    return tuple(
        (_short(name), known[name].version if name in known else None, each.version)
        for name, each in sorted(state.inputs.items())
        if name not in known or known[name].version != each.version
    )


def _short(name: str) -> str:
    return without_digest(name_parts(name)[-1])


def _seconds(commit: Commit) -> float | None:
    """The duration in seconds. Delta measures only MERGE, UPDATE and DELETE."""
    found = number(commit.metrics, "executionTimeMs")
    return None if found is None else found / _MILLISECONDS


def _time(text: str, zone: str) -> dt.datetime | None:
    """The time of a commit; history shows it in the session's time zone, without naming it."""
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=ZoneInfo(zone))
