"""What the planner once misread would be found: by the tests on Spark's meaning, and by the proof before a view is built."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend import set_operations
from tests.proof.corpus import create
from tests.proof.judged import MISREAD_TEXTS, judged, meant
from tests.property.coverage import Coverage
from tests.property.directed import build
from tests.property.judge import judge
from tests.property.misread import MISREAD, Misread, Patch
from tests.property.misreadings import MISREADINGS
from tests.property.test_equivalence import ALL_WAYS
from tests.property.trials import Discarded

pytestmark = pytest.mark.deep


def each(cases_of: Callable[[Misread], tuple[str, ...]]) -> pytest.MarkDecorator:
    """Every misreading with every one of these cases."""
    pairs = [(misread, name) for misread in MISREAD for name in cases_of(misread)]
    return pytest.mark.parametrize(("misread", "name"), pairs, ids=[f"{misread.what} - {name}" for misread, name in pairs])


def is_right(name: str, way: str) -> bool:
    """Whether the tests have nothing against the case: it is maintained as Spark means it, and never rebuilt instead."""
    found = Coverage("misread")
    try:
        judge(MISREADINGS[name], ALL_WAYS[way], found)
    except (AssertionError, Discarded):
        return False
    return not found.shapes["rebuilt"]


@each(lambda misread: misread.cases + misread.refused)
def test_the_tests_find_it(misread: Misread, name: str, monkeypatch: Patch) -> None:
    """Without the misreading nothing is wrong with them: `test_meaning_of_cases.py`."""
    misread.bring_back(monkeypatch)
    assert not is_right(name, misread.way), f"nothing notices in {name} that {misread.what}"


@each(lambda misread: () if misread.later else misread.cases)
def test_the_proof_finds_it(misread: Misread, name: str, monkeypatch: Patch) -> None:
    """The view would be built from the user's own text, and so be right."""
    case = MISREADINGS[name]
    create(case.tables, case.start)
    assert judged(meant(), case.tables, case.sql).how in ("plans", "rows")
    misread.bring_back(monkeypatch)
    found = judged(meant(), case.tables, case.sql)
    assert found.how == "differs" and found.difference is not None, found.evidence


@each(lambda misread: misread.refused)
def test_there_is_no_plan_to_be_proven(misread: Misread, name: str, monkeypatch: Patch) -> None:
    """The SELECT is taken for a wrong one: an error, and no view."""
    case = MISREADINGS[name]
    create(case.tables, case.start)
    assert judged(meant(), case.tables, case.sql).how in ("plans", "rows")
    misread.bring_back(monkeypatch)
    with pytest.raises(IdivmError):
        judged(meant(), case.tables, case.sql)


@pytest.mark.parametrize("name", [name for name in MISREADINGS if name.startswith("union: ")])
def test_branches_that_are_not_cast_are_no_plan(name: str, monkeypatch: Patch) -> None:
    """Before anything is proven: the planner looks at what it made itself."""
    case = MISREADINGS[name]
    create(case.tables, case.start)
    monkeypatch.setattr(set_operations, "coerced", lambda part, sources, *rest: (part, sources))
    with pytest.raises(IdivmError) as error:
        judged(meant(), case.tables, case.sql)
    assert error.value.codes == ("IDIVM-901",)


@pytest.mark.parametrize("name", MISREAD_TEXTS)
def test_the_proof_finds_another_text(name: str) -> None:
    tables, rows, sql, read_as = MISREAD_TEXTS[name]
    case = build(tables, sql, rows)
    create(case.tables, case.start)
    assert judged(meant(), case.tables, sql).how == "plans"
    assert judged(meant(), case.tables, sql, read_as).how == "differs"
