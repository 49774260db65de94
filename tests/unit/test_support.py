"""The support matrix is made from the code, and what it claims of each construct is compiled."""

from pathlib import Path

import pytest

from dbt_idivm.docs import error_pages, pages
from dbt_idivm.support import CONSTRUCTS, Construct, as_markdown, maintained, plan_of, support_page

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


def test_what_a_message_fills_in_is_shown() -> None:
    assert as_markdown("`<x>` of <what> and `y < z`") == "`<x>` of &lt;what> and `y < z`"
    assert "| &lt;clause> |" in support_page() and "# IDIVM-205: &lt;clause>" in error_pages()["docs/errors/IDIVM-205.md"]
