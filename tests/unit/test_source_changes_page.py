"""The page about changes of sources is made from what is tested."""

from tests.functional.drifts import PAGE, page


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.functional.drifts"
