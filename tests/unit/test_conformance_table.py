"""The page on conformance is the one that the test classes make: a new class of dbt's has to get a row."""

from tests.conformance.table import PAGE, page


def test_every_class_of_dbts_adapter_tests_is_in_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.conformance.table"
