"""The page of `idivm report`: what it shows, that it loads nothing, and that it escapes what users write."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dbt_idivm.project import Project, project_of
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.note import Note
from dbt_idivm.refresh.catalog.state import Consumed, State
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.tools.flowchart.graph import Graph, Kind, Node
from dbt_idivm.tools.report import of_project, page
from dbt_idivm.tools.report.facts import Line, Model, Refresh, Refused, Report, Size, Stored, Tree
from dbt_idivm.tools.report.last_run import last_runs
from dbt_idivm.tools.report.page import anchors_of
from dbt_idivm.tools.report.page import page as rendered
from dbt_idivm.tools.report.plot import plot
from dbt_idivm.tools.report.rate import rate_of
from dbt_idivm.tools.report.refreshes import refreshes
from dbt_idivm.tools.report.text import rate
from tests.unit.test_project import CUSTOMERS, JOINED, ORDERS, manifest, model

BAD = "<script>alert('&\"')</script>"
BEGAN = dt.datetime(2026, 1, 1, 8, tzinfo=dt.UTC)
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Page(HTMLParser):
    """The elements of a page, each of which is closed where it has to be; its text, and its attributes by name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    def all(self, name: str) -> list[str]:
        return [value for found, value in self.attributes if found == name]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def history(*counts: int) -> tuple[Refresh, ...]:
    """A build, and an incremental refresh an hour for each number of inserted rows; newest first."""
    done = [Refresh("created", BEGAN, 0, "CREATE TABLE AS SELECT", 1000)]
    done += [
        Refresh(
            "incremental",
            BEGAN + dt.timedelta(hours=at),
            at,
            "MERGE",
            inserted,
            2,
            1,
            at / 4,
            (("orders", at, at + 1),),
            run=f"run{at}",
        )
        for at, inserted in enumerate(counts, 1)
    ]
    return tuple(reversed(done))


SALES = Model(
    "sales",
    "model.p.sales",
    "main.sales",
    "by i-diffs",
    sql="select id from orders where price > 1",
    trees=(
        Tree(
            "",
            "",
            (
                Line(0, "π id", ("id",), True),
                Line(1, "σ price > 1", ("id",), True),
                Line(2, "scan raw.orders", ("id",), True, True),
            ),
        ),
    ),
    script="-- i-diff 1\nSELECT '<b>' AS id;\n",
    stored=Stored("main.sales", Size(1234, 5600), history(7, 0, 90)),
)
_RAND = Refused("IDIVM-204", "rand() inside a maintained view", "it draws anew", "move `rand()` downstream")
DRAWN = Model("drawn", "model.p.drawn", "main.drawn", refused=_RAND, sql="select rand() as r")
UNKNOWN = Model("dark", "model.p.dark", "main.dark", problem="the columns of `x` are not known")
GRAPH = Graph(
    (
        Node(Kind.TABLE, "raw.orders", ("orders",)),
        Node(Kind.MODEL, SALES.unique_id, ("sales", "by i-diffs")),
        Node(Kind.REBUILT, DRAWN.unique_id, ("drawn", "IDIVM-204")),
    ),
    ((0, 1), (0, 2)),
)
REPORT = Report("shop", (UNKNOWN, DRAWN, SALES), GRAPH, sizes={"raw.orders": Size(9876, None)}, made="2026-01-02 03:04")


def shown(report: Report) -> Page:
    return Page(rendered(report))


def test_what_is_rebuilt_comes_first() -> None:
    text = shown(REPORT).text
    assert "1 of 3 models are maintained incrementally (33 %), 1 rebuilt on every run , 1 not known ." in text
    section = text.partition("What is rebuilt, and why")[2].partition("What feeds what")[0]
    assert "drawn IDIVM-204 rand() inside a maintained view move rand() downstream" in section
    assert "dark not known the columns of x are not known" in section and len(section) < 300
    assert "What is rebuilt" not in shown(replace(REPORT, models=(SALES,))).text


def test_the_models_and_their_numbers() -> None:
    text = shown(REPORT).text
    assert (
        "sales by i-diffs 1,234 rows · 5.6 kB 35.3 rows a refresh (2.9 %) 4 incremental 2026-01-01 11:00:00 , +90 ~2 −1, 0.75 s"
    ) in text
    assert "9,876 rows" in text, "of a table that is read, in the drawing"


