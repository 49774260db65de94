"""Which models are worth storing, and how often: views, tables, caches, deferred refreshes, at costs of a day (Hanson)."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_idivm.project import Project
from dbt_idivm.tools.advice.advise import Advice, Subject, subject
from dbt_idivm.tools.advice.deferring import allowed
from dbt_idivm.tools.advice.setting import Setting
from dbt_idivm.tools.advice.storing import Storing
from dbt_idivm.tools.dag.costs import Rate
from tests.unit.test_advise import BY_NAME, ROWS, TOTAL, advise, planned
from tests.unit.test_project import CUSTOMERS, ORDERS, model

FEW = {"raw.orders": Rate(inserted=1e-6)}
MANY = {table: Rate(inserted=0.1, updated=0.1) for table in ROWS}
SQL = BY_NAME["compiled_code"]
MID = model("mid", "select id, cid, price * 2 as p from raw.orders where price > 1", ORDERS)
TOP = model("top", "select cid, sum(p) as s from main.mid group by cid", "model.p.mid")


def of(advice: Advice, name: str) -> Storing:
    (found,) = (each for each in advice.storing if each.model == name)
    return found


def test_a_model_that_is_read_seldom_is_a_view() -> None:
    seldom, often = (of(advise(planned(BY_NAME), ROWS, MANY, reads={"by_name": reads}), "by_name") for reads in (0.1, 1000.0))
    assert (seldom.now, seldom.kind, often.kind) == ("idivm", "view", "idivm")
    assert seldom.advised < 0.1 * seldom.today and seldom.saves == pytest.approx(seldom.today - seldom.advised)
    assert often.today == often.advised


def test_a_view_that_is_read_often_is_stored() -> None:
    about = planned(model("v", SQL, ORDERS, CUSTOMERS, materialized="view"))
    found = of(advise(about, ROWS, FEW, reads={"v": 1000.0}), "v")
    assert (found.now, found.kind) == ("view", "idivm") and found.saves > 0.9 * found.today
    assert of(advise(about, ROWS, FEW, reads={"v": 1.0}), "v").kind == "view"
    assert of(advise(about, ROWS, FEW, reads={"v": 1000.0}, space=1e5), "v").kind == "view", "there is no space for it"


def test_views_share_the_space() -> None:
    views = [model(name, SQL, ORDERS, CUSTOMERS, materialized="view") for name in ("u", "v")]
    reads = {"u": 1000.0, "v": 1000.0}
    (one,) = advise(planned(BY_NAME), ROWS, FEW).upkeep
    for space, kinds in ((2 * one.bytes, ["idivm", "idivm"]), (1.5 * one.bytes, ["idivm", "view"]), (1.0, ["view", "view"])):
        assert [each.kind for each in advise(planned(*views), ROWS, FEW, reads=reads, space=space).storing] == kinds


def test_a_model_with_a_time_of_writing_stays_as_it_is() -> None:
    """As a view it would have the time of the query, and as a table that of the last run."""
    timed = SQL.replace("select ", "select current_timestamp() as loaded_at, ")
    for kind in ("idivm", "view", "table"):
        about = planned(model("t", timed, ORDERS, CUSTOMERS, materialized=kind))
        assert advise(about, ROWS, MANY, reads={"t": 0.1}).storing == ()


def test_a_table_is_maintained_if_that_is_cheaper() -> None:
    about = planned(model("t", SQL, ORDERS, CUSTOMERS, materialized="table"))
    few = of(advise(about, ROWS, FEW, reads={"t": 1000.0}), "t")
    assert (few.now, few.kind) == ("table", "idivm") and few.saves > 0
    many = of(advise(about, ROWS, {table: Rate(updated=0.9, inserted=0.9) for table in ROWS}, reads={"t": 1000.0}), "t")
    assert many.kind == "table" and many.saves == 0


def test_a_model_that_one_model_reads_is_ephemeral() -> None:
    """Its reader is planned again over the tables below it, and costs little more."""
    advice = advise(planned(MID, TOP), ROWS, FEW, reads={"top": 1000.0})
    mid, top = of(advice, "mid"), of(advice, "top")
    assert (mid.kind, mid.reads, top.kind) == ("ephemeral", 0, "idivm")
    assert top.advised > top.today, "what it costs without the model"
    assert mid.saves == pytest.approx(advice.today - advice.advised)


def test_a_model_that_two_read_or_that_is_read_besides_is_a_view() -> None:
    other = model("other", "select id, p from main.mid where p > 100", "model.p.mid")
    reads = {"top": 1000.0, "other": 1000.0}
    assert of(advise(planned(MID, TOP, other), ROWS, FEW, reads=reads), "mid").kind != "ephemeral"
    assert of(advise(planned(MID, TOP), ROWS, FEW, reads={**reads, "mid": 0.5}), "mid").kind == "view"


def test_reads_through_a_view_count() -> None:
    """Each query over the view evaluates what it reads."""
    seen = model("seen", "select cid, p from main.mid", "model.p.mid", materialized="view")
    quiet, busy = (of(advise(planned(MID, seen), ROWS, FEW, reads={"seen": reads}), "mid") for reads in (1.0, 500.0))
    assert quiet.kind != "idivm" and busy.kind == "idivm"


def test_a_reader_without_a_plan_reads_once_in_each_refresh() -> None:
    drawn = model("drawn", "select id, rand() as r from main.mid", "model.p.mid")
    assert of(advise(planned(MID, drawn), ROWS, FEW, refreshes=7), "mid").reads == 7


def test_an_incremental_model_that_reads_itself_is_left_alone() -> None:
    own = model("own", "select id from raw.orders where id > (select max(id) from main.own)", ORDERS, materialized="incremental")
    whole = model("whole", "select id from raw.orders where price > 1", ORDERS, materialized="incremental")
    about = subject(planned(own, whole).user, {**ROWS, "main.own": 7.0}.get)
    advice = advise(about, ROWS, FEW, reads={"whole": 1000.0})
    assert [(each.model, each.now) for each in advice.storing] == [("whole", "incremental")]


def test_a_table_is_an_input_if_no_more_is_known_of_it() -> None:
    models = (
        model("t", "select id, cid, price from raw.orders", ORDERS, materialized="table"),
        model("m", "select cid, sum(price) as s from main.t group by cid", "model.p.t"),
    )
    assert planned(*models).tables == ("raw.orders",), "its rows and changes follow from those of its input"
    project = planned(*models).user
    assert subject(project).tables == ("main.t",), "whose size is not known"
    assert subject(project, ROWS.get, {"t"}).tables == ("main.t",), "it is said what changes of it"


def test_deferred_refreshes_share_their_fixed_cost() -> None:
    (found,) = advise(planned(BY_NAME), ROWS, FEW, reads={"by_name": 1000.0}, stale=8).deferred
    assert (found.model, found.runs) == ("by_name", 8) and found.deferred < 0.2 * found.today
    assert advise(planned(BY_NAME), ROWS, FEW, reads={"by_name": 1000.0}).deferred == ()
    assert advise(planned(BY_NAME), ROWS, {}, reads={"by_name": 1000.0}, stale=8).deferred == (), "nothing changes"


def test_no_model_is_further_behind_than_is_allowed() -> None:
    assert list(allowed(Setting(ROWS, stale=8, refreshes=24))) == [1, 2, 4, 8]
    assert list(allowed(Setting(ROWS, stale=7.9, refreshes=24))) == [1, 2, 4]
    assert list(allowed(Setting(ROWS, stale=0))) == [1]


def test_changes_that_gather_count_once() -> None:
    rate = Setting(ROWS, {"raw.orders": Rate(inserted=0.1, deleted=0.6, updated=0.5)}).gathering(2).rates["raw.orders"]
    assert rate == Rate(inserted=0.2, deleted=1.0, updated=0.75)


def test_sums_of_a_day() -> None:
    advice = advise(planned(BY_NAME, TOTAL), ROWS, FEW)
    assert advice.today == pytest.approx(sum(each.today for each in advice.storing))
    assert advice.advised == pytest.approx(advice.today - sum(each.saves for each in advice.storing), rel=0.05)


def with_more(about: Subject, **more: Any) -> Subject:
    """With more in the manifest."""
    return subject(Project({**about.user.manifest, **more}), ROWS.get)


def test_who_reads_a_model() -> None:
    about = planned(MID, TOP)
    assert {each.model: each.reads for each in advise(about, ROWS, FEW).storing} == {"mid": 0, "top": 24}
    exposed = with_more(about, exposures={"exposure.p.board": {"depends_on": {"nodes": ["model.p.mid"]}}})
    assert of(advise(exposed, ROWS, FEW), "mid").reads == 24
    assert of(advise(exposed, ROWS, FEW, reads={"mid": 3}), "mid").reads == 3


def test_a_model_with_a_contract_is_not_ephemeral() -> None:
    bound = {**MID, "config": {**MID["config"], "contract": {"enforced": True}}}
    assert of(advise(planned(bound, TOP), ROWS, FEW, reads={"top": 1000.0}), "mid").kind == "view"


def test_a_test_that_only_maintained_models_pass() -> None:
    about = planned(BY_NAME)
    test = {
        "unique_id": "test.p.same",
        "resource_type": "test",
        "name": "same",
        "attached_node": "model.p.by_name",
        "config": {},
        "test_metadata": {"name": "idivm_equivalent"},
        "depends_on": {"nodes": ["model.p.by_name"]},
    }
    tested = with_more(about, nodes={**about.user.manifest["nodes"], "test.p.same": test})
    found = {reads: of(advise(tested, ROWS, MANY, reads={"by_name": reads}), "by_name") for reads in (0.1, 1000.0)}
    assert (found[0.1].kind, found[0.1].fails_test, found[1000.0].fails_test) == ("view", True, False)


def test_versions_of_a_model_are_models() -> None:
    versions = [
        {**BY_NAME, "unique_id": f"model.p.by_name.v{each}", "version": each, "relation_name": f"main.by_name_v{each}"}
        for each in (1, 2)
    ]
    assert [each.model for each in advise(planned(*versions), ROWS, FEW).storing] == ["by_name.v1", "by_name.v2"]
