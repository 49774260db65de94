"""Each guard of the planner is needed: with it switched off a hand-written case gives a wrong view."""

from __future__ import annotations

from functools import cache

import duckdb
import pytest

from tests.property.coverage import DIRECTED as REACHED
from tests.property.directed import DIRECTED
from tests.property.harness import Collision, World
from tests.property.mutations import CONSERVATIVE, GUARDS, Mutation
from tests.property.test_equivalence import ALL_WAYS, COMPARED, check

WAYS = ALL_WAYS | COMPARED


@cache
def passes(case: str, way: str) -> None:
    """With all guards."""
    REACHED.cases += 1
    check(DIRECTED[case], WAYS[way], REACHED)


@pytest.mark.parametrize("mutation", GUARDS, ids=lambda mutation: mutation.guard)
def test_guard_is_needed(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    passes(mutation.case, mutation.way)
    mutation.switch_off(monkeypatch)
    assert is_wrong(mutation), f"nothing notices that this guard is off: {mutation.guard}"


@pytest.mark.parametrize("mutation", CONSERVATIVE, ids=lambda mutation: mutation.guard)
def test_guard_is_stricter_than_needed(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails, the guard has become necessary: move it to MUTATIONS."""
    mutation.switch_off(monkeypatch)
    assert not is_wrong(mutation)


def is_wrong(mutation: Mutation) -> bool:
    """Whether the case ends in another view than its recomputation, in a MERGE of two rows into one, or in an overflow.

    Delta and Spark refuse these too.
    """
    case = DIRECTED[mutation.case]
    with World(case.tables, case.sql, WAYS[mutation.way]) as world:
        world.load(case.start)
        for batch in case.batches:
            try:
                world.refresh(batch)
            except Collision:
                return True
            except duckdb.InvalidInputException as error:
                return "more than once" in str(error)
            except (duckdb.OutOfRangeException, duckdb.ConversionException):
                return True
            if world.maintained() != world.recomputed():
                return True
    return False