def test_what_messages_quote_is_code() -> None:
    assert "move <code>rand()</code> downstream" in rendered(REPORT)


def test_estimates_are_in_the_history_and_beside_the_last_refresh() -> None:
    why = "IDIVM-411 it was cheaper"
    noted = tuple(replace(each, estimate=1.5, why=why) if each.version == 2 else each for each in history(7, 0, 90))
    run = replace(noted[0], estimate=2.5)
    text = shown(replace(REPORT, models=(replace(SALES, stored=Stored("main.sales", Size(), noted), last_run=run),))).text
    assert "2 2026-01-01 10:00:00 incremental +0 ~2 −1 0.5 s 1.5 s MERGE orders 2 → 3 IDIVM-411 it was cheaper" in text
    assert "0.75 s (estimated at 2.5 s)" in text


def test_a_tree_is_nested_as_its_operators_are() -> None:
    text = rendered(REPORT)
    tree = text[text.index('<div class="tree') :].partition("</details>")[0]
    items = re.sub(r"\s+|<span.*?</span>", "", tree.partition(">")[2])
    assert items.startswith("<ul><li><ul><li><ul><li></li></ul></li></ul></li></ul>")
    assert "π id ID: id σ price > 1 ID: id scan raw.orders ID: id" in Page(text).text


def test_sql_is_highlighted() -> None:
    text = rendered(REPORT)
    assert '<span class="c">-- i-diff 1\n</span><span class="k">SELECT</span> <span class="s">&#39;&lt;b&gt;&#39;</span>' in text


def test_the_history_is_a_table_and_a_plot() -> None:
    found = shown(REPORT)
    assert "3 2026-01-01 11:00:00 incremental +90 ~2 −1 0.75 s MERGE orders 3 → 4" in found.text
    assert "0 2026-01-01 08:00:00 created 1,000 written CREATE TABLE AS SELECT" in found.text
    assert found.tags.count("svg") == 2 and "4 refreshes over time; the table below has the same" in found.all("aria-label")
    one = replace(SALES, stored=Stored("main.sales", Size(), history(), is_whole=False))
    alone = shown(replace(REPORT, models=(one,)))
    assert alone.tags.count("svg") == 1 and "Older commits are left out." in alone.text


def test_a_large_drawing_is_shown_as_a_whole_first() -> None:
    many = Graph(tuple(Node(Kind.TABLE, f"t{at}", (f"t{at}",)) for at in range(page.LARGE + 1)))
    assert '<input type="checkbox" id="fit" checked>' in rendered(replace(REPORT, graph=many))
    assert '<input type="checkbox" id="fit">' in rendered(REPORT) and ":checked ~ .drawing" in rendered(REPORT)


def test_a_long_name_is_not_repeated_at_every_mark() -> None:
    long = replace(SALES, name="n" * 1000)
    assert rendered(replace(REPORT, models=(long,))).count(long.name) < 12


def test_identifiers_of_a_page_are_unique() -> None:
    other = replace(SALES, name="other", unique_id="model.p.other")
    found = shown(replace(REPORT, models=(SALES, other)))
    identifiers = found.all("id")
    assert len(identifiers) == len(set(identifiers))
    references = {each.removeprefix("#") for each in found.all("href")}
    references |= {name for _, value in found.attributes for name in re.findall(r"url\(#([^)]+)\)", value)}
    assert references <= set(identifiers)


def test_nothing_is_loaded_and_nothing_runs() -> None:
    text = rendered(REPORT)
    found = Page(text)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form"} & set(found.tags)
    assert not re.search(r"\bhttps?:|\bsrc=|@import|//\w|xmlns", text) and all(each.startswith("#") for each in found.all("href"))
    assert not re.search(r"url\((?!#)", text) and not [name for name, _ in found.attributes if name.startswith("on")]
    assert any("default-src 'none'" in each for each in found.all("content"))


def test_light_and_dark() -> None:
    """Each colour has a variable, with a value for either."""
    style = re.findall(r"<style>(.*?)</style>", rendered(REPORT), re.DOTALL)[0]
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    variables = re.compile(r"(--[\w-]+): #")
    assert set(variables.findall(light)) == set(variables.findall(dark.partition("* {")[0])) and variables.findall(light)
    assert not re.search(r"#[0-9a-f]{3,6}\b", variables.sub("", re.sub(r"--[\w-]+: #\w+", "", style)))
    used = set(re.findall(r"var\((--[\w-]+)\)", rendered(REPORT)))
    assert used <= set(variables.findall(light))


