"""TPC-DS's questions in our own words: each has a plan, and `docs/tpcds.md` says how it is maintained."""

from __future__ import annotations

import pytest

from benchmarks.tpcds.questions import KINDS, QUESTIONS
from benchmarks.tpcds.table import BLOCK, PAGE, how

BEGIN, END = f"<!-- {BLOCK}:begin -->\n", f"<!-- {BLOCK}:end -->"
ROWS = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].splitlines()[2:]
STALE = "run `python -m benchmarks.tpcds.table`"
# The others are planned in a fifth of a second.
SLOW = {
    *("q2", "q4", "q5", "q11", "q14", "q18", "q22", "q23", "q33", "q36", "q43", "q44", "q49", "q51", "q59", "q64", "q66", "q67"),
    *("q70", "q74", "q75", "q77", "q80", "q83", "q88"),
}


def test_there_are_more_than_a_third_of_the_questions_and_some_of_each_kind() -> None:
    assert len(QUESTIONS) == sum(map(len, KINDS.values())) == len(ROWS) >= 33
    assert all(len(questions) >= 4 for questions in KINDS.values())
    assert all(1 <= each.number <= 99 and each.of_all != each.sql for each in QUESTIONS.values())
    expected = (f"| {each.name} | {kind} | {each.about} | " for kind, questions in KINDS.items() for each in questions)
    assert all(row.startswith(start) for row, start in zip(ROWS, expected, strict=True)), STALE


def test_no_question_is_rebuilt() -> None:
    rebuilt = [row for row in ROWS if "rebuilt" in row]
    assert len(rebuilt) == 1 and rebuilt[0].startswith("| q4 |"), "and this one only without LIMIT"
    assert rebuilt[0].endswith("| rebuilt: IDIVM-232 |") and rebuilt[0].count("rebuilt") == 1


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.deep] * (each in SLOW)) for each in QUESTIONS])
def test_a_question_is_maintained_as_the_page_says(name: str) -> None:
    assert how(QUESTIONS[name].sql) == cells(name)[3], STALE


@pytest.mark.deep
@pytest.mark.parametrize("name", QUESTIONS)
def test_without_limit_it_is_maintained_as_the_page_says(name: str) -> None:
    assert how(QUESTIONS[name].of_all) == cells(name)[4], STALE


def cells(name: str) -> list[str]:
    (row,) = (each for each in ROWS if each.startswith(f"| {name} |"))
    return [cell.strip() for cell in row.strip("|").split("|")]
