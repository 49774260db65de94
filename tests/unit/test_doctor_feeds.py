"""`idivm doctor --fix`: which change data feeds it switches on, what it says of the others, and when it changes something."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbt.adapters.idivm import doctor, source_feeds
from dbt.adapters.idivm.doctor import doctor_command
from dbt_idivm.refresh.catalog.relations import OWNER
from dbt_idivm.refresh.catalog.state import encode
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.protocol import EngineError, Reply, Rows, Statement
from dbt_idivm.refresh.upkeep.examine import Check
from dbt_idivm.refresh.upkeep.feeds import FeedOff, feeds_off, switch_on
from tests.unit.fake_engine import FakeEngine, Table, drive, model

FEED = "delta.enableChangeDataFeed"
STATEMENT = f"ALTER TABLE main.{{}} SET TBLPROPERTIES ('{FEED}'='true')"
REFUSED = EngineError("PERMISSION_DENIED", "[PERMISSION_DENIED] no MODIFY on main.o\nand more")


@pytest.fixture
def engine() -> FakeEngine:
    """`o` has no feed, `p` has one."""
    found = FakeEngine()
    found.source("o", id="int", name="string").properties = {}
    found.source("p", id="int")
    return found


def source(name: str) -> dict[str, Any]:
    return {
        "unique_id": f"source.shop.s.{name}",
        "name": name,
        "source_name": "s",
        "resource_type": "source",
        "config": {},
        "relation_name": f"main.{name}",
    }


def made(name: str, kind: str = "model", reads: tuple[str, ...] = (), **config: Any) -> dict[str, Any]:
    return {
        "unique_id": f"{kind}.shop.{name}",
        "name": name,
        "resource_type": kind,
        "config": config,
        "relation_name": f"main.{name}",
        "depends_on": {"nodes": list(reads)},
    }


def off(engine: FakeEngine, name: str = "o", **made_by: Mapping[str, Any]) -> tuple[FeedOff, ...]:
    nodes = {key: node for each, node in made_by.items() for key in (f"main.{each}", node["unique_id"])}
    found: tuple[FeedOff, ...] = drive(engine, feeds_off(Client(engine.kind), f"main.{name}", f"s.{name}", nodes))
    return found


def switched(engine: FakeEngine, each: FeedOff) -> Check:
    found: Check = drive(engine, switch_on(Client(engine.kind), each))
    return found


def test_a_table_without_a_feed(engine: FakeEngine) -> None:
    assert off(engine) == (FeedOff("s.o", "main.o", 1),)
    assert off(engine, "p") == ()
    engine.tables["main.o"].properties = {FEED: "false"}
    assert off(engine) == (FeedOff("s.o", "main.o", 1),)


def test_changes_are_known_from_the_version_of_the_statement_on(engine: FakeEngine) -> None:
    (found,) = off(engine)
    assert switched(engine, found) == Check("feed of s.o", "ok", "is on: changes are known from version 2 on")
    assert engine.log[-2].sql == STATEMENT.format("o") and off(engine) == ()


class Busy(FakeEngine):
    """Others write right after each ALTER TABLE."""

    def answer(self, statement: Statement) -> Reply:
        reply = super().answer(statement)
        if statement.sql.startswith("ALTER"):
            self.tables["main.o"].commit("WRITE", {"numOutputRows": "5"})
        return reply


def test_commits_of_others_are_not_taken_for_that_of_the_statement() -> None:
    """Properties were set before the table was looked at, and rows are written before and after the statement."""
    engine = Busy()
    table = engine.source("o", id="int")
    table.properties = {}
    table.commit("SET TBLPROPERTIES")
    (found,) = off(engine)
    table.commit("WRITE", {"numOutputRows": "5"})
    assert switched(engine, found).found == "is on: changes are known from version 4 on"
    assert [each[2] for each in table.commits[2:]] == ["SET TBLPROPERTIES", "WRITE", "SET TBLPROPERTIES", "WRITE"]


class Idle(FakeEngine):
    """ALTER TABLE makes no commit, because nothing is left to change."""

    def answer(self, statement: Statement) -> Reply:
        return Rows() if statement.sql.startswith("ALTER") else super().answer(statement)


def test_a_statement_without_a_commit_counts_from_the_newest_version() -> None:
    """Somebody else has switched the feed on meanwhile, before or after which others wrote. An older version would be wrong."""
    engine = Idle()
    table = engine.source("o", id="int")
    table.properties = {}
    table.commit("SET TBLPROPERTIES")
    (found,) = off(engine)
    table.commit("WRITE", {"numOutputRows": "5"})
    assert switched(engine, found).found == "is on: changes are known from version 3 on"


def test_a_statement_that_is_refused(engine: FakeEngine) -> None:
    (found,) = off(engine)
    engine.fail["set properties of main.o"] = REFUSED
    check = switched(engine, found)
    assert (check.state, check.found) == ("fails", "[PERMISSION_DENIED] no MODIFY on main.o") and "owner" in check.way_out


def test_a_history_that_is_refused(engine: FakeEngine) -> None:
    (found,) = off(engine)
    engine.fail["history of main.o"] = REFUSED
    check = switched(engine, found)
    assert check.state == "ok" and check.found.startswith("is on; since which version is not known: [PERMISSION_DENIED]")


def test_what_cannot_be_switched_on(engine: FakeEngine) -> None:
    engine.tables["main.o"].provider = "parquet"
    (found,) = off(engine)
    assert not found.table and found.reason == "main.o is not a Delta table but parquet" and "CONVERT TO DELTA" in found.way_out
    (missing,) = off(engine, "none")
    assert not missing.table and missing.reason == "there is no relation main.none"
    engine.fail["columns of main.p"] = REFUSED
    (hidden,) = off(engine, "p")
    assert not hidden.table and hidden.reason == "[PERMISSION_DENIED] no MODIFY on main.o"


def view(engine: FakeEngine, text: str) -> None:
    engine.tables["main.w"] = Table({"id": "int"}, "VIEW", "", {}, text=text, selected=("id",))


def test_a_view_is_read_through(engine: FakeEngine) -> None:
    view(engine, "SELECT o.id FROM main.o AS o JOIN main.p AS p ON o.id = p.id")
    assert off(engine, "w") == (FeedOff("main.o, read through s.w", "main.o", 1),)
    view(engine, "SELECT id FROM main.p")
    assert off(engine, "w") == ()
    view(engine, "SELECT f(id) AS id FROM main.o")
    (found,) = off(engine, "w")
    assert not found.table and "main.w" in found.reason


@pytest.mark.parametrize(
    ("kind", "config", "reason", "way_out"),
    [
        ("model", {"materialized": "table"}, "", "`dbt run --select o`"),
        ("model", {"materialized": "incremental"}, "", f"`dbt run --full-refresh --select o` creates it with the feed. To keep its rows run {STATEMENT.format('o')}"),
        ("seed", {}, "", "`dbt seed --full-refresh --select o`"),
        ("snapshot", {}, ", and never creates it again", f"run {STATEMENT.format('o')}"),
        ("model", {"tblproperties": {FEED: "false"}}, ", whose `tblproperties` switch the feed off", f"remove `{FEED}`"),
        ("model", {"tblproperties": {FEED.upper(): False}}, ", whose `tblproperties` switch the feed off", f"remove `{FEED}`"),
    ],
)  # fmt: skip
def test_tables_that_dbt_creates(engine: FakeEngine, kind: str, config: dict[str, Any], reason: str, way_out: str) -> None:
    (found,) = off(engine, o=made("o", kind, **config))
    assert not found.table and found.reason == f"dbt creates this table, by the {kind} o{reason}"
    assert found.way_out.startswith(way_out)


def test_a_table_that_dbt_has_not_created_yet(engine: FakeEngine) -> None:
    assert off(engine, "later", later=made("later", materialized="view")) == ()


def test_a_maintained_table(engine: FakeEngine) -> None:
    """Its name may be another one than that of the model, and the model may be another project's."""
    engine.tables["main.o"].properties = {OWNER: encode("model.shop.big")}
    (found,) = off(engine, big=made("big", materialized="idivm", tblproperties={FEED: "false"}))
    assert found.reason.startswith("dbt creates this table, by the model big, whose")
    (found,) = off(engine)
    assert found.reason == "it is the table of model.shop.big, a model of another project"


