"""What of the benchmarks needs no Spark: workloads as data, medians, tables, what is plotted."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import sqlglot
from click.testing import CliRunner

from benchmarks import dbt_graph, plots, report, results
from benchmarks.__main__ import main
from benchmarks.floor import Floor
from benchmarks.lanes import CONFIGS, LANES, RefreshLane, Sample
from benchmarks.meter import Work
from benchmarks.results import Record
from benchmarks.runner import rotated
from benchmarks.suites import MAINTAINED, SUITES
from benchmarks.workload import NOTHING, Amount, Query, Step, Workload
from benchmarks.workloads import WORKLOADS
from benchmarks.workloads.tpch_queries import TABLES
from dbt_idivm.definition.config import model_config

SMALL = {name: make(0.01) for name, make in WORKLOADS.items()}
STEPS = (Step(1, 10, 1000), Step(2, 10, 1000))


def record(**given: Any) -> Record:
    known = {
        "workload": "w",
        "query": "q",
        "scale": 1.0,
        "change": "c",
        "lane": "full",
        "seconds": 2.0,
        "planner_seconds": 0.1,
        "bytes_read": 1_500_000,
        "rows_read": 10,
        "bytes_written": 5,
        "rows_written": 1,
        "jobs": 3,
        "statements": 4,
        "exact": True,
        "purpose": "queries",
    }
    return Record(**{**known, **given})


def samples(*seconds: float, jobs: int = 1) -> list[tuple[Sample, Work]]:
    return [(Sample(each, each / 10, 2, "incremental", "id"), Work(jobs, 100, 10, 50, 5)) for each in seconds]


# -- workloads


@pytest.mark.parametrize("name", SMALL)
def test_all_sql_parses_as_spark_does(name: str) -> None:
    workload = SMALL[name]
    texts = [table.rows for table in workload.tables] + [query.in_lane("lane_x") for query in workload.queries]
    texts += [text for change in workload.changes for text in change.statements(STEPS[0])]
    for text in texts:
        assert sqlglot.parse(text, dialect="spark")


@pytest.mark.parametrize("name", SMALL)
def test_the_tables_that_are_read_or_changed_are_those_of_the_workload(name: str) -> None:
    workload = SMALL[name]
    known = {table.name for table in workload.tables}
    for query in workload.queries:
        named = {
            table.name
            for table in sqlglot.parse_one(query.in_lane("lane_x"), dialect="spark").find_all(sqlglot.exp.Table)
            if table.db == workload.name
        }
        assert named <= known
        assert named == {table.name for table in workload.tables_of([query], [])}
    for change in workload.changes:
        assert change.table in known


@pytest.mark.parametrize("name", SMALL)
def test_the_floor_has_a_key_among_the_columns_of_its_select(name: str) -> None:
    for query in SMALL[name].queries:
        tree = sqlglot.parse_one((query.extended or query.sql).replace("$lane", "lane"), dialect="spark")
        assert set(query.key) <= set(tree.named_selects) and query.key


@pytest.mark.parametrize("name", SMALL)
def test_changes_are_the_same_each_time_and_others_in_each_step(name: str) -> None:
    again = WORKLOADS[name](0.01)
    for change, twin in zip(SMALL[name].changes, again.changes, strict=True):
        first, second = (tuple(change.statements(step)) for step in STEPS)
        assert first == tuple(twin.statements(STEPS[0]))
        assert first != second


@pytest.mark.parametrize("name", SMALL)
def test_a_merge_by_hand_is_for_changes_that_exist_and_else_a_reason_is_given(name: str) -> None:
    workload = SMALL[name]
    for query in workload.queries:
        assert (query.merge is None) == ("dbt_incremental" in query.without)
        assert bool(query.merge) == bool(query.merge_for)
        assert {workload.change(change).name for change in query.merge_for} == set(query.merge_for)


def test_views_that_are_read_come_first() -> None:
    flights = SMALL["flights"]
    assert [query.name for query in flights.with_upstream(["airline_routes"])] == ["flight_details", "airline_routes"]


def test_the_demo_s_second_round_comes_a_day_later_with_each_step() -> None:
    first, third = (";".join(SMALL["flights"].change("day").statements(Step(number, 1, 1))) for number in (1, 3))
    assert "2014, 1, 1," in first and "day = 31" in first and "faa = '04G'" in first
    assert "2014, 1, 3," in third and "day = 29" in third and "faa = 'PS2'" in third


def test_links_of_one_device_are_to_different_parts() -> None:
    from benchmarks.workloads import devices_parts

    for scale in (0.0002, 0.04, 1, 10):
        size = round(devices_parts.SIZE * scale)
        assert len({number * devices_parts.STRIDE % size for number in range(25)}) == 25


def test_friends_differ_and_nobody_is_his_own() -> None:
    text = next(table.rows for table in WORKLOADS["bsma"](0.01, friends=20).tables if table.name == "friendlist")
    stride, users = map(int, re.findall(r"\* (\d+)\) % (\d+)", text)[0])
    for user in (0, users - 1):
        assert len({(user + 1 + number * stride) % users for number in range(20)} - {user}) == 20


@pytest.mark.parametrize(
    ("amount", "rows", "text"),
    [
        (Amount(percent=0.1), 1000, "0.1 %"),
        (Amount(rows=200), 200, "200 rows"),
        (Amount(percent=1e-9), 1, "1e-09 %"),
        (Amount(rows=2_000_000), 1_000_000, "2000000 rows"),
    ],
)
def test_an_amount_is_a_number_of_rows(amount: Amount, rows: int, text: str) -> None:
    assert (amount.of(1_000_000), str(amount)) == (rows, text)


def test_one_row_in_so_many_is_changed() -> None:
    assert [Step(1, rows, 1000).every for rows in (1, 10, 500, 1000, 2000)] == [1000, 100, 2, 1, 1]


def test_an_unknown_query_or_change_is_named_with_those_that_exist() -> None:
    with pytest.raises(KeyError, match="no 'nosuch' among the queries of devices_parts: view, total"):
        SMALL["devices_parts"].query("nosuch")
    assert SMALL["devices_parts"].change("nothing") is NOTHING


# -- lanes


@pytest.mark.parametrize("name", CONFIGS)
def test_the_lanes_that_are_refreshes_have_a_valid_config(name: str) -> None:
    assert model_config({"idivm": CONFIGS[name]}) is not None


def test_a_lane_asks_for_a_refresh_as_the_adapter_does() -> None:
    workload = SMALL["devices_parts"]
    query, other = workload.query("view"), workload.query("total")
    by_id = RefreshLane("id", cast("Any", Canned((1,))), workload)
    first = by_id.request(query)
    by_id.relations[other.name] = (("lane_id", "total", "table"),)
    by_id.relations[query.name] = (("lane_id", "view__idivm", "table"), ("lane_id", "view", "view"))
    again = by_id.request(query)
    assert (first.existing, first.neighbours, first.config) == (None, {}, {"idivm": {"strategy": "id"}})
    assert (again.existing, again.neighbours) == ("view", {"total": "table", "view__idivm": "table", "view": "view"})


def test_lanes_begin_with_another_one_each_round() -> None:
    assert [rotated("abc", turn)[0] for turn in range(4)] == ["a", "b", "c", "a"]
    assert rotated("abc", 1) == ["b", "c", "a"] and rotated("", 5) == []


class Canned:
    """A session that knows one staged net diff: rows, keys, deleted and known rows, then ranges, then the rows themselves."""

    def __init__(self, counts: tuple[int, ...], ranges: tuple[Any, ...] = (), rows: tuple[tuple[Any, ...], ...] = ()) -> None:
        self.answers = [[counts], [ranges], list(rows)] if len(rows) == counts[0] else [[counts], [ranges]]
        self.ran: list[str] = []
        self.spark = self

    def columns(self, sql: str) -> list[str]:
        return ["id", "name"]

    def table(self, name: str) -> Canned:
        return self

    dtypes = (("id", "bigint"), ("name", "string"), ("floor_known", "boolean"), ("floor_gone", "boolean"))

    def run(self, *statements: str) -> None:
        self.ran += statements

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.answers.pop(0)


def test_the_floor_is_one_merge_of_what_differs() -> None:
    session: Any = Canned((2, 2, 1, 1), ("3", "7", 0), (("3", "it's", True, False), ("7", None, True, True)))
    found = Floor.of(session, "lane_floor.v", "lane_full.v", ["id"])
    assert not found.staged
    assert found.statements == (
        "merge into lane_floor.v v using (select cast(c0 as bigint) as `id`, cast(c1 as string) as `name`, "
        "floor_known, floor_gone from values ('3', 'it\\'s', true, false), ('7', null, true, true) "
        "as r(c0, c1, floor_known, floor_gone)) d on v.`id` <=> d.`id` and v.`id` between 3L and 7L "
        "when matched and d.floor_gone then delete when matched then update set v.`name` = d.`name`",
    )


def test_a_large_diff_stays_in_memory_until_the_floor_is_released() -> None:
    session: Any = Canned((5000, 5000, 0, 0), ("1", "9", 2))
    found = Floor.of(session, "lane_floor.v", "lane_full.v", ["id"])
    assert found.staged and "using floor_net_diff d on v.`id` <=> d.`id` when not matched then insert" in found.statements[0]
    assert "drop view floor_net_diff" not in session.ran
    found.release(session)
    assert session.ran[-1] == "drop view floor_net_diff"


def test_the_floor_has_nothing_to_do_or_no_key() -> None:
    session: Any = Canned((0, 0, 0, 0))
    assert Floor.of(session, "lane_floor.v", "lane_full.v", ["id"]).statements == ()
    twice: Any = Canned((2, 1, 0, 2))
    with pytest.raises(ValueError, match=r"\(id\) is no key"):
        Floor.of(twice, "lane_floor.v", "lane_full.v", ["id"])


# -- results


def test_a_record_has_medians_and_every_sample() -> None:
    found = results.summary(samples(3.0, 1.0, 2.0))
    assert (found["seconds"], found["planner_seconds"], found["rounds"]) == (2.0, 0.2, 3)
    assert found["samples"] == (3.0, 1.0, 2.0) and found["jobs"] == 1 and found["bytes_read"] == 100
    assert (found["mode"], found["strategy"]) == ("incremental", "id")


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    file, records = tmp_path / "deep" / "latest.json", [record(samples=(1.0, 2.0)), record(lane="id", parameters={"fanout": 5})]
    results.write(file, results.header("python -m benchmarks"), records)
    about, found = results.read(file)
    assert found == records and about["command"] == "python -m benchmarks" and about["cores"] and about["versions"]["pyspark"]
    rows = json.loads(file.read_text())
    assert rows[0]["header"] is True and all(row["exact"] for row in rows[1:])
    rows[1]["of_a_later_version"] = 1
    file.write_text(json.dumps(rows))
    assert results.read(file)[1] == records


def test_the_table_has_ratios_to_full_and_marks_rebuilds() -> None:
    about = results.header("make bench")
    records = [record(), record(lane="id", seconds=1.0, mode="incremental"), record(lane="auto", seconds=3.0, mode="full")]
    text = report.markdown(about, records)
    assert "| workload | query | scale | view rows | change | full | auto | id |" in text
    assert "| w | q | 1 | 0 | c | 2.00 | 3.00* (1.50) | 1.00 (0.50) |" in text
    assert "1.5 (3, 4, 0.10)" in text


def test_the_queries_of_a_workload_are_summed_for_lanes_that_have_them_all() -> None:
    records = [
        record(),
        record(lane="id", seconds=1.0),
        record(lane="tuple"),
        record(query="p", seconds=6.0),
        record(query="p", lane="id", seconds=1.0),
        record(change="build", lane="id", seconds=100.0),
    ]
    text = report.markdown(results.header(""), records)
    assert "| w | all 2 together | 1 | 0 | c | 8.00 | 2.00 (0.25) |  |" in text
    assert "| id | 2 | 0.29 | 0.17 | 0.50 |" in text and "| tuple | 1 | 1.00 | 1.00 | 1.00 |" in text


def test_lanes_that_a_query_leaves_out_are_empty() -> None:
    records = [record(), record(lane="id"), record(query="p"), record(query="p", lane="tuple", percent=0.1)]
    assert "| w | p | 1 | 0 | c | 2.00 |  |  |" in report.markdown(results.header(""), records)


# -- plots


def test_a_curve_for_each_query_over_what_was_varied() -> None:
    records = [
        record(lane=lane, percent=percent, seconds=percent, purpose="changed")
        for percent in (10.0, 0.1)
        for lane in ("id", "full")
    ]
    (curves,) = plots.curves([*records, record(), record(change="build", purpose="changed")])
    assert list(curves.points) == ["full", "id"] and curves.axis.logarithmic
    assert curves.points["id"] == ((0.1, 0.1), (10.0, 10.0))


def test_chains_of_joins_are_one_curve() -> None:
    found = plots.curves([record(query=f"joins_{number}", purpose="joins", seconds=number) for number in (4, 2)])
    assert [(each.name, each.points["full"]) for each in found] == [("joins_w_joins", ((2.0, 2), (4.0, 4)))]


def test_bars_are_ratios_to_full() -> None:
    (bars,) = plots.bars([record(), record(lane="id", seconds=0.5), record(change="build"), record(query="alone", lane="id")])
    assert bars.ratios == {"q\nc": {"full": 1.0, "id": 0.25}} and bars.name == "queries_w_1"


def test_plots_are_drawn(tmp_path: Path) -> None:
    files = plots.draw([record(), record(lane="id"), replace(record(), purpose="fanout", parameters={"fanout": 5})], tmp_path)
    assert [file.name for file in files] == ["fanout_w_q.png", "queries_w_1.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)


# -- suites and the command line


@pytest.mark.parametrize("suite", SUITES)
def test_experiments_of_the_suites_name_what_exists(suite: str) -> None:
    for experiment in SUITES[suite]:
        assert experiment.rounds >= 3 and set(experiment.lanes) <= set(LANES)
        assert experiment.purpose == "queries" or experiment.purpose in plots.AXES
        if experiment.workload == dbt_graph.NAME:
            continue
        workload: Workload = WORKLOADS[experiment.workload](experiment.scale, **experiment.parameters)
        queries: list[Query] = [workload.query(name) for name in experiment.queries]
        changes = [workload.change(name) for name, _ in experiment.changes]
        assert changes and all(
            change.fixed == (str(amount) == "") for change, (_, amount) in zip(changes, experiment.changes, strict=True)
        ), queries


def test_the_queries_of_tpch_that_the_suites_have_are_those_that_are_maintained() -> None:
    from dbt_idivm.context import Catalog, TableInfo
    from dbt_idivm.errors import IdivmError
    from dbt_idivm.frontend.lower import lower
    from dbt_idivm.operators.scan import Attribute

    catalog = Catalog(
        {
            f"tpch.{table.name}": TableInfo(
                f"tpch.{table.name}", tuple(Attribute(*each) for each in table.columns), table.key, "test"
            )
            for table in TABLES
        }
    )

    def is_maintained(query: Query) -> bool:
        try:
            lower(query.sql, catalog)
        except IdivmError:
            return False
        return True

    assert tuple(query.name for query in SMALL["tpch"].queries if is_maintained(query)) == MAINTAINED


def test_either_a_suite_or_a_workload_is_to_be_given() -> None:
    for arguments in ([], ["--suite", "bench", "--workload", "bsma"]):
        found = CliRunner().invoke(main, arguments)
        assert found.exit_code == 2 and "either --suite or --workload" in found.output


def test_the_graph_of_models_is_in_layers_and_complete(tmp_path: Path) -> None:
    assert len(dbt_graph.MODELS) >= 20
    seen = set[str]()
    for name, sql in dbt_graph.MODELS.items():
        assert set(re.findall(r"ref\('(\w+)'\)", sql)) <= seen, name
        assert set(re.findall(r"source\('shop', '(\w+)'\)", sql)) <= set(dbt_graph.SOURCES)
        seen.add(name)
    project = dbt_graph.write_project(tmp_path, "3g")
    assert {file.stem for file in (project / "models").glob("*.sql")} == set(dbt_graph.MODELS)
    assert json.loads((project / "profiles.yml").read_text())["dbt_graph"]["outputs"].keys() == dbt_graph.LANES.keys()
