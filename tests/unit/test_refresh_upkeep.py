"""What follows a refresh: comments, constraints, and whose relations are whose."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.protocol import EngineError, Reply, Rows, Statement
from dbt_idivm.refresh.upkeep import comments, constraints, ownership
from dbt_idivm.refresh.upkeep.comments import Descriptions
from dbt_idivm.script.dialect import DELTA


def drive(steps: Generator[Statement, Reply, Any], *replies: tuple[str, Reply]) -> tuple[Any, list[str]]:
    """The result, and the SQL of what had no reply by the beginning of its SQL."""
    done: list[str] = []
    reply: Reply | None = None
    try:
        while True:
            statement = next(steps) if reply is None else steps.send(reply)
            found = [each for text, each in replies if statement.sql.startswith(text)]
            if not found:
                done.append(statement.sql)
            reply = found[0] if found else Rows()
    except StopIteration as stop:
        return stop.value, done


def described(kind: str, *columns: tuple[str, str, str | None], comment: str = "", **ours: Any) -> Rows:
    properties = ",".join(f"idivm.{key}={state.encode(value)}" for key, value in ours.items())
    return Rows(
        ("col_name", "data_type", "comment"),
        (
            *columns,
            ("", "", ""),
            ("# Detailed Table Information", "", ""),
            ("Comment", comment, ""),
            ("Type", kind, ""),
            ("Provider", "delta", ""),
            ("Table Properties", f"[{properties}]", ""),
        ),
    )


ID, NAME = ("id", "int", "the key"), ("Name", "string", None)


def test_only_comments_that_differ() -> None:
    table = ("DESCRIBE", described("MANAGED", ID, NAME, comment="old"))
    wanted = Descriptions("new", {"id": "the key", "name": "it's", "gone": "x"})
    assert drive(comments.persist(Client(), "main.t", wanted), table)[1] == [
        "ALTER TABLE main.t ALTER COLUMN `Name` COMMENT 'it\\'s'",
        "ALTER TABLE main.t SET TBLPROPERTIES ('comment' = 'new')",
    ]
    assert drive(comments.persist(Client(), "main.t", Descriptions("old", {"id": "the key", "name": ""})), table)[1] == []
    assert drive(comments.persist(Client(), "main.t", Descriptions(None, None)), table)[1] == []


def test_described_columns_that_are_not_there() -> None:
    table = ("DESCRIBE", described("MANAGED", ID, NAME))
    wanted = Descriptions(None, {"ID": "the key", "gone": "x", "lost": "", "name": "not Name"}, frozenset({"name"}))
    missing, done = drive(comments.persist(Client(), "main.t", wanted), table)
    assert missing == ("gone", "lost", "name") and done == [], "a quoted name means a column in its own case only"
    assert drive(comments.persist(Client(), "main.t", Descriptions("old", None)), table)[0] == ()


def test_comments_of_a_view_s_columns_are_given_at_its_creation() -> None:
    view = ("DESCRIBE", described("VIEW", ID, NAME, comment="old", view="main.t__idivm", owner="model.shop.t"))
    _, done = drive(comments.persist(Client(), "main.t", Descriptions(None, {"name": "it's"})), view)
    create, comment = done
    assert "id COMMENT 'the key'" in create and "`Name` COMMENT 'it\\'s'" in create
    assert f"'idivm.view'='{state.encode('main.t__idivm')}'" in create and "'idivm.owner'" in create
    assert comment == "ALTER VIEW main.t SET TBLPROPERTIES ('comment' = 'old')", "the view's own comment is not lost"
    assert drive(comments.persist(Client(), "main.t", Descriptions("old", {"id": "the key"})), view)[1] == []


def test_constraints_of_a_contract() -> None:
    columns = [
        {"name": "id", "constraints": [{"type": "not_null"}, {"type": "primary_key"}]},
        {"name": "n", "constraints": [{"type": "check", "name": "Positive", "expression": "n > 0"}]},
    ]
    model = [{"type": "check", "expression": "id < n"}, {"type": "not_null", "columns": ["a b"]}, {"type": "unique"}]
    found = constraints.declared(DELTA, columns, model)
    assert set(found.values()) == {"id IS NOT NULL", "n > 0", "id < n", "`a b` IS NOT NULL"}
    assert found["positive"] == "n > 0" and sum(name.startswith("idivm_") for name in found) == 3


def test_only_constraints_that_differ() -> None:
    stored = Rows(
        ("key", "value"),
        (
            ("delta.constraints.a", "x > 0"),
            ("delta.constraints.b", "x > 1"),
            ("other", "1"),
            ("delta.constraints.idivm_1", "y > 0"),
            ("delta.constraints.theirs", "y > 1"),
        ),
    )
    wanted = {"a": "x > 0", "b": "x > 2", "c": "x > 3"}
    assert drive(constraints.persist(Client(), "main.t", wanted), ("SHOW", stored))[1] == [
        "ALTER TABLE main.t DROP CONSTRAINT b",
        "ALTER TABLE main.t DROP CONSTRAINT idivm_1",
        "ALTER TABLE main.t ADD CONSTRAINT b CHECK (x > 2)",
        "ALTER TABLE main.t ADD CONSTRAINT c CHECK (x > 3)",
    ]
    former = ["ALTER TABLE main.t DROP CONSTRAINT b", "ALTER TABLE main.t DROP CONSTRAINT idivm_1"]
    loosen = constraints.loosen
    assert drive(loosen(Client(), "main.t", wanted, every=False), ("SHOW", stored)) == (True, former)
    assert drive(loosen(Client(), "main.t", wanted, every=True), ("SHOW", stored)) == (
        True,
        [*former, "ALTER TABLE main.t DROP CONSTRAINT theirs"],
    )
    kept = Rows(("key", "value"), stored.rows[:1])
    assert drive(loosen(Client(), "main.t", {}, every=False), ("SHOW", kept)) == (False, [])


def test_orphans() -> None:
    def of(name: str, kind: str = "MANAGED", **ours: Any) -> tuple[str, Reply]:
        return f"DESCRIBE TABLE EXTENDED main.{name}", described(kind, ID, **ours)

    mine = {"owner": "model.shop.x"}
    relations = [
        of("a_model", **mine),  # now an incremental model: it is its own
        of("b__idivm", view="main.b__idivm", **mine),
        of("b", "VIEW", view="main.b__idivm", **mine),
        of("c__idivm", view="main.c__idivm", **mine),
        of("c", "VIEW"),  # the model became a plain view
        of("deleted", **mine),
        of("theirs", owner="model.others.x"),
        of("by_hand"),
        ("DESCRIBE TABLE EXTENDED main.gone", EngineError("TABLE_OR_VIEW_NOT_FOUND", "")),
    ]
    # the longer name first: replies are found by their beginning
    relations.sort(key=lambda each: -len(each[0]))
    names = [
        "main.a_model",
        "main.b",
        "main.b__idivm",
        "main.c",
        "main.c__idivm",
        "main.deleted",
        "main.theirs",
        "main.by_hand",
        "main.gone",
    ]
    found: dict[str, Any] = dict.fromkeys(names, "table")
    left, _ = drive(ownership.orphans(Client(), found, {"main.a_model", "main.b", "main.c"}, {"shop"}), *relations)
    assert [(each.relation, each.kind) for each in left] == [("main.c__idivm", "table"), ("main.deleted", "table")]


def test_a_table_that_is_let_go_says_nothing_of_us() -> None:
    table = ("DESCRIBE", described("MANAGED", ID, ids=["id"], owner="model.shop.x"))
    assert drive(ownership.release(Client(), "main.t"), table)[1] == [
        "ALTER TABLE main.t UNSET TBLPROPERTIES IF EXISTS ('idivm.ids', 'idivm.owner')"
    ]
    assert drive(ownership.release(Client(), "main.t"), ("DESCRIBE", described("MANAGED", ID)))[1] == []