def hostile() -> Report:
    line = Line(0, f"σ {BAD}", (BAD,), False)
    refresh = Refresh("rebuilt", BEGAN, 1, BAD, 1, moves=((BAD, 1, 2),), why=BAD)
    trees = (Tree(BAD, BAD, (line,)), Tree("", "", (line,)))
    kept = Model(
        BAD,
        f"model.p.{BAD}",
        BAD,
        BAD,
        sql=BAD,
        trees=trees,
        script=BAD,
        left_out=1,
        stored=Stored(BAD + BAD, Size(1, 1), (refresh, replace(refresh, version=0))),
        last_run=refresh,
    )
    lost = Model(BAD, "b", BAD, refused=Refused(BAD, BAD, BAD, f"`{BAD}`"), unread=BAD)
    dark = Model(BAD, "c", BAD, problem=BAD)
    graph = Graph((Node(Kind.MODEL, kept.unique_id, (BAD, BAD), BAD),))
    return Report(BAD, (kept, lost, dark), graph, offline=BAD, notes=(BAD,), made=BAD, zone=BAD)


def test_all_texts_are_escaped() -> None:
    """Every field of every fact is hostile."""
    text = rendered(hostile())
    found = Page(text)
    assert "script" not in found.tags and "<script" not in text
    assert "".join(found.texts).count(BAD) > 25
    assert len(found.all("id")) == len(set(found.all("id")))


def test_what_utf_8_cannot_hold_is_replaced() -> None:
    text = rendered(replace(REPORT, models=(replace(SALES, sql="select '\x00\ud800'"),)))
    assert "\x00" not in text and text.encode()


def test_a_page_without_a_connection() -> None:
    report = replace(REPORT, models=(replace(SALES, stored=None), DRAWN), offline="the server does not answer", sizes={})
    found = shown(report)
    assert "Without a connection: the server does not answer." in found.text
    assert found.tags.count("svg") == 1 and "History" not in found.text and "scan raw.orders" in found.text


def test_what_is_not_known_alone() -> None:
    assert "What is not known, and why" in shown(replace(REPORT, models=(SALES, UNKNOWN))).text


def test_a_project_without_models() -> None:
    assert "No model of the project has" in shown(Report("shop", (), Graph())).text


def test_a_table_that_cannot_be_read() -> None:
    assert (
        "It has no Delta table yet"
        in shown(
            replace(
                REPORT,
                models=(replace(SALES, stored=None, unread="It has no Delta table yet, or no longer: the next run builds it."),),
            )
        ).text
    )


def test_a_page_depends_on_the_facts_alone() -> None:
    assert rendered(REPORT) == rendered(REPORT)
    later = rendered(replace(REPORT, made="2027-01-02 03:04"))
    assert later.replace("2027-", "2026-") == rendered(REPORT)


def test_anchors() -> None:
    """They can be linked to from elsewhere, and differ where names do not."""
    names = ("sales.v2", "a b", "a c", "a/b", "a b--2")
    found = anchors_of(Model(name, str(at), name) for at, name in enumerate(names))
    assert found["0"] == "model-sales.v2" and len(set(found.values())) == len(names)


def test_a_rate_needs_counted_changes() -> None:
    assert rate_of(DRAWN) is None and rate_of(replace(SALES, stored=Stored("t", Size(), history()))) is None
    days = tuple(replace(each, at=BEGAN + dt.timedelta(days=each.version or 0)) for each in history(7, 0, 90))
    assert rate(rate_of(replace(SALES, stored=Stored("t", Size(353), days)))) == "35.3 rows a refresh (10 %), 35.3 a day"


def test_the_last_refresh_is_the_later_one() -> None:
    run = Refresh("nothing changed", BEGAN + dt.timedelta(hours=9), run="run9")
    assert replace(SALES, last_run=run).last == run
    assert replace(SALES, last_run=replace(run, at=BEGAN)).last == SALES.last == history(7, 0, 90)[0]
    same = replace(run, at=BEGAN, run="run3", why="IDIVM-411")
    assert replace(SALES, last_run=same).last == same, "it knows the reason, and what the whole refresh took"


