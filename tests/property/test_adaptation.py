"""View adaptation: what the old view has stored, adapted to the new definition, is what the new definition would build."""

from __future__ import annotations

from collections import Counter

import duckdb
import pytest
from hypothesis import given

from dbt_idivm.adaptation.adapt import Adaptation, adapt
from dbt_idivm.adaptation.statement import adapted_query, delete_rows, insert_rows
from dbt_idivm.errors import IdivmError
from dbt_idivm.script.bind import full_query
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.plan import Plan
from tests.property.duck import OnDuckDB, _sql
from tests.property.edits import Pair, pairs
from tests.property.harness import VIEW, World
from tests.property.plans import plan_of
from tests.property.profiles import more

FOUND: Counter[str] = Counter()
BINDING = Binding(dialect=DUCKDB)


def check(pair: Pair) -> Adaptation | None:
    """The adaptation of the pair, after comparing it with a build of the new model."""
    with World(pair.tables, pair.old.sql) as world:
        world.load(pair.content)
        new = plan_of(pair.tables, pair.new.sql, world.options, ask=world._ask)
        found = adapt(world.plan, new, VIEW)
        if found is not None:
            compare(world, found, new)
        return found


def compare(world: World, found: Adaptation, new: Plan) -> None:
    engine = world.engine
    assert isinstance(engine, OnDuckDB)
    wanted = full_query(new, BINDING)
    query = adapted_query(found, new, BINDING)
    expected = Counter(engine.rows(wanted))
    assert Counter(engine.rows(query)) == expected
    assert engine.types(query) == engine.types(wanted)
    if found.in_place:
        deleted, inserted = delete_rows(found, DUCKDB), insert_rows(found, new, BINDING)
        for statement in (deleted, inserted):
            if statement is not None:
                engine.connection.execute(_sql(statement))
        assert world.rows_of(VIEW) == expected


@more
@given(pairs())
def test_adapted_views_are_what_a_build_makes(pair: Pair) -> None:
    try:
        found = check(pair)
    except (IdivmError, duckdb.ConversionException, duckdb.OutOfRangeException):
        FOUND["refused"] += 1
        return
    FOUND["pairs"] += 1
    FOUND["in place" if found is not None and found.in_place else "rewritten" if found is not None else "rebuilt"] += 1
    for edit in found.edits if found is not None else ():
        FOUND[edit] += 1
