"""Texts without a plan are run as the user wrote them: only the tables are exchanged."""

from dbt_idivm.context import PlainView
from dbt_idivm.frontend.dialect import code_of
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.inputs import Input, Inputs, pinned_query
from dbt_idivm.refresh.catalog.plain_views import qualified
from dbt_idivm.refresh.catalog.relations import Described
from dbt_idivm.refresh.engine.engine import SPARK_DELTA
from dbt_idivm.script.dialect import DELTA


def described(*columns: str) -> Described:
    return Described(tuple(Attribute(name, "int") for name in columns), "table", "delta")


def at(version: int) -> Commit:
    return Commit(version, "2026-01-01 00:00:00", "WRITE", frozenset(), {}, None)


TABLE = Input("s.t", "s.t", described("x"), at(3))
UPSTREAM = Input("s.m", "s.m__idivm", described("a", "idivm__id"), at(5), visible=("a",))


def pinned(sql: str, inputs: Inputs) -> str:
    return DELTA.sql(pinned_query(DELTA, sql, inputs)).rstrip("\n")


def test_text_stays_but_for_the_tables() -> None:
    sql = "select log10(x), 'two\n  lines', 'it''s' from s.t -- the end"
    assert pinned(sql, Inputs({"s.t": TABLE}, {})) == sql.replace("s.t", "s.t VERSION AS OF 3")


def test_upstream_model_shows_its_own_columns() -> None:
    found = pinned("select * from s.m", Inputs({"s.m": UPSTREAM}, {}))
    assert found == "select * from (SELECT `a` FROM s.m__idivm VERSION AS OF 5) AS `m`"
    assert pinned("select * from s.m as z", Inputs({"s.m": UPSTREAM}, {})).endswith("VERSION AS OF 5) as z")


def test_view_is_expanded() -> None:
    views = {"s.v": PlainView("select x from s.t -- mine")}
    found = pinned("select x from s.v where x > 1", Inputs({"s.t": TABLE}, views))
    assert found == "select x from (select x from s.t VERSION AS OF 3 -- mine\n) AS `v` where x > 1"


def test_view_names_are_qualified_in_place() -> None:
    assert qualified(SPARK_DELTA, "select 'it''s' as t from t", ("s",)) == "select 'it''s' as t from `s`.`t`"


def test_canonical_keeps_every_token() -> None:
    assert code_of("select 1 -- one\n  from s.t") == code_of("select 1 from s.t")
    assert code_of("select 'it''s' from s.t") != code_of("select 'its' from s.t")
