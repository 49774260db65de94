"""Golden files: the plan and the Δ-script of one view each, reviewed like code (`--update-golden` rewrites them)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from dbt_idivm.operators import OPERATORS
from dbt_idivm.script.diff import Row
from tests.golden.golden_file import SHOWN, Golden, read
from tests.property.harness import World
from tests.property.plans import idiff_way

HERE = Path(__file__).parent
FILES = sorted(path for folder in SHOWN for path in (HERE / folder).glob("*.sql"))
NAMES = [f"{path.parent.name}/{path.stem}" for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_text(path: Path, golden: Callable[[Path, str], None]) -> None:
    golden(path, read(path).rendered())


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_every_statement_is_sql(path: Path) -> None:
    """Everything that is no comment parses again, to the same text."""
    statements = sqlglot.parse(path.read_text(), dialect="spark")
    assert statements
    for statement in statements:
        assert statement is not None and not isinstance(statement, exp.Command)
        printed = statement.sql("spark", comments=False)
        assert sqlglot.parse_one(printed, dialect="spark").sql("spark", comments=False) == printed


@pytest.mark.parametrize(
    "optimised", [pytest.param(False, marks=pytest.mark.deep, id="naive"), pytest.param(True, id="optimised")]
)
@pytest.mark.parametrize("additive", [False, True], ids=["by i-diffs", "additive"])
@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_data(path: Path, optimised: bool, additive: bool) -> None:
    """Start rows, then batches: after each the view equals its recomputation."""
    follow(read(path), optimised=optimised, additive=additive)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_data_by_tuples(path: Path) -> None:
    follow(read(path), strategy="tuple", additive=False)


def follow(file: Golden, **ways: Any) -> None:
    start, *batches = file.data
    with World(file.tables, file.view, replace(file.options, **ways)) as world:
        world.load(contents(world, start))
        assert batches and world.maintained()
        for batch in batches:
            before = world.content.copy()
            after = contents(world, batch)
            assert after != before, "a batch changes nothing"
            world.refresh(after)
            assert world.maintained() == world.recomputed()
            assert world.stored() == world.extended()
            assert not world.wrong_caches()


def contents(world: World, statements: list[str]) -> dict[str, list[Row]]:
    """The rows of every table after the statements."""
    for statement in statements:
        world.engine.connection.execute(statement)
    return {table.name: world.engine.connection.execute(f'SELECT * FROM "{table.name}"').fetchall() for table in world.tables}


def test_every_rule_has_a_golden_that_fires_it() -> None:
    fired = {firing.rule for path in FILES for firing in idiff_way(read(path).plan()).firings}
    assert [rule.name for operator in OPERATORS for rule in operator.RULES if rule.name not in fired] == []
