"""Every word of Spark's and Delta's grammars as the name of a schema, a table, a column and an alias.

What a refresh sends is read by the parsers themselves. A statement about a table called like a keyword is to mean what it means
about any other: the parsed plans are compared, because a bare name may parse as something else (`user`, `interval`, `using`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.algebra import keywords
from dbt_idivm.algebra.expressions import identifier
from dbt_idivm.definition.config import ModelConfig
from dbt_idivm.definition.request import KeyCandidate, ModelRequest
from dbt_idivm.frontend.names import Names
from dbt_idivm.refresh.apply import statements
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.engine import SPARK_DELTA
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import Refresh, Reply, Statement
from dbt_idivm.script.dialect import DELTA, verbatim
from dbt_idivm.verify import equivalence
from tests.functional.project import project_in
from tests.unit.fake_engine import FakeEngine, Table

PLAIN = "zq"  # a name that is no word of any grammar
RESERVED = "spark.sql.ansi.enforceReservedKeywords"
_LEXERS = {"SPARK": "org.apache.spark.sql.catalyst.parser.SqlBaseLexer", "DELTA": "io.delta.sql.parser.DeltaSqlBaseLexer"}

# {w} is the word: a schema, a table in two schemas, a key, a field of a struct, and what the queries call so.
_MODELS = (
    ("select `{w}`.`{w}` as `{w}`, o.v from s.`{w}` as `{w}` join `{w}`.t as o on o.`{w}` = `{w}`.`{w}` where o.v > 1", "id"),
    ("select `{w}`.`{w}` as `{w}`, sum(v) as total, count(*) as n from s.`{w}` as `{w}` group by `{w}`.`{w}`", "id"),
    ("select `{w}`, max(v) as most from s.`{w}` group by `{w}`", "id"),
    (
        "with `{w}` as (select `{w}`, v from s.`{w}`) select `{w}`.v, `{w}`.`{w}` from `{w}` "
        "where not exists (select 1 from `{w}`.t as `{w}` where `{w}`.`{w}` = 3)",
        "tuple",
    ),
    (
        "select `{w}` as k, `{w}`.st.`{w}` as a, transform(array(v), `{w}` -> `{w}` + 1) as b, struct(v as `{w}`) as `c d`, "
        "cast(`{w}`.st as struct<`{w}`: bigint>) as e from s.`{w}`",
        "id",
    ),
    ("select `{w}` as `{w}` from s.`{w}` as `a b` union all select `{w}` from `{w}`.t", "recompute"),
)
_UNREAD = ("SET ", "RESET ")  # their text is no expression, and names are quoted there


class Unquoted(FakeEngine):
    """Knows its tables by their names without quotes."""

    def answer(self, statement: Statement) -> Reply:
        as_it_is = statement.sql.startswith((*_UNREAD, "DESCRIBE QUERY "))  # the engine reads such a query with the planner
        return super().answer(statement if as_it_is else replace(statement, sql=statement.sql.replace("`", "")))


def statements_of_models(word: str) -> Iterator[str]:
    """What is sent for models over tables called by the word: built, refreshed, compared, read again."""
    for sql, strategy in _MODELS:
        engine = Unquoted()
        names = (f"s.{word}", f"{word}.t")
        for name in names:
            table = engine.tables[name] = Table({word: "int", "v": "int", "st": f"struct<{word}:int>"})
            table.commit("CREATE TABLE")
            table.commit("WRITE", {"numOutputRows": "5"})
        keys = {name: (KeyCandidate((word,), "test"),) for name in names}
        request = ModelRequest(
            word,
            word,
            word,
            sql.replace("{w}", word),
            {"idivm": {"strategy": strategy}},
            keys,
            session={"ansi": "true", "time_zone": "UTC"},
        )
        log = _driven(engine, request)
        # what is inlined: the key, v, and the weight
        for changes in (((7, 1, 1), (8, 1, -1)), ((9, 1, 1),)):
            for name in names:
                engine.tables[name].commit("WRITE", {"numOutputRows": "2"})
            engine.reads["net diff"] = changes
            log += _driven(engine, request)
        assert any(text.startswith("MERGE") for text in log), sql
        engine.tables[f"{word}.{word}"].columns = {word: "int", "v": "int"}
        yield from log
        yield engine.ask(equivalence(word, word))


def _driven(engine: Unquoted, request: ModelRequest) -> list[str]:
    schema = f"{request.schema}."
    found = engine.tables.get(f"{schema}{request.identifier}")
    existing = None if found is None else "view" if found.kind == "VIEW" else "table"
    there = dict.fromkeys((name.removeprefix(schema) for name in engine.tables), "table")
    steps = Refresh(refresh(replace(request, existing=existing, neighbours=there), Invocation(), engine.kind))
    sent = []
    while steps.statement is not None:
        sent.append(steps.statement.sql)
        steps.answer(engine.answer(steps.statement))
    return [text for text in sent if text and not text.startswith(_UNREAD)]


def single_statements(word: str) -> Iterator[str]:
    """Each kind of statement that takes a name, with the word as schema, table and column."""
    layout = ModelConfig(partition_by=(word,)), ModelConfig(cluster_by=(word,))
    commands = SPARK_DELTA.commands
    rows = verbatim(f"SELECT 1 AS {identifier(word).sql(DELTA.name)}")
    table = f"{word}.{word}"
    made = [
        commands.history(word, 1),
        commands.describe(word),
        commands.history(table, 1),
        commands.describe(table),
        commands.describe_column(table, word),
        commands.explain(table),
        commands.properties(table),
        commands.unset_properties(table, ("a b",)),
        commands.comment_relation("table", table, word),
        commands.comment_relation("view", table, word),
        commands.comment_column(table, word, word),
        commands.add_check(table, word, f"`{word}` > 0"),
        commands.drop_check(table, word),
        commands.drop("view", table),
        commands.drop("table", table),
        statements.empty_merge(DELTA, table),
        statements.switch_feed_on(DELTA, table),
        statements.overwrite_table(DELTA, table, rows),
        statements.rename_table(DELTA, table, table),
        statements.create_view(DELTA, table, DELTA.table(table, None), (word,), {"idivm.x": 1}, {word: word}),
        *(statements.create_table(DELTA, table, rows, config, {"idivm.x": 1}, replace=True) for config in layout),
    ]
    yield from (statement.sql for statement in made)


def compare(spark: Any, words: list[str], statements: Callable[[str], Iterator[str]]) -> None:
    """The statements for each word parse as those for a plain name do, in whatever order tables are read."""
    parser = spark._jsparkSession.sessionState().sqlParser()
    plain = [_parsed(parser, text) for text in statements(PLAIN)]
    assert not any(_FAILED in plan for plan in plain), "a plain name is a name everywhere"
    for word in words:
        found = Counter(_parsed(parser, text) for text in statements(word))
        assert found == Counter(plan.replace(PLAIN, word) for plan in plain), word


def _parsed(parser: Any, text: str) -> str:
    """The plan as text, without line breaks and what is counted up or hashed over the names; the error if it does not parse."""
    try:
        plan = parser.parsePlan(text).toString()
    except Exception as error:
        return f"{_FAILED} {text}: {error}"
    return _COUNTED.sub("#", _ANOTHER.sub("", re.sub(r"[`'\s]", "", plan)))


# a source of ours that would be called like a column of the user's: `keys_2`
_ANOTHER = re.compile(r"(?<=[a-z0-9])_\d+\b")
_FAILED = "does not parse:"
_COUNTED = re.compile(r"#\d+L?|\b[0-9a-f]{8,}\b|plan_id=\d+")


@pytest.fixture
def reserving(spark: Any) -> Iterator[Any]:
    """A session in which the words that standard SQL reserves are no names, unless they are quoted."""
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "true")
    session.conf.set(RESERVED, "true")
    return session


def test_all_words_of_the_grammars_are_known(spark: Any) -> None:
    for name, lexer in _LEXERS.items():
        found = _vocabulary(spark, lexer)
        assert len(found) > 50 and not found - (keywords.SPARK | keywords.DELTA), name
    readable = {"id", "orders", "price", "status", "amount", "customer", "region", "name"}
    assert not readable & keywords.KEYWORDS


def _vocabulary(spark: Any, lexer: str) -> set[str]:
    """The words among the literals of a lexer."""
    loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    words = spark._jvm.java.lang.Class.forName(lexer, True, loader).getField("VOCABULARY").get(None)
    literals = (words.getLiteralName(number) for number in range(1, words.getMaxTokenType() + 1))
    return {text[1:-1].lower() for text in literals if text and re.fullmatch(r"'\w+'", text)}


WORDS = sorted(keywords.SPARK | keywords.DELTA | keywords.KEYWORDS)
WORDS = [word for word in WORDS if re.fullmatch(r"[a-z_]\w*", word)]
# Words that were once printed without quotes by mistake, and those that are not quoted.
SOME = [
    "history",
    "full",
    "cross",
    "anti",
    "semi",
    "using",
    "lateral",
    "minus",
    "user",
    "interval",
    "detail",
    "optimize",
    *sorted((keywords.SPARK | keywords.DELTA) - keywords.KEYWORDS),
]


@pytest.mark.deep
def test_statements_about_relations_called_by_some_words(spark: Any, reserving: Any) -> None:
    compare(spark, SOME, single_statements)
    compare(reserving, SOME, single_statements)


@pytest.mark.deep
def test_models_over_relations_called_by_a_few_words(spark: Any) -> None:
    compare(spark, SOME[::5], statements_of_models)


@pytest.mark.long
def test_statements_about_relations_called_by_any_word(spark: Any) -> None:
    compare(spark, WORDS, single_statements)


@pytest.mark.long
def test_models_over_relations_called_by_any_word(spark: Any, reserving: Any) -> None:
    # an occurrence that is called as the planner calls its own attributes gets another name: its statements differ from others
    compare(spark, [word for word in WORDS if Names().occurrence(word, ()) == word], statements_of_models)
    compare(reserving, SOME, statements_of_models)


@pytest.mark.long
@pytest.mark.parametrize("word", ["history", "using", "full"])
def test_maintained_on_delta(spark: Any, word: str) -> None:
    """Schema, table, key, alias and model have one name, which is a word of the grammars."""
    with project_in(spark, f"`{word}`") as project:
        project.table(f"`{word}`", f"`{word}` int, v int", "(1, 10)", "(2, 20)")
        source = f"{word}.{word}"
        model = replace(
            project.model("m", f"select `{word}`.`{word}` as `{word}`, `{word}`.v from $.`{word}` as `{word}`"),
            schema=word,
            keys={source: (KeyCandidate((word,), "test"),)},
        )
        counts = replace(
            project.model("select", f"select v % 3 as `{word}`, count(*) as n from $.`{word}` as `{word}` group by v % 3"),
            schema=word,
        )
        for mode, change in (("create", ""), ("incremental", f"update $.`{word}` set v = 11 where `{word}` = 1")):
            project.sql(*filter(None, [change]))
            for each in (model, counts):
                assert project.refresh(each).mode == mode
                assert project.is_exact(each)
                assert project.differences(each) == []
