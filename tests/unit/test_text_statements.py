"""Splitting a text into statements, as `idivm sql` and the demo's files of changes need it."""

import pytest
from sqlglot.errors import TokenError

from dbt_idivm.frontend.text import statements


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", []),
        (" ;; -- nothing\n", []),
        ("select 1", ["select 1"]),
        ("select ';' as a; -- two; three\nselect `b;`  ; /* c; */ select 3\n;", ["select ';' as a", "select `b;`", "select 3"]),
        ("update t set s = 'it''s;' where \"x\" = 1;", ["update t set s = 'it''s;' where \"x\" = 1"]),
    ],
)
def test_statements(text: str, expected: list[str]) -> None:
    assert list(statements(text)) == expected


def test_an_open_quote() -> None:
    with pytest.raises(TokenError):
        list(statements("select 'a; select 2"))