def test_the_last_run_says_why_its_commit_was_a_rebuild() -> None:
    run = Refresh("rebuilt", BEGAN, run="run3", why="IDIVM-411 it was cheaper")
    found = replace(SALES, last_run=run).history
    assert [each.why for each in found] == ["IDIVM-411 it was cheaper", "", "", ""]
    assert replace(SALES, last_run=replace(run, run="")).history == replace(SALES, last_run=None).history == history(7, 0, 90)


def test_bars_of_a_plot() -> None:
    """One for each refresh and panel, the oldest first, with its facts; heights of rows are logarithms where they differ widely."""
    drawn = ElementTree.fromstring(plot(history(1, 2, 3)) or "")
    bars = [each for each in drawn.iter("rect") if each.find("title") is not None]
    titles = [each.findtext("title") or "" for each in bars]
    assert titles[0].startswith("2026-01-01 08:00:00 created 1,000 written") and "incremental" in titles[-1]
    assert [float(each.attrib["x"]) for each in bars[:4]] == sorted(float(each.attrib["x"]) for each in bars[:4])
    heights = [float(each.attrib["height"]) for each in bars[:4]]
    assert heights[0] == max(heights) and heights[1] > heights[0] / 100


def test_a_plot_has_times_in_their_zone() -> None:
    """And none is drawn of one refresh, or of times that are not known."""
    assert plot(history()) is None and plot(tuple(replace(each, at=None) for each in history(1, 2))) is None
    east = dt.timezone(dt.timedelta(hours=5))
    moved = tuple(replace(each, at=each.at.astimezone(east)) for each in history(1, 2, 3) if each.at is not None)
    assert ">13:00<" in (plot(moved) or "") and ">08:00<" in (plot(history(1, 2, 3)) or "")


def commit(version: int, operation: str, state: State | None, **metrics: Any) -> Commit:
    modes = frozenset({"Overwrite"}) if operation == "WRITE" else frozenset[str]()
    return Commit(version, f"2026-01-01T0{version}:00:00", operation, modes, metrics, state.json() if state else None)


def state(version: int, base: int | None, **plan: str) -> State:
    inputs = {"raw.orders": Consumed("raw.orders", version, "t")}
    return State(inputs, {"sql": "1", "layout": "1", **plan}, run=f"r{version}", base=base)


MERGED = {"numTargetRowsInserted": "3", "numTargetRowsDeleted": "0", "numTargetRowsUpdated": "1", "executionTimeMs": "250"}
NONE = dict.fromkeys(MERGED, "0")


def test_commits_are_refreshes() -> None:
    found = refreshes(
        [
            commit(6, "OPTIMIZE", state(5, 2), numFiles="1"),
            commit(5, "WRITE", state(5, None, layout="2"), numOutputRows="12"),
            commit(4, "DELETE", None, numDeletedRows="1"),
            commit(3, "WRITE", state(4, None, sql="2", keys="2"), numOutputRows="11"),
            commit(2, "MERGE", state(3, 1), **NONE),
            commit(1, "MERGE", state(2, 0), **MERGED),
            commit(0, "CREATE TABLE AS SELECT", state(1, None), numOutputRows="10"),
        ],
        "Asia/Tokyo",
    )
    assert [(each.version, each.what, each.rows, each.why) for each in found] == [
        (6, "no refresh", None, ""),
        (5, "rebuilt", 12, "another SELECT"),
        (4, "no refresh", None, ""),
        (3, "rebuilt", 11, "another SELECT"),
        (2, "nothing changed", 0, ""),
        (1, "incremental", 4, ""),
        (0, "created", 10, ""),
    ]
    merged = found[-2]
    assert (merged.inserted, merged.updated, merged.deleted, merged.seconds) == (3, 1, 0, 0.25)
    assert merged.moves == (("orders", 1, 2),) and merged.run == "r2" and found[-1].moves == (("orders", None, 1),)
    assert merged.at is not None and merged.at.utcoffset() == dt.timedelta(hours=9)


