"""Texts with tokens lost, doubled, swapped or replaced: the planner reports findings, never a traceback."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot.tokens import Tokenizer

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from tests.meaning.spark_meaning import SparkRefuses, spark_meaning
from tests.property.directed import DIRECTED, FOUND
from tests.property.judge import NO_TABLE
from tests.property.misreadings import MISREADINGS
from tests.property.profiles import is_long
from tests.property.strategies import Case

CORPUS = [case for cases in (DIRECTED, FOUND, MISREADINGS) for case in cases.values()]
OTHER = (
    "(",
    ")",
    ",",
    ".",
    "*",
    "-",
    "1",
    "'a'",
    "NULL",
    "NOT",
    "AND",
    "OR",
    "IN",
    "AS",
    "FROM",
    "JOIN",
    "ON",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "UNION ALL",
    "UNION",
    "EXISTS",
    "SELECT",
    "DISTINCT",
    "count(",
    "sum(",
    "CASE",
    "WHEN",
    "END",
    "OVER",
    "k",
    "x",
    "c0",
    "USING",
    "NATURAL",
    "LEFT",
    "ORDER BY",
    "LIMIT",
    "BETWEEN",
    "LATERAL",
    "VALUES",
    "WITH",
    ";",
    "=",
    "`",
    "->",
    "::",
    "[",
    "]",
)
# Of the texts that Spark's parser refuses the planner reads some: sqlglot is the more generous of the two.
MOST_DISAGREEMENTS = 0.15


@st.composite
def mutilated(draw: st.DrawFn) -> tuple[Case, str]:
    case = draw(st.sampled_from(CORPUS))
    tokens = [case.sql[token.start : token.end + 1] for token in Tokenizer().tokenize(case.sql)]
    for _ in range(draw(st.integers(1, 3))):
        place, other = draw(st.integers(0, len(tokens) - 1)), draw(st.integers(0, len(tokens) - 1))
        what = draw(st.sampled_from(("lost", "doubled", "swapped", "replaced", "added")))
        if what == "lost" and len(tokens) > 1:
            del tokens[place]
        elif what == "doubled":
            tokens.insert(place, tokens[place])
        elif what == "swapped":
            tokens[place], tokens[other] = tokens[other], tokens[place]
        else:
            tokens[place : place + (what == "replaced")] = [draw(st.sampled_from(OTHER))]
    return case, " ".join(tokens)


def verdict(case: Case, sql: str) -> str:
    """The planner's result: accepted, refused, or an error of the user."""
    try:
        lowered = lower(sql, Catalog({table.name: table.info() for table in case.tables}))
        compile_plan(lowered.root, lowered.output)
    except IdivmError as error:
        blamed = not error.is_refusal and not set(error.codes) <= NO_TABLE
        return "the user's fault" if blamed else "refused"
    return "accepted"


def spark_verdict(case: Case, sql: str) -> str:
    spark = spark_meaning()
    spark.reset()
    for table in case.tables:
        spark.table(table.name, table.columns, ())
    try:
        spark.schema(sql)
    except SparkRefuses as error:
        return "refused" if error.own else "fails"
    return "accepted"


@settings(max_examples=20_000 if is_long() else 1_000)
@given(text=mutilated())
def test_no_traceback(text: tuple[Case, str]) -> None:
    verdict(*text)


def test_disagreements_are_few() -> None:
    """Counted: what Spark refuses and the planner accepts, and what the planner blames the user for and Spark accepts."""
    found: Counter[tuple[str, str]] = Counter()

    @settings(max_examples=2_000 if is_long() else 150)
    @given(text=mutilated())
    def run(text: tuple[Case, str]) -> None:
        found[(verdict(*text), spark_verdict(*text))] += 1

    run()
    differing = found[("accepted", "refused")] + found[("the user's fault", "accepted")]

    assert differing <= MOST_DISAGREEMENTS * found.total(), found
