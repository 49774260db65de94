"""What a user is told of an error of the engine: its sentence and the place, without the plan and the statement."""

from __future__ import annotations

import pytest

from dbt_idivm.refresh.engine.steps import EngineFailure
from dbt_idivm.refresh.protocol import EngineError, Statement

DUMP = "\n'CreateTableAsSelect TableSpec(HashMap(idivm.definition -> 2264" + "0f" * 5_000 + "))\n+- 'Project [(a#1 + b#2)]\n"


def failure(message: str, error_class: str = "") -> EngineFailure:
    return EngineFailure(Statement("select 1", "read", "net diff"), EngineError(error_class, message))


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            '[DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES] Cannot resolve "(a + b)" due to a mismatch. SQLSTATE: 42K09; line 3 pos 7;'
            + DUMP,
            '[DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES] Cannot resolve "(a + b)" due to a mismatch. SQLSTATE: 42K09; line 3 pos 7',
        ),
        (
            "[PARSE_SYNTAX_ERROR] Syntax error at or near 'from'. SQLSTATE: 42601 (line 1, pos 9)\n\n== SQL ==\nselect 1 from"
            + DUMP,
            "[PARSE_SYNTAX_ERROR] Syntax error at or near 'from'. SQLSTATE: 42601 (line 1, pos 9)",
        ),
        (
            "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 8) ==\nselect a / b from t\n       ^^^^^\n"
            + DUMP,
            "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 8) ==\nselect a / b from t\n       ^^^^^",
        ),
        ("No class of its own.\nA second line." + DUMP, "No class of its own.\nA second line."),
        ("Without a class.\n== Physical Plan ==\nScan", "Without a class."),
        ("", "SOME_CLASS"),
    ],
)
def test_what_follows_the_sentence_is_left_out(message: str, said: str) -> None:
    assert failure(message, "SOME_CLASS").sentence == said


def test_a_sentence_that_shows_a_long_expression_is_shortened() -> None:
    found = failure(f'[X.Y] Cannot resolve "{"a + " * 5_000}" here. SQLSTATE: 42K09; line 3 pos 7;' + DUMP)
    assert len(found.sentence) < 1_100 and found.sentence.startswith("[X.Y]") and found.sentence.endswith("line 3 pos 7")
    assert found.first_line == found.sentence
