"""The examples of `docs/subqueries.md` are maintained, or rebuilt with IDIVM-208, as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dbt_idivm.context import Catalog
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from tests.unit.test_errors import table

PAGE = (Path(__file__).parents[2] / "docs" / "subqueries.md").read_text(encoding="utf-8")
CATALOG = Catalog(
    {
        info.name: info
        for info in (
            table("l", "id int, k int, x int", "id"),
            table("r", "rid int, k int, y int, d int", "rid"),
            table("n", "k int, x int"),
        )
    }
)
_, MAINTAINED, REBUILT = re.split(r"-- maintained\n|-- rebuilt\n", PAGE)


def examples(text: str) -> list[str]:
    return text.partition("```")[0].strip().split("\n")


@pytest.mark.parametrize("sql", examples(MAINTAINED))
def test_what_is_maintained(sql: str) -> None:
    lower(sql, CATALOG)


@pytest.mark.parametrize("sql", examples(REBUILT))
def test_what_is_rebuilt(sql: str) -> None:
    with pytest.raises(IdivmError) as error:
        lower(sql, CATALOG)
    assert [each.code for each in error.value.findings] == ["IDIVM-208"]