def test_a_migration_is_one_refresh() -> None:
    """Its rows and its definition are two commits where stored rows stay."""
    note = Note(edits="condition narrowed")
    rows, definition = replace(state(1, 0, sql="2"), note=note, trusted=False), replace(state(1, 1, sql="2"), note=note)
    commits = [
        commit(2, "SET TBLPROPERTIES", definition),
        commit(1, "DELETE", rows, numDeletedRows="4"),
        commit(0, "CREATE TABLE AS SELECT", state(1, None, sql="1")),
    ]
    found = [(each.what, each.version, each.deleted) for each in refreshes(commits, "UTC")]
    assert found == [("migrated", 1, 4), ("created", 0, None)]
    assert [each.what for each in refreshes([commits[0], commits[2]], "UTC")] == ["migrated", "created"], "no rows had to change"


def test_why_a_rebuild_was_made() -> None:
    def why(before: State, after: State) -> str:
        return refreshes([commit(1, "WRITE", after), commit(0, "CREATE TABLE AS SELECT", before)], "UTC")[0].why

    assert why(state(1, None), state(2, None)) == "", "no commit says it"
    assert why(state(1, None), state(2, None, layout="2", keys="k")) == "other keys, another layout of the table"
    assert why(state(1, None, keys=""), state(2, None, keys="k", inputs="i")) == "built without a plan before"
    assert why(state(1, None), State({}, {}, trusted=False)) == "built from a part of the inputs"
    assert why(State({}, {}, trusted=False), state(1, None)) == ""


def test_a_commit_says_itself_why_and_what_was_estimated() -> None:
    note = Note("IDIVM-411 it was cheaper", 2.5)
    found = refreshes(
        [
            commit(1, "WRITE", replace(state(2, None, sql="2"), note=note), numOutputRows="3"),
            commit(0, "CREATE TABLE AS SELECT", replace(state(1, None), note=Note("IDIVM-408"))),
        ],
        "UTC",
    )
    assert [(each.why, each.estimate) for each in found] == [(note.reason, note.estimate), ("IDIVM-408", None)]


def test_times_that_are_none() -> None:
    assert refreshes([Commit(0, "a0", "CREATE TABLE", frozenset(), {}, None)], "UTC")[0].at is None


def test_the_last_run_of_dbt(tmp_path: Path) -> None:
    done = {"status": "success", "execution_time": 1.5, "timing": [{"name": "execute", "completed_at": "2026-01-01T08:00:00.5Z"}]}
    full = {
        "mode": "full",
        "reason": "IDIVM-411 x\ny",
        "rows_inserted": 5,
        "rows_updated": 0,
        "rows_deleted": 0,
        "cost": {"estimate": 0.5},
    }
    results = [
        {"unique_id": "model.p.a", **done, "adapter_response": full},
        {"unique_id": "model.p.b", "status": "error", "message": "\nno table\nmore", "timing": []},
        {"unique_id": "model.p.c", **done, "adapter_response": {}},
        {"unique_id": "model.p.d", "status": "skipped"},
    ]
    path = tmp_path / "run_results.json"
    path.write_text(json.dumps({"metadata": {"invocation_id": "i"}, "results": results}))
    at = dt.datetime(2026, 1, 1, 8, 0, 0, 500_000, tzinfo=dt.UTC)
    assert last_runs(path, "Asia/Tokyo") == {
        "model.p.a": Refresh("rebuilt", at, None, "", 5, 0, 0, 1.5, why="IDIVM-411 x", run="i", estimate=0.5),
        "model.p.b": Refresh("failed", why="no table", run="i"),
    }


@pytest.mark.parametrize("content", [None, "{", "[]", '{"results": 1, "metadata": {}}', '{"metadata": {}, "results": [1]}'])
def test_a_last_run_that_cannot_be_read(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "run_results.json"
    if content is not None:
        path.write_text(content)
    assert last_runs(path, "UTC") == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"adapter_response": 1},
        {"timing": [1]},
        {"timing": [{"completed_at": 5}]},
        {"timing": 3},
        {"timing": [{"completed_at": "soon"}]},
        {"unique_id": None},
        {"adapter_response": {"mode": []}},
        {"adapter_response": {"mode": "full", "cost": 1}},
    ],
)
def test_one_result_that_cannot_be_read_hides_no_other(tmp_path: Path, wrong: dict[str, Any]) -> None:
    good = {
        "unique_id": "model.p.a",
        "status": "success",
        "adapter_response": {"mode": "noop", "rows_inserted": 10**400},
        "timing": [{"completed_at": "2026-01-01T08:00:00"}],
        "execution_time": 10**400,
    }
    path = tmp_path / "run_results.json"
    path.write_text(json.dumps({"metadata": {}, "results": [{**good, "unique_id": "b", **wrong}, good, None]}))
    assert last_runs(path, "UTC")["model.p.a"] == Refresh("nothing changed", BEGAN), "times without a zone are UTC"


