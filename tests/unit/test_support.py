"""The support matrix is made from the code, and what it claims of each construct is compiled."""

from pathlib import Path

import pytest

from dbt_idivm.docs import pages
from dbt_idivm.support import CONSTRUCTS, Construct, first_page_table, maintained, plan_of, support_table

ROOT = Path(__file__).parents[2]


def test_generated_pages_are_current() -> None:
    stale = [name for name, text in pages(ROOT).items() if (ROOT / name).read_text(encoding="utf-8") != text]
    assert not stale, f"run `make docs`: {stale}"


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda c: c.name)
def test_construct_is_maintained(construct: Construct) -> None:
    plan = plan_of(construct)
    assert plan.ways


def test_the_three_ways_to_maintain_are_distinguished() -> None:
    found = {construct.name: maintained(plan_of(construct)) for construct in CONSTRUCTS}
    assert found["UNION ALL"] == "by i-diffs"
    assert found["GROUP BY with sum, count"] == "by adding (additive)"
    assert found["avg of BIGINT and of other decimals"] == found["sum and avg of floats"] == "by recomputing the touched groups"
    assert found["input without a key"] == "by recomputing the touched rows"


def test_the_first_page_has_some_rows_and_no_hidden_columns() -> None:
    """The README has a dozen rows that `docs/support.md` has too, without the names of hidden columns."""
    first = first_page_table().splitlines()[2:]
    whole = support_table().splitlines()[2:]
    assert 10 <= len(first) <= 15 and len(whole) == len(CONSTRUCTS)
    assert all(any(row.startswith(line) for row in whole) for line in first)
    assert "idivm__" in support_table() and "idivm__" not in first_page_table()
