"""What one statement reads of several inputs is what a statement of each would read, by Spark's own parser and expressions."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import pytest

from dbt_idivm.definition.keys import Key
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh.catalog.file_actions import FileActions
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.inputs import Input
from dbt_idivm.refresh.catalog.relations import Described
from dbt_idivm.refresh.catalog.state import Consumed
from dbt_idivm.refresh.changes import net_diffs
from dbt_idivm.refresh.changes.moves import Move
from dbt_idivm.refresh.changes.net_diffs import ProvenDiff, fetch_together
from dbt_idivm.refresh.changes.proving import COUNTS
from dbt_idivm.refresh.changes.verify_keys import Changed, look_up_together, repeated_new_key
from dbt_idivm.refresh.checks.keys import Check, KeyedInput, repeated_at, unique_of
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.engine import EMBEDDED
from dbt_idivm.refresh.engine.steps import driven
from dbt_idivm.refresh.protocol import Reply, Rows, Statement
from dbt_idivm.script.diff import InlineDiff
from tests.meaning.spark_meaning import spark_meaning

VALUES: dict[str, Sequence[Any]] = {
    "int": (None, 0, 1, -1, 2**31 - 1, -(2**31)),
    "bigint": (None, 0, 2**63 - 1, -(2**63)),
    "boolean": (None, True, False),
    "string": (None, "", "a", "A", " a", "é\U0001f600", "\ufffd", "true", "NULL", "1", "it's \\ \n ${x}"),
    "double": (None, "0.0", "-0.0", "NaN", "Infinity", "1.0E10", "0.1", "1"),
    "float": (None, "-0.0", "0.0", "0.1"),
    "decimal(10,2)": (None, "0.00", "1.50", "-99999999.99"),
    "date": (None, "2026-01-01", "1582-10-15", "0001-01-01"),
    "timestamp": (None, 0, -1, 1_793_000_000_000_001),
    "binary": (None, "", "00FF", "EFBFBD"),
}
CHANGES = ("insert", "delete", "update_preimage", "update_postimage")
TABLES: tuple[tuple[str, ...], ...] = (
    ("int",),
    ("string", "int"),
    ("int", "string", "boolean"),
    ("bigint", "double", "timestamp", "binary"),
    ("decimal(10,2)", "date", "float", "string", "boolean", "timestamp"),
)


def moved(number: int, kinds: Sequence[str], reported: int, *, feed_file: bool) -> tuple[Input, Move]:
    facts = Described(tuple(Attribute(f"x{place}", kind) for place, kind in enumerate(kinds)), "table", "delta", has_feed=True)
    commit = Commit(2, "a2", "WRITE", frozenset({"Append"}), {"numOutputRows": str(reported)}, None)
    actions = FileActions(int(feed_file), 1, 0, None, 0)
    move = Move(f"main.t{number}", Consumed(f"main.t{number}", 1, "a1"), 2, "a2", (commit,), {2: actions})
    return Input(f"main.t{number}", f"main.t{number}", facts, commit), move


def answered(statement: Statement) -> Reply:
    """The answer of Spark, for which a feed is a table and a table has one version."""
    spark_meaning().parse(statement.sql)
    sql = re.sub(r"TABLE_CHANGES\('main\.(\w+)', 2, 2\)", r"\1_changes", statement.sql)
    return Rows((), tuple(spark_meaning().query(re.sub(r"main\.(\w+) VERSION AS OF 2", r"\1", sql))))


@pytest.mark.parametrize("feed_files", [(), (1,), (0, 1, 2, 3, 4)], ids=["inferred", "one counted", "counted"])
@pytest.mark.parametrize("seed", range(3))
def test_net_diffs(seed: int, feed_files: tuple[int, ...]) -> None:
    drawn, spark, inputs = random.Random(seed), spark_meaning(), []
    spark.reset()
    for number, kinds in enumerate(TABLES):
        pool = [tuple(drawn.choice(VALUES[kind]) for kind in kinds) for _ in range(drawn.randrange(8))]
        rows = [(*drawn.choice(pool), 2, drawn.choice(CHANGES)) for _ in range(drawn.randrange(30) if pool else 0)]
        columns = [
            *((f"x{place}", kind) for place, kind in enumerate(kinds)),
            ("_commit_version", "bigint"),
            ("_change_type", "string"),
        ]
        spark.table(f"t{number}_changes", columns, rows)
        inputs.append(moved(number, kinds, len(rows) or 1, feed_file=number in feed_files))
    common, alone = Client(EMBEDDED), Client(EMBEDDED)
    driven(fetch_together(common, inputs), answered)
    assert common.statements == 1
    for number, (found, move) in enumerate(inputs):
        together, single = (_fetched(each, found, move) for each in (common, alone))
        assert together == single, move.table
        counts = [each.invocation.known(move.question(COUNTS)) for each in (common, alone)]
        assert number not in feed_files or counts[0] == counts[1]
    assert common.statements == 1 and alone.statements == len(inputs)


def _fetched(client: Client, found: Input, move: Move) -> InlineDiff | None:
    """What is fetched of a move, whether its feed is proven or not."""
    return driven(net_diffs._fetched(client, found, move), answered)


@pytest.mark.parametrize("kind", [kind for kind in VALUES if kind not in ("boolean", "binary")])
def test_new_keys(kind: str) -> None:
    """Each table has other new keys, some of them twice."""
    drawn, spark = random.Random(kind), spark_meaning()
    spark.reset()
    changed = []
    for number in range(6):
        stored = [(drawn.choice(VALUES[kind]), drawn.choice(VALUES["int"])) for _ in range(drawn.randrange(6))]
        spark.table(f"t{number}", [("x0", kind), ("x1", "int")], stored)
        found, move = moved(number, (kind, "int"), 1, feed_file=False)
        new = dict.fromkeys((*drawn.choices(stored, k=2), (drawn.choice(VALUES[kind]), 5)) if stored else [(None, 5)])
        diff = InlineDiff(("x0", "x1"), tuple((row, 1) for row in new))
        changed.append(Changed(KeyedInput(found, Key(("x0", "x1"), "a test")), ProvenDiff(diff, move)))
    common, alone = Client(EMBEDDED), Client(EMBEDDED)
    driven(look_up_together(common, changed, "always"), answered)
    assert common.statements == 1
    broken = 0
    for each in changed:
        diff, key, move = each.read.diff, each.keyed.key, each.read.move
        assert isinstance(diff, InlineDiff) and key is not None
        rows = tuple(row for row, _ in diff.rows)
        single = driven(repeated_new_key(alone, each.keyed.found, key, move, rows), answered)
        assert driven(repeated_new_key(common, each.keyed.found, key, move, rows), answered) == single
        broken += single is not None
    assert common.statements == 1 + broken, "those that hold are not looked up again"


@pytest.mark.parametrize("is_found", [False, True])
@pytest.mark.parametrize("kind", ["tinyint", "smallint", "int", "bigint", "string"])
def test_keys_of_whole_tables(kind: str, is_found: bool) -> None:
    """Integral keys are compared in groups of 64, of which some are full, some have negative values, and some NULLs."""
    drawn, spark, bits = (
        random.Random(kind),
        spark_meaning(),
        {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}.get(kind, 20),
    )
    spark.reset()
    values: list[list[int | None]] = []
    for _ in range(14):
        start = drawn.choice((-(2**bits), 2**bits - 70, -70, 0, 61))
        found: list[int | None] = [start + number for number in range(70) if drawn.random() < 0.7]
        found += [None] * drawn.choice((0, 0, 0, 1, 2)) + drawn.sample(found, drawn.choice((0, 0, 0, 1)))
        values.append(found)
    checks = [Check(f"main.t{number}", 2, ("x0",), (kind,), is_found) for number in range(len(values))]
    for number, found in enumerate(values):
        spark.table(
            f"t{number}", [("x0", kind)], [(str(each) if kind == "string" and each is not None else each,) for each in found]
        )
    holds = [len(set(each)) == len(each) and not (is_found and None in each) for each in values]
    assert 0 < sum(holds) < 14
    client, key = Client(EMBEDDED), Key(("x0",), "a test", found=is_found)
    assert driven(unique_of(client, checks), answered) == tuple(
        each for each, is_key in zip(checks, holds, strict=True) if is_key
    )
    assert client.statements == 1
    for number, is_key in enumerate(holds):
        found_input, _ = moved(number, (kind,), 1, feed_file=False)
        broken = driven(repeated_at(client, found_input, 2, key), answered)
        assert (broken is None) is is_key
        if broken is not None:
            count, (value,) = broken
            repeated = {each for each in values[number] if values[number].count(each) > 1 or (is_found and each is None)}
            assert count == len(repeated) and (None if value is None else int(value)) in repeated