CACHED = model(
    "cached",
    "with t as (select cid, sum(price) as s from raw.orders group by cid) "
    "select t.s, c.name from t join raw.customers c on c.id = t.cid",
    ORDERS,
    CUSTOMERS,
    caches=["t"],
)


def test_the_facts_of_a_project(tmp_path: Path) -> None:
    project = Project(manifest(JOINED, CACHED, model("drawn", "select id, rand() as r from raw.orders", ORDERS)))
    found = of_project.report_of(project, tmp_path / "none.json", "UTC")
    joined, cached = found.models[2], found.models[0]
    assert [each.name for each in found.models] == ["cached", "drawn", "joined"]
    assert [(line.depth, line.text) for line in joined.trees[0].lines][-2:] == [
        (2, "scan raw.orders as o"),
        (2, "scan raw.customers as c"),
    ]
    assert "MERGE INTO main.joined" in joined.script and joined.relation == "main.joined"
    assert [each.title for each in cached.trees] == ["cache of orders", ""] and "kept because" in cached.trees[0].about
    assert found.rebuilt[0].refused is not None and found.rebuilt[0].refused.code == "IDIVM-204"
    assert shown(found).text.count("MERGE INTO") >= 2


def test_a_long_script_is_cut_at_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(of_project, "MOST", 300)
    (found,) = of_project.report_of(Project(manifest(JOINED)), tmp_path / "none.json", "UTC").models
    whole = len(found.script.splitlines()) + found.left_out
    assert len(found.script) <= 300 and found.left_out > 10
    monkeypatch.setattr(of_project, "MOST", 10**6)
    (all_of_it,) = of_project.report_of(Project(manifest(JOINED)), tmp_path / "none.json", "UTC").models
    assert len(all_of_it.script.splitlines()) == whole and all_of_it.script.startswith(found.script)


WRONG = (None, 1, "x", [], {}, [1], {"a": 1}, {"a": {}})


@pytest.mark.parametrize("part", ["nodes", "sources"])
def test_a_manifest_of_another_form_is_a_sentence(part: str, tmp_path: Path) -> None:
    """Whatever a field of a model or source has been replaced by: the page's facts are there, or an error names the file."""
    whole = manifest(JOINED)
    ((unique_id, node), *_) = whole[part].items()
    told = 0
    for field, value in ((field, value) for field in node for value in WRONG):
        (tmp_path / "manifest.json").write_text(json.dumps({**whole, part: {**whole[part], unique_id: {**node, field: value}}}))
        try:
            of_project.report_of(project_of(tmp_path), tmp_path / "none.json", "UTC")
        except SchemaFileError as error:
            assert str(error).startswith(f"{tmp_path / 'manifest.json'} is not an artifact of dbt: ") and unique_id in str(error)
            told += 1
    assert told > 30


@pytest.mark.parametrize(
    "columns", [1, [1], {"id": 1}, {"id": {"index": 1}}, {"id": {"name": "id", "type": "int", "index": "x"}}]
)
def test_a_catalog_of_another_form_is_a_sentence(columns: Any, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(manifest(JOINED)))
    (tmp_path / "catalog.json").write_text(json.dumps({"metadata": {}, "nodes": {}, "sources": {ORDERS: {"columns": columns}}}))
    with pytest.raises(SchemaFileError, match=f"its `sources` has another form, at `{ORDERS}` → `columns`"):
        project_of(tmp_path)


CHROMIUM = shutil.which("chromium")


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    def page_of(text: str) -> str:
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        done = subprocess.run(
            [
                CHROMIUM or "",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                f"--user-data-dir={tmp_path / 'profile'}",
                "--dump-dom",
                f"file://{tmp_path / 'page.html'}",
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.stdout

    yield page_of


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_reads_the_same_page(browser: Any) -> None:
    """It repairs what is nested wrongly, so that its page would have other elements."""
    for report in (REPORT, hostile()):
        mine, its = shown(report), Page(browser(rendered(report)))
        assert [tag for tag in its.tags if tag != "tbody"] == [tag for tag in mine.tags if tag != "tbody"]
        assert its.text == mine.text
