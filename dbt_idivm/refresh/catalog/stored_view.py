"""A stored view: its table, the commit that carries its state, and the reason why that state cannot be used, if any."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import Finding, finding
from dbt_idivm.refresh.catalog import history, state
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.relations import SHOWN, Described, describe
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.relation_name import LOG_SUFFIX, with_suffix

_PAGES = (1, 20, 500)
_REMADE = "it was created again while a refresh was running"
ABSENT = (
    "TABLE_OR_VIEW_NOT_FOUND",
    "SCHEMA_NOT_FOUND",
    "DELTA_TABLE_NOT_FOUND",
    "DELTA_MISSING_DELTA_TABLE",
    "DELTA_ONLY_OPERATION",
    "DELTA_TABLE_ONLY_OPERATION",
    "EXPECT_TABLE_NOT_VIEW*",
    "DELTA_NOT_A_DELTA_TABLE",
    "DELTA_PATH_DOES_NOT_EXIST",
)


@dataclass(frozen=True)
class StoredView:
    """`table` holds the view's rows. `latest` is its newest commit, `committed` the one with its state, `state` what it was built
    from.

    `reason`: why the state cannot be used; None if it can. `shown`: whether the model's relation shows the rows of the table; if
    not, a rebuild was interrupted before it did. `remade`: others dropped the table, and may have created it again, before a
    refresh wrote to it under the transaction number of the former table. Delta skips later writes with lower numbers (`Guard`).
    """

    table: str
    latest: Commit | None = None
    committed: Commit | None = None
    state: State | None = None
    reason: Finding | None = None
    shown: bool = True
    remade: bool = False

    @property
    def sentence(self) -> str:
        """Sentence for messages: the committed state of the view."""
        if self.latest is None:
            return "The view does not exist yet"
        inputs = self.state.versions.items() if self.state else ()
        built = ", ".join(f"{table} at version {version}" for table, version in inputs)
        sentence = f"The view stays at its version {self.latest.version}"
        return f"{sentence}, built from {built}" if built else sentence


def read_stored_view(client: Client, request: ModelRequest, *, whole: bool = False) -> Steps[StoredView]:
    """The stored view with the state in the newest commit of a refresh, unless somebody else changed rows after it.

    `whole`: look for the state behind such changes as well, to compare the view with what it should be.
    """
    model = request.relation
    table, shows = model, None
    if request.existing == "view":
        facts = yield from client.once(("facts", model), lambda: describe(client, model))
        if facts is None or facts.maintained is None:
            return StoredView(model, reason=finding(406, view=model, message="a plain view has its name"))
        table, shows = facts.maintained, facts.properties.get(SHOWN)
    if request.existing is None:
        return StoredView(table, reason=finding(413, view=model))
    judged = yield from read_state(client, table, whole=whole)
    if judged is None:
        plain = finding(406, view=model, message="it is not a Delta table")
        return StoredView(table, reason=finding(413, view=model) if request.existing == "view" else plain)
    return replace(judged, shown=table == model or (judged.state is not None and judged.state.shown == shows))


def read_stored_log(client: Client, request: ModelRequest) -> Steps[StoredView]:
    """The log of a model with `output: diffs` as a stored view. `shown`: the model's relation is the view over the query of its
    state."""
    model, table = request.relation, with_suffix(request.relation, LOG_SUFFIX)
    judged = yield from read_state(client, table)
    if judged is None:
        return StoredView(table, reason=finding(413, view=table))
    facts = (yield from client.once(("facts", model), lambda: describe(client, model))) if request.existing is not None else None
    shows = facts.properties.get(SHOWN) if facts is not None else None
    return replace(judged, shown=judged.state is not None and judged.state.shown == shows)


def read_state(client: Client, table: str, *, whole: bool = False) -> Steps[StoredView | None]:
    """The stored view according to the table's history; None if it is not a Delta table."""
    judged = StoredView(table)
    for limit in _PAGES:
        try:
            commits = yield from history.newest(client, table, limit)
        except EngineFailure as failure:
            if not failure.is_any(ABSENT):
                raise
            return None
        judged = _judge(table, commits)
        if judged.state is not None or (judged.reason is not None and not whole) or len(commits) < limit:
            break
    if judged.state is None and judged.reason is None:
        judged = replace(judged, reason=finding(406, view=table, message="no commit of its history has it"))
    if table in client.remade:
        judged = replace(judged, reason=judged.reason or finding(406, view=table, message=_REMADE), remade=True)
    return judged


def is_as_refreshed(client: Client, table: str) -> Steps[bool]:
    """Whether only refreshes have changed rows of a maintained table since these were built. The commits that were looked up for
    its version often suffice, and cost nothing."""
    judged: StoredView | None = _judge(table, (yield from history.page(client, table)))
    if judged is not None and judged.state is None and judged.reason is None:
        judged = yield from read_state(client, table)
    return judged is not None and judged.state is not None and judged.reason is None and table not in client.remade


def last_state(client: Client, table: str) -> Steps[State | None]:
    """The state of a maintained table at the commit that this invocation reads; None if the known commits do not show one."""
    return _judge(table, (yield from history.page(client, table))).state


# Wrong without it: a model's view that others have given another query, or that an interrupted rebuild has pinned to former rows,
# is read as if it showed its table.
def shows_its_table(client: Client, facts: Described) -> Steps[bool]:
    """Whether a model's view was made for the rows that its table has now."""
    table, shows = facts.maintained, facts.properties.get(SHOWN)
    if table is None or shows is None:
        return False
    last = yield from last_state(client, table)
    if last is None:
        judged = yield from read_state(client, table)
        last = judged.state if judged is not None else None
    return last is None or last.shown == shows


def _between(found: State, commit: Commit, older: tuple[Commit, ...]) -> tuple[Commit, ...] | None:
    """The commits of others between the version that a refresh was based on and its own commit; Delta lets an INSERT pass beside
    concurrent writes. None if the `older` commits do not reach back far enough."""
    if found.base is None or found.base + 1 >= commit.version:
        return ()
    between = tuple(each for each in older if each.version > found.base)
    return between if len(between) == commit.version - found.base - 1 else None


def _judge(table: str, commits: tuple[Commit, ...]) -> StoredView:
    """Judge the stored view by these newest commits. If the result has neither a state nor a reason, older commits are needed."""
    claimed = commits[0].claimed
    reason = None if claimed is None or claimed.finished else finding(425, view=table)
    for at, commit in enumerate(commits):
        found = state.read(commit.user_metadata)
        if found is not None:
            between = _between(found, commit, commits[at + 1 :])
            if between is None:
                return StoredView(table, commits[0], reason=reason)
            other = next((each for each in between if not each.is_quiet and state.read(each.user_metadata) != found), None)
            if reason is None and other is not None:
                reason = finding(405, view=table, version=other.version, operation=other.operation)
            # a ledger may attach a state to an existing commit, if a refresh had nothing to write
            remade = claimed is None and found.base is not None and found.base >= commit.version
            if remade and reason is None:
                reason = finding(406, view=table, message=_REMADE)
            reason = reason or (None if found.trusted else finding(410))
            return StoredView(table, commits[0], commit, found, reason, remade=remade)
        if reason is not None or commit.is_quiet:
            continue
        if commit.operation.startswith(("CREATE", "REPLACE")):
            reason = finding(406, view=table, message="dbt-idivm did not create it")
        else:
            reason = finding(405, view=table, version=commit.version, operation=commit.operation)
    return StoredView(table, commits[0], reason=reason)