class Project:
    """The command over a connection that the fake engine answers."""

    def __init__(self, engine: FakeEngine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engine, self.folder = engine, folder
        (folder / "dbt_project.yml").write_text("name: shop\n")
        for module in (doctor, source_feeds):
            monkeypatch.setattr(module, "drive", lambda _, steps: drive(engine, steps))
        monkeypatch.setattr(doctor, "examine_rights", lambda *_: _no_checks())
        monkeypatch.setattr(doctor, "credentials_of", lambda *_: Credentials(engine))
        monkeypatch.setattr(doctor, "open_handle", lambda _: None)
        monkeypatch.setattr(doctor, "execute", lambda *_: Version())

    def has(self, *nodes: Mapping[str, Any]) -> None:
        split: dict[str, dict[str, Any]] = {"nodes": {}, "sources": {}}
        for node in nodes:
            split["sources" if node["resource_type"] == "source" else "nodes"][node["unique_id"]] = node
        (self.folder / "target").mkdir(exist_ok=True)
        (self.folder / "target" / "manifest.json").write_text(json.dumps({"metadata": {}, "macros": {}, **split}))

    def doctor(self, *args: str, typed: str = "") -> tuple[int, str]:
        self.engine.log.clear()
        found = CliRunner().invoke(
            doctor_command, [*args, "--project-dir", str(self.folder)], input=typed, env={"COLUMNS": "400"}
        )
        assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
        return found.exit_code, found.output

    @property
    def statements(self) -> list[str]:
        return [each.sql for each in self.engine.log if each.sql.startswith("ALTER")]


class Credentials:
    type, method, schema, database = "idivm", "embedded", "main", None

    def __init__(self, engine: FakeEngine) -> None:
        self.engine = engine.kind


class Version:
    def fetchall(self) -> list[list[str]]:
        return [["4.1.4 of Spark"]]


def _no_checks() -> Any:
    yield from ()
    return ()


@pytest.fixture
def project(engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(engine, tmp_path, monkeypatch)
    engine.source("log", line="string").provider = "parquet"
    engine.source("seeded", id="int").properties = {}
    reads = ("source.shop.s.o", "source.shop.s.p", "source.shop.s.log", "seed.shop.seeded")
    models = (made("v", reads=reads, materialized="idivm"), made("w", reads=reads, materialized="idivm"))
    found.has(*models, made("seeded", "seed"), *map(source, ("o", "p", "log")))
    return found


def test_it_shows_and_changes_nothing_where_nobody_can_be_asked(project: Project) -> None:
    status, output = project.doctor("--fix")
    assert status == 0 and project.statements == []
    assert f"  s.o: {STATEMENT.format('o')}\n" in output and "version 4 of Delta's writer protocol" in output
    assert "  s.log: main.log is not a Delta table but parquet. What to do: convert it" in output
    assert "  seeded: dbt creates this table, by the seed seeded. What to do: `dbt seed --full-refresh --select seeded`" in output
    assert "Nothing was changed: `idivm doctor --fix --yes` runs these statements." in output
    assert "has no change data feed: models that read it are rebuilt when it changes" in output


def test_it_does_it_after_yes(project: Project) -> None:
    before = project.doctor("--fix")[1]
    status, output = project.doctor("--fix", "--yes")
    assert status == 0 and project.statements == [STATEMENT.format("o")]
    assert output.startswith(before.partition("Nothing was changed")[0])
    assert "is on: changes are known from version 2 on" in output and "rebuilds it once more" in output
    line = next(each for each in output.splitlines() if "│ input s.o " in each)
    assert "no change data feed" not in line and "no key is declared" in line, "the input is looked at afterwards"
    again = project.doctor("--fix", "--yes")[1]
    assert project.statements == [] and "s.o:" not in again and "Left as it is:" in again


@pytest.mark.parametrize(("typed", "statements"), [("y\n", [STATEMENT.format("o")]), ("n\n", []), ("\n", [])])
def test_it_asks_in_a_terminal(project: Project, typed: str, statements: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_feeds, "_is_terminal", lambda: True)
    status, output = project.doctor("--fix", typed=typed)
    assert status == 0 and "Run this statement? [y/N]" in output and project.statements == statements


def test_one_that_is_refused_does_not_stop_the_others(project: Project, engine: FakeEngine) -> None:
    engine.tables["main.p"].properties = {}
    engine.fail["set properties of main.o"] = REFUSED
    status, output = project.doctor("--fix", "--yes")
    assert status == 1 and project.statements == [STATEMENT.format("o"), STATEMENT.format("p")]
    assert engine.tables["main.p"].properties == {FEED: "true"}
    line = next(each for each in output.splitlines() if "│ feed of s.o " in each)
    assert line.startswith(" fails") and "no MODIFY on main.o" in line and "owner" in line


def test_all_have_a_feed(project: Project) -> None:
    project.has(made("v", reads=("source.shop.s.p",), materialized="idivm"), source("p"))
    status, output = project.doctor("--fix")
    assert status == 0 and "Every table that maintained models read has a change data feed." in output


def test_a_table_that_two_inputs_lead_to_is_switched_on_once(project: Project, engine: FakeEngine) -> None:
    view(engine, "SELECT id FROM main.o")
    reads = ("source.shop.s.w", "source.shop.s.o")
    project.has(made("v", reads=reads, materialized="idivm"), source("o"), source("w"))
    assert project.doctor("--fix", "--yes")[0] == 0 and project.statements == [STATEMENT.format("o")]


def test_without_fix_nothing_is_shown_or_changed(project: Project) -> None:
    status, output = project.doctor()
    assert status == 0 and project.statements == [] and "Left as it is" not in output
    assert "`idivm doctor --fix` does this for all sources" in output
    assert "--yes belongs to --fix" in project.doctor("--yes")[1]


def test_an_input_that_may_not_be_described_is_a_line(project: Project, engine: FakeEngine) -> None:
    engine.fail["columns of main.o"] = REFUSED
    status, output = project.doctor()
    assert status == 1 and "[PERMISSION_DENIED] no MODIFY on main.o" in output and "│ input s.p " in output


def test_the_reason_of_a_rebuild_names_the_command() -> None:
    engine = FakeEngine()
    engine.source("o", id="int", name="string").properties = {}
    outcome = engine.drive(model("select id, name from main.o", {"o": "id"}))
    assert "main.o has no change data feed (run `idivm doctor --fix`)" in (outcome.reason or "")
