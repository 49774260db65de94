"""A refresh on another engine than Spark with Delta: what is not in its engine object, the refresh does not assume."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from sqlglot import exp

from dbt_idivm.definition.request import KeyCandidate, ModelRequest
from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.commands import Commands
from dbt_idivm.refresh.engine.commits import USER_METADATA, Guard
from dbt_idivm.refresh.engine.engine import Engine
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import Outcome, Refresh, Reply, Rows, Statement
from dbt_idivm.script.dialect import Dialect
from tests.unit.fake_engine import FakeEngine, Table

DIALECT = Dialect("databricks", time_travel=True)
HERE = "lake.main."


class Notes:
    """Metadata that is sent to the engine before a commit, and is in a column `note` of the history."""

    def before(self, metadata: str, guard: Guard | None) -> tuple[Statement, ...]:
        return (Statement(f"NOTE {metadata}", "setting", "note", fetch=False),)

    def after(self, guard: Guard | None) -> tuple[Statement, ...]:
        return (Statement("FORGET", "setting", "no note", fetch=False),)

    def metadata(self, commit: Mapping[str, Any]) -> str | None:
        return commit["note"]  # type: ignore[no-any-return]


class ScratchTables:
    def stage(self, name: str, query: exp.Select, label: str) -> Statement:
        return Statement(f"SCRATCH {name} AS {DIALECT.sql(query)}", "read", label, fetch=False)

    def drop(self, name: str) -> Statement:
        return Statement(f"UNSCRATCH {name}", "metadata", f"drop {name}", fetch=False)


class OtherCommands(Commands):
    def history(self, table: str, limit: int) -> Statement:
        return Statement(f"COMMITS {self.dialect.relation_sql(table)} {limit}", "metadata", f"history of {table}")


OTHER = Engine(DIALECT, OtherCommands(DIALECT), Notes(), ScratchTables(), depth=3)


@dataclass
class OtherFake(FakeEngine):
    """The same tables behind other statements, with names of three parts."""

    scratch: list[str] = field(default_factory=list)

    def run(self, request: ModelRequest) -> Outcome:
        self.log = []
        found = self.tables.get(request.relation)
        existing = None if found is None else "view" if found.kind == "VIEW" else "table"
        steps = Refresh(refresh(replace(request, existing=existing), Invocation(), OTHER))  # type: ignore[arg-type]
        while steps.statement is not None:
            self.log.append(steps.statement)
            steps.answer(self.answer(steps.statement))
        assert steps.outcome is not None
        return steps.outcome

    def _note(self, statement: Statement) -> Reply:
        self.settings[USER_METADATA] = statement.sql.removeprefix("NOTE ")
        return Rows()

    def _forget(self, statement: Statement) -> Reply:
        del self.settings[USER_METADATA]
        return Rows()

    def _commits(self, statement: Statement) -> Reply:
        _, name, limit = statement.sql.split()
        found = self._describe(replace(statement, sql=f"DESCRIBE HISTORY {name} LIMIT {limit}"))
        return replace(found, columns=(*found.columns[:-1], "note")) if isinstance(found, Rows) else found

    def _scratch(self, statement: Statement) -> Reply:
        self.scratch.append(statement.sql.split()[1])
        return Rows()

    def _unscratch(self, statement: Statement) -> Reply:
        self.scratch.remove(statement.sql.split()[1])
        return Rows()


@pytest.fixture
def engine() -> OtherFake:
    fake = OtherFake()
    for name, columns in (("o", {"id": "int", "cid": "int"}), ("c", {"id": "int", "name": "string"})):
        table = fake.tables[HERE + name] = Table(columns)
        table.commit("CREATE TABLE")
        table.commit("WRITE", {"numOutputRows": "5"})
    return fake


KEYS = {HERE + name: (KeyCandidate(("id",), "test unique"),) for name in "oc"}
MODEL = ModelRequest(
    "v",
    "main",
    "v",
    "select o.id, c.name from lake.main.o o join lake.main.c c on o.cid = c.id",
    {"idivm": {"strategy": "id"}},
    KEYS,
    session={"ansi": "true", "time_zone": "UTC"},
    database="lake",
)


def test_build_and_refresh(engine: OtherFake) -> None:
    assert engine.run(MODEL).mode == "create"
    table = engine.tables["lake.main.v__idivm"]
    written = state.read(table.commits[-1][-1])
    assert written is not None and written.inputs[HERE + "o"].version == 1
    assert engine.tables["lake.main.v"].kind == "VIEW"
    assert engine.run(MODEL).mode == "noop"
    engine.tables[HERE + "c"].commit("UPDATE", {"numUpdatedRows": "1"})
    counts = ((None, None, 2, "update_preimage", 1), (None, None, 2, "update_postimage", 1))
    engine.reads["net diff"] = (*counts, (7, "seven", None, None, 1), (7, "eight", None, None, -1))
    outcome = engine.run(MODEL)
    assert (outcome.mode, outcome.rows_inserted) == ("incremental", 1)
    assert state.read(table.commits[-1][-1]).inputs[HERE + "c"].version == 2  # type: ignore[union-attr]


def test_large_net_diffs_are_staged_its_way(engine: OtherFake) -> None:
    engine.run(MODEL)
    engine.tables[HERE + "o"].commit("WRITE", {"numOutputRows": "5000"})
    assert engine.run(MODEL).mode == "incremental" and not engine.scratch
    verbs = [statement.sql.split()[0] for statement in engine.log]
    assert [verb for verb in verbs if verb in ("SCRATCH", "MERGE", "UNSCRATCH")] == ["SCRATCH", "MERGE", "UNSCRATCH"]
    assert not {"SET", "RESET", "CACHE"} & set(verbs), "nothing that this engine does not have"


def test_names_of_a_plain_view_are_completed(engine: OtherFake) -> None:
    view = engine.tables[HERE + "w"] = Table({"id": "int"}, "VIEW", text="select o.id from main.o join c on c.id = o.cid")
    view.namespace = "`lake`.`main`"
    engine.run(replace(MODEL, sql="select id from lake.main.w"))
    assert {word for statement in engine.log for word in statement.sql.split() if word.startswith("lake.main.")} >= {
        HERE + "o",
        HERE + "c",
    }
