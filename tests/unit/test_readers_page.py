"""The page about readers is made from what is tested."""

from tests.functional.readers import PAGE, page


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.functional.readers"
