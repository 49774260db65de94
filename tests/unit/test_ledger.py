"""The state of a view in a ledger beside the data: when it is recorded, what is read back; claims; and rows staged in tables."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import suppress

import pytest
import sqlglot
from sqlglot import exp

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.apply.incremental import _effect
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.relations import described
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.commits import Guard, metrics, moment
from dbt_idivm.refresh.engine.engine import DATABRICKS_CLUSTER, sql_warehouse
from dbt_idivm.refresh.engine.ledger import Claimed, NotAlone, record
from dbt_idivm.refresh.engine.scoped import committed
from dbt_idivm.refresh.engine.staging import is_scratch
from dbt_idivm.refresh.engine.steps import T, driven
from dbt_idivm.refresh.protocol import EngineError, Reply, Rows, Statement
from dbt_idivm.script.dialect import verbatim

ENGINE = sql_warehouse("lake.main.idivm__state", "lake.main.v", {"idivm.owner": "00"}, "UTC")
COLUMNS = ("version", "timestamp", "operation", "operationParameters", "operationMetrics", "userMetadata")
AT = dt.datetime(2026, 11, 26, 9, 0, tzinfo=dt.UTC)
CREATED = ("CREATE TABLE AS SELECT", {"numOutputRows": "2"})
MERGED = ("MERGE", {"numTargetRowsInserted": "1", "numTargetRowsUpdated": "0", "numTargetRowsDeleted": "0"})
NOTHING = ("MERGE", {"numTargetRowsInserted": "0", "numTargetRowsUpdated": "0", "numTargetRowsDeleted": "0"})
COMPACTED = ("OPTIMIZE", {"numAddedFiles": "1"})


class Warehouse:
    """Answers about one table with these commits, and keeps what is recorded. `refuses`: kind of statement → the error."""

    def __init__(self, *commits: tuple[str, dict[str, str]], refuses: Mapping[str, EngineError] | None = None) -> None:
        self.commits, self.refuses = commits, dict(refuses or {})
        self.records: list[tuple[int, str, str]] = []
        self.has_table = False

    def ask(self, steps: Generator[Statement, Reply, T]) -> T:
        return driven(steps, self.answer)

    def answer(self, statement: Statement) -> Reply:
        if statement.sql.startswith("DESCRIBE HISTORY"):
            # maps as databricks-sql-connector gives them of Arrow
            rows = [
                (number, AT + dt.timedelta(minutes=number), operation, [("mode", "Append")], list(counts.items()), None)
                for number, (operation, counts) in enumerate(self.commits)
            ]
            return Rows(COLUMNS, tuple(reversed(rows))[: int(statement.sql.rpartition(" ")[2])])
        tree = sqlglot.parse_one(statement.sql, dialect="spark")
        if tree.key in self.refuses:
            return self.refuses[tree.key]
        if isinstance(tree, exp.Create):
            self.has_table = True
        elif not self.has_table:
            return EngineError("TABLE_OR_VIEW_NOT_FOUND", "[TABLE_OR_VIEW_NOT_FOUND] no such table")
        elif isinstance(tree, exp.Insert):
            for row in tree.expression.expressions:
                _, version, at, state, _ = row.expressions
                self.records.append((int(version.sql()), at.name, state.name))
        elif isinstance(tree, exp.Select):
            return Rows(("version", "at", "state"), tuple(self.records))
        return Rows()


def recorded_versions(
    commits: list[tuple[str, dict[str, str]]], before: int, affected: int | None = None, wrote: bool = True
) -> list[int]:
    """The versions that are recorded after a write that started from the version `before`, of these commits."""
    warehouse, client = Warehouse(*commits), Client(ENGINE)
    assert ENGINE.ledger is not None
    reply = None if not wrote else Rows() if affected is None else Rows(("num_affected_rows",), ((affected,),))
    with suppress(NotAlone):
        warehouse.ask(record(client, ENGINE.ledger, "lake.main.v", "{}", before, reply))
        assert warehouse.records or not wrote, "a write that is not recorded is an error"
    return [version for version, _, _ in warehouse.records]


def test_the_commit_of_a_write_is_recorded() -> None:
    assert recorded_versions([CREATED], -1) == [0]
    assert recorded_versions([CREATED, MERGED], 0, affected=1) == [1]
    assert recorded_versions([CREATED, MERGED, COMPACTED], 0, affected=1) == [1], "what the engine adds by itself changes no row"
    assert recorded_versions([CREATED, COMPACTED, MERGED], 0, affected=1) == [2]


def test_a_write_that_changed_nothing_says_what_the_rows_are_of_now() -> None:
    assert recorded_versions([CREATED], 0, affected=0) == [0]
    assert recorded_versions([CREATED, COMPACTED], 0, affected=0) == [1]
    assert recorded_versions([CREATED, NOTHING], 0, affected=0) == [1]
    assert recorded_versions([CREATED, COMPACTED], 0, wrote=False) == [1], "a watermark that moves"


def test_nothing_is_recorded_where_it_is_not_certain_whose_commit_it_is() -> None:
    assert recorded_versions([CREATED, MERGED, MERGED], 0, affected=1) == [], "somebody else has written, too"
    assert recorded_versions([CREATED, MERGED], 0, affected=0) == [], "a write that changed no row has not made this commit"
    assert recorded_versions([CREATED, MERGED], 0, wrote=False) == [], "who only moves a watermark has not made it either"
    assert recorded_versions([CREATED, MERGED], -1) == [], "the table was made, and changed by somebody else"
    assert recorded_versions([CREATED, CREATED], -1) == [], "or made anew by somebody else"
    many = [CREATED, MERGED, *[COMPACTED] * 18]
    assert recorded_versions([*many, MERGED], 0, affected=1) == [], "both are among those that were read"
    assert recorded_versions([*many, COMPACTED, MERGED], 0, affected=1) == [], "the first is not"


def test_what_is_read_back() -> None:
    """By version and time; the state that a cluster has written into a commit counts as well."""
    warehouse, client = Warehouse(CREATED, MERGED), Client(ENGINE)
    assert [each.user_metadata for each in warehouse.ask(history.newest(client, "lake.main.v", 5))] == [None, None]
    assert ENGINE.ledger is not None
    state = '{"a":"back \\\\ slash, quote \' and \\u0024{x}"}'
    warehouse.ask(record(client, ENGINE.ledger, "lake.main.v", state, 0, Rows()))
    warehouse.records.append((0, moment(AT + dt.timedelta(days=1)), "of another table that had the name"))
    newest, oldest = warehouse.ask(history.newest(client, "lake.main.v", 5))
    assert (newest.user_metadata, oldest.user_metadata) == (state, None)
    assert newest.counts["inserted"] == 1
    assert newest.claimed == Claimed(0, finished=True), "a ledger of a former version has no claims"


@pytest.mark.parametrize("word", ["create", "insert"])
def test_rights_that_are_missing_are_missed_before_anything_is_written(word: str) -> None:
    denied = EngineError("PERMISSION_DENIED", "[PERMISSION_DENIED] User does not have CREATE TABLE on Schema 'lake.main'.")
    warehouse = Warehouse(CREATED, refuses={word: denied})
    warehouse.has_table = word == "insert"
    tree = sqlglot.parse_one("delete from lake.main.v where id = 1", dialect="spark")
    write = Statement("DELETE", "write", "delete from lake.main.v", tree=tree)
    with pytest.raises(IdivmError, match="CREATE TABLE on Schema") as error:
        warehouse.ask(committed(Client(ENGINE), write, "lake.main.v", "{}", Guard.of("lake.main.v", 0, 0)))
    assert error.value.codes == ("IDIVM-508",)
    readable = Warehouse(CREATED, refuses={"select": denied})
    readable.has_table = True
    with pytest.raises(IdivmError, match="IDIVM-508"):
        readable.ask(history.newest(Client(ENGINE), "lake.main.v", 1))


def test_maps_of_drivers() -> None:
    assert metrics([("numOutputRows", "2")]) == metrics({"numOutputRows": "2"}) == metrics('{"numOutputRows": "2"}')
    assert metrics(None) == {}


def test_the_place_of_a_table_in_rows_of_their_own() -> None:
    lines = (
        ("id", "int"),
        ("# Detailed Table Information", ""),
        ("Catalog", "lake"),
        ("Database", "main"),
        ("Table", "t"),
        ("Type", "MANAGED"),
        ("Provider", "delta"),
        ("Table Properties", "[delta.enableChangeDataFeed=true]"),
    )
    facts = described(Rows(("col_name", "data_type", "comment"), tuple((*line, None) for line in lines)), DATABRICKS_CLUSTER)
    assert facts.schema == ("lake", "main") and facts.is_delta and facts.has_feed


def test_an_insert_that_answers_with_counts() -> None:
    """On Databricks it does; what became of replaced rows only its commit says."""
    insert = sqlglot.parse_one("insert into v select 1", dialect="spark")
    assert isinstance(insert, exp.Insert)
    assert _effect(insert, Rows(("num_affected_rows", "num_inserted_rows"), ((1, 1),)), 0) is None


def test_staged_rows_are_in_tables_that_no_other_refresh_has() -> None:
    staging = ENGINE.staging
    query = sqlglot.parse_one("select 1 as id", dialect="spark")
    assert isinstance(query, exp.Query)
    made = sqlglot.parse_one(staging.stage("idivm_net_1", query, "rows").sql, dialect="spark")
    place = made.this.sql("spark")
    assert made.key == "create" and made.args["replace"] and place.startswith("lake.main.v__idivm_net_1_")
    read = exp.select("id").from_(exp.Table(this=exp.to_identifier("idivm_net_1")))
    assert ENGINE.dialect.sql(read, pretty=False) == f"SELECT id FROM {place} AS idivm_net_1"
    own = exp.select("id").from_(exp.to_table("lake.main.idivm_net_1"))
    assert ENGINE.dialect.sql(own, pretty=False) == "SELECT id FROM lake.main.idivm_net_1", "a table of the user's"
    assert place in staging.drop("idivm_net_1").sql
    other = sql_warehouse("lake.main.idivm__state", "lake.main.v", {}, "UTC")
    assert other.staging.drop("idivm_net_1").sql != staging.drop("idivm_net_1").sql
    assert ENGINE.dialect.sql(verbatim("select 1")).startswith("select 1")


@pytest.mark.parametrize(
    ("name", "is_left"),
    [
        ("v__idivm_net_1_0123abcd", True),
        ("V__IDIVM_source_0123abcd", True),
        ("v__idivm_net_1", False),
        ("w__idivm_net_1_0123abcd", False),
    ],
)
def test_what_a_refresh_that_was_killed_leaves_behind(name: str, is_left: bool) -> None:
    assert is_scratch("v", name) is is_left


def test_without_dbt_databricks_nothing_else_misses_it() -> None:
    """The module of the type alone imports it, and dbt imports that only for a profile of the type."""
    code = (
        "import sys; sys.modules['dbt.adapters.databricks'] = None\n"
        "import dbt.adapters.idivm, dbt.adapters.idivm.doctor, dbt_idivm.cli\n"
        "try:\n    import dbt.adapters.idivm_databricks\nexcept ImportError as error:\n    print(error.name)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip().startswith("dbt.adapters.databricks"), found


def test_dbt_offers_only_what_is_installed() -> None:
    """`dbt init` and `dbt --version` look for files of this name, before anything is imported."""
    from dbt.version import _get_adapter_plugin_names

    assert "idivm_databricks" not in set(_get_adapter_plugin_names())
