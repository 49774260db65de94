"""How each question is maintained: `python -m benchmarks.tpcds.table` writes the table of `docs/tpcds.md`."""

from __future__ import annotations

from pathlib import Path

from benchmarks.tpcds.question import Question
from benchmarks.tpcds.questions import KINDS
from benchmarks.tpcds.schema import TABLES
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.definition.compiling import compiled
from dbt_idivm.definition.questions import without_engine
from dbt_idivm.docs import with_block
from dbt_idivm.errors import IdivmError
from dbt_idivm.explain import maintained
from dbt_idivm.operators.scan import Attribute

PAGE = Path(__file__).parents[2] / "docs" / "tpcds.md"
BLOCK = "tpcds"
CATALOG = Catalog(
    {table.name: TableInfo(table.name, tuple(Attribute(*each) for each in table.columns), table.key, "test") for table in TABLES}
)


def how(sql: str) -> str:
    """How a SELECT over TPC-DS's tables is maintained, or the codes of the refusal."""
    try:
        return maintained(without_engine(compiled(sql, CATALOG)).plan)
    except IdivmError as refusal:
        return f"rebuilt: {', '.join(sorted(set(refusal.codes)))}"


def row(kind: str, question: Question) -> str:
    """The row of the table."""
    return f"| {question.name} | {kind} | {question.about} | {how(question.sql)} | {how(question.of_all)} |"


def table() -> str:
    """The whole table."""
    rows = [row(kind, each) for kind, questions in KINDS.items() for each in questions]
    head = "| | kind | question | maintained | without ORDER BY and LIMIT |"
    return "\n".join((head, "|---|---|---|---|---|", *rows, ""))


if __name__ == "__main__":
    PAGE.write_text(with_block(PAGE.read_text(encoding="utf-8"), BLOCK, table()), encoding="utf-8")
