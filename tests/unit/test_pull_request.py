"""`idivm diff`: what a change of a project does to the maintenance of its models, as a comment on a pull request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dbt_idivm.cli import main
from dbt_idivm.project import Project
from dbt_idivm.tools.pull_request.costs import Costs
from dbt_idivm.tools.pull_request.difference import difference
from dbt_idivm.tools.pull_request.escape import code, fenced, html_code, prose, row
from dbt_idivm.tools.pull_request.facts import Changed, Difference
from dbt_idivm.tools.pull_request.markdown import LIMIT, markdown, summary
from dbt_idivm.tools.pull_request.states import aligned
from tests.unit.test_project import CUSTOMERS, JOINED, ORDERS, SOURCES, Node, manifest, model, source

GOLDEN = Path(__file__).parents[1] / "golden" / "pull_request"
SUMMED = model("summed", "select cid, sum(price) as s from raw.orders group by cid", ORDERS)
ABOVE = model("above", "select s, count(*) as n from main.summed group by s", "model.p.summed")
DRAWN = model("drawn", "select id, rand() as r from raw.orders", ORDERS)
ODD = model("by_price", "select price, bit_or(id) as m from raw.orders group by price", ORDERS)
KNOWN = ("--rows", "orders=50_000_000", "--rows", "customers=5_000_000", "--rate", "orders=0.001%", "--refreshes", "12")
Models = Iterable[Node]


def with_sql(node: Node, sql: str, **idivm: Any) -> Node:
    return {**node, "compiled_code": sql, "config": {**node["config"], "meta": {"idivm": idivm}}}


def write(folder: Path, content: Node) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def found(before: Models, after: Models, sources: tuple[Node, ...] = SOURCES, now: tuple[Node, ...] | None = None) -> Difference:
    pair = (Project(manifest(*before, sources=sources)), Project(manifest(*after, sources=sources if now is None else now)))
    return difference(aligned(*pair), Costs())


def line_of(name: str, before: Models, after: Models) -> str:
    """The row of a model in the comment."""
    (line,) = [each for each in markdown(found(before, after)).splitlines() if each.startswith(f"| `{name}` |")]
    return line


def one(before: Models, after: Models, **more: Any) -> Changed:
    (each,) = found(before, after, **more).models
    return each


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`idivm diff` of two projects."""

    def invoke(before: Models, after: Models, *options: str) -> Result:
        state = write(tmp_path / "state", manifest(*before))
        write(tmp_path / "target", manifest(*after))
        return CliRunner().invoke(main, ["diff", "--state", str(state), "--project-dir", str(tmp_path), *options])

    return invoke


def test_the_same_project_twice(run: Run) -> None:
    result = run((JOINED, SUMMED, DRAWN), (JOINED, SUMMED, DRAWN), *KNOWN)
    assert result.exit_code == 0 and result.output == "Nothing changes in how models are maintained.\n"
    assert found((JOINED, SUMMED), (SUMMED, JOINED)).models == ()


def test_a_model_above_one_that_becomes_rebuilt_is_still_maintained() -> None:
    """The columns of the other one follow from its SELECT: it is the only one that is reported to be rebuilt."""
    drawn = with_sql(SUMMED, "select cid, sum(price) as s, collect_set(cast(id as double)) as f from raw.orders group by cid")
    sides = {each.model: each.after for each in found((SUMMED, ABOVE), (drawn, ABOVE)).models}
    assert {name: (side.kind, side.how) for name, side in sides.items() if side is not None} == {
        "summed": ("rebuilt", ""),
        "above": ("incremental", "by adding (additive)"),
    }


def test_models_that_are_added_and_removed() -> None:
    gone, new = found((JOINED, DRAWN), (JOINED, SUMMED)).models
    assert (gone.model, gone.change, gone.after, gone.next_run.rebuilds) == ("drawn", "removed", None, False)
    assert (new.model, new.change, new.before, new.next_run.rebuilds) == ("summed", "added", None, True)
    assert new.after is not None and new.after.how == "by adding (additive)" and new.sql == ""
    assert "+      scan raw.orders" in new.tree, "all of its plan"


def test_another_select_rebuilds_once() -> None:
    sql = "select cid, sum(price) as s, count(*) as n from raw.orders where id > 7 group by cid"
    each = one([SUMMED], [with_sql(SUMMED, sql)])
    assert (each.change, each.next_run.rebuilds, each.next_run.why) == ("edited", True, "another SELECT")
    assert f"+{sql}" in each.sql
    assert "+  n ← v__n" in each.tree
    assert not each.becomes("recompute") and not each.becomes_incremental


def test_comments_and_layout_leave_nothing_to_do(run: Run) -> None:
    spread = with_sql(SUMMED, "select cid, -- of whom\n  sum(price) as s\nfrom raw.orders\ngroup by cid")
    each = one([SUMMED, ABOVE], [spread, ABOVE])
    assert (each.model, each.change, each.next_run.rebuilds, each.tree, each.sql) == ("summed", "layout", False, "", "")
    output = run([SUMMED], [spread]).output
    assert output.startswith("1 model changed (1 comments or layout), none becomes rebuilt on each run, none becomes incremental")
    assert "| `summed` | comments or layout | by adding (additive) |  | nothing to do |" in output and "<details>" not in output


@pytest.mark.parametrize(
    ("config", "rebuilds", "why"),
    [
        ({"strategy": "id"}, False, ""),
        ({"strategy": "recompute"}, False, ""),
        ({"strategy": "full"}, True, ""),
        ({"cluster_by": "cid"}, True, "another layout, or other properties of its table"),
        ({"output": "both"}, False, ""),
        ({"output": "diffs"}, True, "another `output`"),
    ],
)
def test_another_config(config: dict[str, Any], rebuilds: bool, why: str) -> None:
    each = one([SUMMED], [with_sql(SUMMED, SUMMED["compiled_code"], **config)])
    assert (each.change, each.next_run.rebuilds, each.next_run.why) == ("edited", rebuilds, why)
    assert "+idivm:" in each.config and each.sql == ""


def test_a_plan_that_there_was_not_before() -> None:
    """Its columns and keys differ from those of a view without a plan, and say nothing."""
    each = one([with_sql(SUMMED, SUMMED["compiled_code"], strategy="full")], [SUMMED])
    assert (each.next_run.rebuilds, each.next_run.why) == (True, "it was built without a plan")


def test_a_layout_that_is_not_to_be_applied() -> None:
    for choice, why in (("continue", "the table keeps its layout"), ("fail", "the other layout is an error")):
        given = {**SUMMED, "config": {**SUMMED["config"], "on_configuration_change": choice}}
        each = one([given], [{**given, "config": {**given["config"], "partition_by": ["cid"]}}])
        assert each.next_run.rebuilds is False and each.next_run.why.startswith(why)


def test_another_materialization() -> None:
    table = {**SUMMED, "config": {**SUMMED["config"], "materialized": "table"}}
    each = one([table], [SUMMED])
    assert (each.next_run.why, each.becomes_incremental) == ("it was no maintained model, but `table`", True)
    back = one([SUMMED], [table])
    assert back.after is not None and (back.after.kind, back.next_run.rebuilds) == ("other", None) and not back.becomes("full")
    assert "by adding (additive) → `table`" in markdown(found([SUMMED], [table]))
    assert found([table], [{**table, "compiled_code": "select 1 as x"}]).models == (), "it is maintained in no state"


def test_what_becomes_rebuilt_says_why(run: Run) -> None:
    refused = with_sql(JOINED, "select id, rand() as r from raw.orders")
    each = one([JOINED], [refused])
    assert each.after is not None and (each.after.kind, each.after.code) == ("rebuilt", "IDIVM-204")
    assert each.becomes("full") and each.becomes("recompute") and each.next_run.rebuilds and each.tree == ""
    output = run([JOINED], [refused]).output
    assert "→ **rebuilt on each run**: IDIVM-204 rand() inside a maintained view |" in output
    assert "What the codes mean is in `docs/errors/IDIVM-204.md` of dbt-idivm." in output
    linked = run([JOINED], [refused], "--docs-url", "https://example.org/a b/").output
    assert "[IDIVM-204](https://example.org/a%20b/docs/errors/IDIVM-204.md) rand()" in linked and "What the codes" not in linked


def test_what_can_no_longer_be_planned_is_not_called_rebuilt(run: Run) -> None:
    misspelt = with_sql(JOINED, "select id, prize from raw.orders")
    each = one([JOINED], [misspelt])
    assert each.after is not None and (each.after.kind, each.after.code) == ("unknown", "IDIVM-221") and each.becomes("full")
    assert each.next_run.rebuilds is None
    output = run([JOINED], [misspelt]).output
    assert "none becomes rebuilt on each run, none becomes incremental, how 1 is maintained is not known any more" in output


def test_an_upstream_change_reaches_a_model_below() -> None:
    edited = with_sql(SUMMED, "select cid, max(price) + rand() as s from raw.orders group by cid")
    first, second = found([SUMMED, ABOVE], [edited, ABOVE]).models
    assert (first.model, first.change) == ("summed", "edited")
    assert (second.model, second.change, second.because_of) == ("above", "upstream", ("summed",))
    wider = with_sql(SUMMED, "select cid, cast(sum(price) as double) as s from raw.orders group by cid")
    each = next(each for each in found([SUMMED, ABOVE], [wider, ABOVE]).models if each.model == "above")
    assert (each.change, each.because_of, each.next_run.why) == ("upstream", ("summed",), "other columns of what it reads")


@pytest.mark.parametrize("kind", ["view", "table"])
def test_through_models_that_are_not_maintained(kind: str) -> None:
    stage = model("stage", "select id, cid, price from raw.orders", ORDERS, materialized=kind)
    reader = model("reader", "select price, count(*) as n from main.stage group by price", "model.p.stage")
    changed = with_sql(stage, "select id, cid, cast(price as double) as price from raw.orders")
    each = one([stage, reader], [changed, reader])
    assert (each.model, each.change, each.because_of) == ("reader", "upstream", ("stage",))
    assert each.next_run.why == ("another SELECT of a view that it reads" if kind == "view" else "other columns of what it reads")


def test_a_key_of_a_source_that_goes() -> None:
    keyless = ({**SOURCES[0], "constraints": []}, SOURCES[1])
    each = one([JOINED], [JOINED], now=keyless)
    assert (each.change, each.because_of) == ("upstream", ("shop.orders",))
    assert each.next_run.rebuilds and each.next_run.why == "other keys"
    assert "-  idivm__c__id ← c__id (hidden)\n+  idivm__o__cid ← o__cid (hidden)" in each.tree
    hidden = with_sql(JOINED, "select price from raw.orders")
    told = one([hidden], [hidden], now=keyless).next_run
    assert told.migrates and told.why.startswith("migrates it (columns over stored ones)"), "it no longer reads the key's column"
    assert one([hidden], [hidden], sources=keyless, now=SOURCES).next_run.why == "other keys"
    shown = with_sql(JOINED, "select id, price from raw.orders")
    told = one([shown], [shown], now=keyless).next_run
    assert told.migrates and told.why == (
        "migrates it (stored rows stay): reads its stored rows, or rebuilds it, which reads "
        "`orders`, by what is estimated to take less"
    )


def test_hidden_columns_and_caches_that_come_and_go() -> None:
    cte = (
        "with t as (select cid, sum(price) as s from raw.orders group by cid) "
        "select t.s, c.name from t join raw.customers c on c.id = t.cid"
    )
    named = model("named", cte, ORDERS, CUSTOMERS)
    kept = with_sql(named, cte, caches=["t"])
    assert "| + cache `idivm_cache_" in line_of("named", [named], [kept])
    assert "| rebuilds it: other caches |" in line_of("named", [named], [kept])
    assert "| − cache `idivm_cache_" in line_of("named", [kept], [named])
    least = with_sql(SUMMED, "select cid, min(price) as s from raw.orders group by cid")
    assert "| − `idivm__count__orders__price` |" in line_of("summed", [SUMMED], [least])
    assert "| + `idivm__count__orders__price` |" in line_of("summed", [least], [SUMMED])
    assert "idivm__" not in line_of("summed", [SUMMED], [with_sql(SUMMED, "select nobody from raw.orders")]), "nobody can say"


@pytest.mark.parametrize(
    ("before", "after", "fails_on"),
    [
        ([JOINED], [JOINED, DRAWN], {"full", "recompute"}),
        ([JOINED], [JOINED, ODD], {"recompute"}),
        ([DRAWN], [with_sql(DRAWN, "select id, rand() * 2 as r from raw.orders")], set()),
        ([DRAWN], [with_sql(DRAWN, ODD["compiled_code"])], set()),
        ([JOINED], [with_sql(JOINED, "select nobody from raw.orders")], {"full", "recompute"}),
        ([JOINED, DRAWN], [JOINED], set()),
    ],
)
def test_the_exit_status(run: Run, before: Models, after: Models, fails_on: set[str]) -> None:
    """For what a model becomes, not for what it was; the comment is printed in any case."""
    failed = set()
    for option in ("", "full", "recompute"):
        result = run(before, after, *(("--fail-on", option) if option else ()))
        assert "1 model changed" in result.output
        failed |= {option} if result.exit_code else set()
    assert failed == fails_on


def test_estimates_before_and_after(run: Run) -> None:
    output = run([SUMMED, ODD], [with_sql(SUMMED, SUMMED["compiled_code"], strategy="full"), ODD], *KNOWN, "--json").output
    facts = json.loads(output)
    (each,) = facts["models"]
    assert each["before"]["seconds"] < each["after"]["seconds"] and each["becomes"] == ["full", "recompute"]
    more = each["after"]["seconds"] - each["before"]["seconds"]
    assert facts["estimate"]["after"] - facts["estimate"]["before"] == pytest.approx(more)
    assert facts["summary"].startswith(
        "1 model changed (1 edited), 1 becomes rebuilt on each run, none becomes incremental; a "
        "refresh of all maintained models is estimated at "
    )
    assert "+  strategy: full" in each["config"].splitlines()


def test_what_is_not_known_is_not_estimated(run: Run) -> None:
    filtered = with_sql(JOINED, f"{JOINED['compiled_code']} where o.id > 7")
    models = ([SUMMED, JOINED], [with_sql(SUMMED, ODD["compiled_code"]), filtered])
    output = run(*models).output
    assert "; no rate of change is given, so there is no estimate of a refresh." in output and "| a refresh |" not in output
    output = run(*models, "--rows", "orders=5_000_000", "--rate", "orders=0.1%").output
    assert "(1 model without an estimate)" in output and "The number of rows is not known for `raw.customers`" in output
    (line,) = [each for each in output.splitlines() if each.startswith("| `joined`")]
    assert "| not known |" in line
    for options in (("--rows", "orders"), ("--rate", "ordres=0.1")):
        result = run(*models, *options)
        assert result.exit_code == 1 and "IDIVM-115" in result.output


def test_seconds_alone_are_listed_where_there_are_many_more(run: Run) -> None:
    """Of a model that is the same, over one whose changes become more: with a condition hardly, with a join per customer."""

    def below(sql: str) -> list[Any]:
        before = model("first", "select o.id, o.cid, o.price from raw.orders o", ORDERS, CUSTOMERS)
        reader = model("reader", "select price, bit_or(id) as m from main.first group by price", "model.p.first")
        facts = json.loads(run([before, reader], [with_sql(before, sql), reader], *KNOWN, "--json").output)
        return [each for each in facts["models"] if each["model"] == "reader"]

    assert below("select o.id, o.cid, o.price from raw.orders o where o.price is not null") == []
    (each,) = below("select o.id, o.cid, o.price from raw.orders o where o.cid = 7")
    assert each["before"]["seconds"] > 1.5 * each["after"]["seconds"] and each["tree"] == "" and each["change"] == "upstream"


def test_a_table_that_becomes_maintained_was_rebuilt(run: Run) -> None:
    table = {**SUMMED, "config": {**SUMMED["config"], "materialized": "table"}}
    facts = json.loads(run([table], [SUMMED], *KNOWN, "--json").output)
    assert facts["models"][0]["before"]["seconds"] > facts["models"][0]["after"]["seconds"] > 0
    assert facts["models"][0]["becomes_incremental"]


def test_json_has_all_facts(run: Run) -> None:
    facts = json.loads(run([JOINED, SUMMED], [with_sql(JOINED, DRAWN["compiled_code"]), SUMMED, ODD], "--json").output)
    assert facts["estimate"] is None and facts["notes"] == []
    joined, by_price = facts["models"]
    assert (joined["model"], joined["unique_id"], joined["change"], joined["after"]["code"]) == (
        "joined",
        "model.p.joined",
        "edited",
        "IDIVM-204",
    )
    assert joined["sql"].startswith("@@") and by_price["becomes"] == ["recompute"] and by_price["before"] is None


def elsewhere(node: Node, schema: str = "prod") -> Node:
    """The node as another target compiles it."""
    sql = str(node.get("compiled_code") or "").replace("main.", f"{schema}.")
    name = str(node["relation_name"]).replace("main.", f"{schema}.")
    return {**node, "schema": schema, "relation_name": name, "compiled_code": sql}


@pytest.mark.parametrize(
    ("sql", "rebuilds", "why"),
    [
        (
            "select o.id, c.name as called from raw.orders o join raw.customers c on o.cid = c.id where c.name > 'b'",
            None,
            "migrates it (condition narrowed, columns over stored ones): reads its stored rows, or rebuilds it, which reads `orders`, "
            "`customers`, by what is estimated to take less",
        ),
        (
            "select o.id, c.name, d.name as again from raw.orders o join raw.customers c on o.cid = c.id "
            "left join raw.customers d on d.name = c.name",
            None,
            "migrates it (look-up, columns over stored ones): reads its stored rows and `customers`, or rebuilds it, which reads "
            "`orders`, `customers`, by what is estimated to take less",
        ),
        (
            "select o.id, o.price, c.name from raw.orders o join raw.customers c on o.cid = c.id",
            None,
            "migrates it (columns looked up, columns over stored ones): reads its stored rows and `orders`, or rebuilds it, which reads "
            "`orders`, `customers`, by what is estimated to take less",
        ),
        (
            "select o.id, c.name, sum(o.price) as total from raw.orders o join raw.customers c on o.cid = c.id group by o.id, c.name",
            True,
            "another SELECT",
        ),
    ],
)
def test_an_edit_that_migrates(sql: str, rebuilds: bool | None, why: str) -> None:
    plain = with_sql(JOINED, "select o.id, c.name from raw.orders o join raw.customers c on o.cid = c.id")
    told = one([plain], [with_sql(JOINED, sql)]).next_run
    assert (told.rebuilds, told.migrates, told.why) == (rebuilds, rebuilds is not True, why)


@pytest.mark.parametrize("strategy", ["id", "tuple", "recompute"])
def test_an_edit_that_migrates_whatever_it_costs(strategy: str) -> None:
    """Of a model whose refreshes estimate nothing."""
    told = one(*([with_sql(each, str(each["compiled_code"]), strategy=strategy)] for each in (PLAIN, NARROWED))).next_run
    assert (told.rebuilds, told.migrates) == (False, True)
    assert told.why == "migrates it (condition narrowed): reads its stored rows, where a rebuild reads `orders`, `customers`"


@pytest.mark.parametrize(
    ("config", "migrates"), [({"output": "both"}, True), ({"output": "diffs"}, False), ({"caches": "all"}, True)]
)
def test_an_edit_of_a_view_with_a_log_or_a_cache(config: dict[str, str], migrates: bool) -> None:
    sql = (
        "select c.name, t.n from (select cid, count(*) as n from raw.orders group by cid) t join raw.customers c on t.cid = c.id"
    )
    told = one([with_sql(JOINED, sql, **config)], [with_sql(JOINED, f"{sql} where t.n > 3", **config)]).next_run
    assert (told.rebuilds, told.migrates) == (None if migrates else True, migrates), told.why


PLAIN = with_sql(JOINED, "select o.id, c.name from raw.orders o join raw.customers c on o.cid = c.id")
NARROWED = with_sql(PLAIN, f"{PLAIN['compiled_code']} where c.name > 'b'")
LOOKED_UP = with_sql(
    PLAIN,
    f"select o.id, c.name, d.name as again from {PLAIN['compiled_code'].partition(' from ')[2]} "
    "left join raw.customers d on d.name = c.name",
)
SIZES = ("--rows", "orders=50_000_000", "--rows", "customers=1000")


def of_next_run(run: Run, after: Node, *options: str) -> Any:
    (each,) = json.loads(run([PLAIN], [after], *options, "--json").output)["models"]
    return each["next_run"]


def test_an_edit_that_migrates_costs_less_than_a_rebuild(run: Run) -> None:
    """Sizes suffice: what changes of the tables does not matter."""
    told = of_next_run(run, NARROWED, *SIZES)
    assert 0 < told["seconds"] < told["rebuild"] and told["migrates"] and told["rebuilds"] is None
    assert told["why"] == (
        f"migrates it (condition narrowed): reads its stored rows ({told['seconds']:.1f} s), or rebuilds it, "
        f"which reads `orders`, `customers` ({told['rebuild']:.1f} s), by what is estimated to take less"
    )
    rated = of_next_run(run, NARROWED, *SIZES, "--rate", "orders=10%")
    assert (rated["seconds"], rated["rebuild"]) == (told["seconds"], told["rebuild"])
    page = run([PLAIN], [NARROWED], *SIZES).output
    assert told["why"] in page and "Seconds of the next run are estimates at the prices of a small machine" in page
    assert "; no rate of change is given, so there is no estimate of a refresh." in page


def test_what_is_read_besides_stored_rows_has_a_price(run: Run) -> None:
    few, many = (of_next_run(run, LOOKED_UP, *SIZES, "--rows", f"joined={rows}") for rows in (1000, 50_000_000))
    assert few["rebuilds"] is None and few["seconds"] < many["seconds"] and few["seconds"] < few["rebuild"]
    assert few["why"] == (
        f"migrates it (look-up, columns over stored ones): reads its stored rows and `customers` ({few['seconds']:.1f} s), or "
        f"rebuilds it, which reads `orders`, `customers` ({few['rebuild']:.1f} s), by what is estimated to take less"
    )


@pytest.mark.parametrize("options", [(), SIZES[:2]])
def test_a_migration_without_sizes_has_no_price(run: Run, options: tuple[str, ...]) -> None:
    told = of_next_run(run, NARROWED, *options)
    assert (told["migrates"], told["seconds"], told["rebuild"]) == (True, None, None)
    assert told["why"].endswith(
        "reads its stored rows, or rebuilds it, which reads `orders`, `customers`, by what is estimated to take less"
    )
    assert "Seconds of the next run" not in run([PLAIN], [NARROWED], *options).output


def test_the_state_of_another_target() -> None:
    there = [elsewhere(SUMMED), elsewhere(ABOVE)]
    nothing = found(there, [SUMMED, ABOVE])
    (note,) = nothing.notes
    assert note.startswith("The other state is of another target") and "`prod.summed → main.summed`" in note
    assert markdown(nothing) == f"Nothing changes in how models are maintained.\n\n{note}\n"
    each = one(there, [SUMMED, with_sql(ABOVE, "select s, count(*) as n, max(s) as m from main.summed where s > 0 group by s")])
    assert "prod" not in each.sql and each.next_run.why == "another SELECT"


def test_a_name_that_the_user_changes() -> None:
    moved = {**elsewhere(SUMMED, "marts"), "config": {**SUMMED["config"], "schema": "marts"}}
    each = one([SUMMED], [{**moved, "compiled_code": SUMMED["compiled_code"]}])
    assert each.next_run.rebuilds and each.next_run.why == "under another name; the old relation remains"


def test_a_state_without_a_catalog_takes_that_of_the_project(tmp_path: Path) -> None:
    untyped = (source("orders", "id", "cid", "price", typed=False), SOURCES[1])
    state, target = (write(tmp_path / name, manifest(SUMMED, sources=untyped)) for name in ("state", "target"))
    columns = {
        name: {"name": name, "index": at, "type": kind}
        for at, (name, kind) in enumerate((("id", "bigint"), ("cid", "bigint"), ("price", "decimal(10,2)")))
    }
    (target / "catalog.json").write_text(json.dumps({"metadata": {}, "sources": {ORDERS: {"columns": columns}}}))
    result = CliRunner().invoke(main, ["diff", "--state", str(state), "--project-dir", str(tmp_path)])
    assert result.output == "Nothing changes in how models are maintained.\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no {state}/manifest.json: run `dbt compile` first"),
        ("{", "{state}/manifest.json is not JSON"),
        ("[]", "{state}/manifest.json is not an artifact of dbt: it has no `metadata`"),
        ('{"metadata": {}, "nodes": {"model.p.m": null}}', "{state}/manifest.json is not an artifact of dbt: its `nodes`"),
        (json.dumps(manifest(model("m", None))), "{state}/manifest.json has 1 model that is not compiled, such as `m`"),
    ],
)
def test_a_state_that_cannot_be_used(tmp_path: Path, content: str | None, message: str) -> None:
    write(tmp_path / "target", manifest(JOINED))
    state = tmp_path / "state"
    state.mkdir()
    if content is not None:
        (state / "manifest.json").write_text(content)
    result = CliRunner().invoke(main, ["diff", "--state", str(state), "--project-dir", str(tmp_path)])
    assert result.exit_code == 1 and f"Error: the other state: {message.format(state=state)}" in result.output
    result = CliRunner().invoke(main, ["diff", "--state", str(tmp_path / "nowhere"), "--project-dir", str(tmp_path)])
    assert result.exit_code == 2 and "does not exist" in result.output
    (state / "manifest.json").unlink(missing_ok=True)
    (state / "manifest.json").mkdir()
    result = CliRunner().invoke(main, ["diff", "--state", str(state), "--project-dir", str(tmp_path)])
    assert result.exit_code == 1 and "cannot be read" in result.output


def test_one_folder_for_both_states_is_said(tmp_path: Path) -> None:
    target = write(tmp_path / "target", manifest(JOINED))
    result = CliRunner().invoke(main, ["diff", "--state", str(target), "--project-dir", str(tmp_path)])
    assert result.exit_code == 0 and "Both states are one folder" in result.output


HOSTILE = (
    "a|b",
    "`x`",
    "``",
    "*b*",
    "_i_",
    "<img src=x onerror=alert(1)>",
    "</details>",
    "[l](http://e.org)",
    "@team",
    "#12",
    "a\n\n# h",
    "\\|",
    "$x$",
    "~~s~~",
    "| --- |",
    "https://e.org",
    "&amp;",
    "```",
    "<!-- c",
    "ünï",
    "\r\n```",
)


def tokens(text: str) -> list[Token]:
    parsed = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    return [each for token in parsed for each in (token, *(token.children or ()))]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_the_user_is_no_markup(text: str) -> None:
    """Rendered, it is the text; and nothing else is in the table."""
    table = f"{row(['a', 'b', 'c'])}\n{row(['---'] * 3)}\n{row([code(text), prose(text.replace('`', '')), 'end'])}\n"
    read = tokens(table)
    assert [each.type for each in read].count("td_open") == 3
    allowed = {"<code>", "</code>"}
    assert {each.content for each in read if each.type in ("html_inline", "html_block")} <= allowed
    assert not {each.type for each in read} & {"link_open", "em_open", "strong_open", "s_open", "heading_open", "image"}
    line = " ".join(text.split())
    cells = [each for each in read if each.type == "inline"][3:]
    shown = ["".join(part.content for part in each.children or () if part.type != "html_inline") for each in cells]
    assert shown[0] == line and shown[1].replace("\u200b", "") == " ".join(text.replace("`", "").split())
    assert "@team" not in shown[1] and "#12" not in shown[1], "no one is called, and no issue"
    assert "<img" not in html_code(text) and "</details>" not in html_code(text)


@pytest.mark.parametrize("text", ["select `a`", "```\n# not a heading\n```", "````", "- ```` x", "\r```\r</details>"])
def test_a_fence_is_longer_than_any_in_the_text(text: str) -> None:
    read = [each for each in tokens(f"{fenced(text, 'diff')}\n\nend") if each.type != "softbreak"]
    assert [each.type for each in read] == ["fence", "paragraph_open", "inline", "text", "paragraph_close"]


def test_hostile_names_in_the_whole_comment() -> None:
    name = "a|b`<b>@team</b>`\n</details>"
    sql = "select id, price as `</details>` from raw.orders -- ```` <script>"
    odd = {**model("m", sql, ORDERS), "name": name}
    changed = with_sql(odd, f"{sql}\n where price > 1")
    text = markdown(found([odd], [{**changed, "name": name}, DRAWN]))
    read = tokens(text)
    raw = [each.content.strip() for each in read if each.type in ("html_inline", "html_block")]
    assert f"<details><summary>{html_code(name)}</summary>" in raw
    assert not any("<script>" in each or "<b>" in each for each in raw) and raw.count("</details>") == 1
    assert [each.type for each in read].count("fence") == 2


def many(count: int) -> list[Node]:
    return [model(f"model_{number:04}", f"select id, price * {number} as p from raw.orders", ORDERS) for number in range(count)]


def test_details_are_left_out_first_then_models() -> None:
    whole = found([], many(60))
    text = markdown(whole)
    assert len(text) < LIMIT and text.count("<details>") == 60 and "no room" not in text
    fewer = markdown(whole, limit=12_000)
    opened = fewer.count("<details>")
    assert len(fewer) <= 12_000 and 0 < opened < 60 and all(f"| `{each.model}` |" in fewer for each in whole.models)
    assert f"The details of {60 - opened} models are left out, for which a comment has no room: `idivm diff --json` has" in fewer
    short = markdown(whole, limit=3_000)
    rows = sum(line.startswith("| `model_") for line in short.splitlines())
    assert len(short) <= 3_000 and 0 < rows < 60 and "<details>" not in short
    assert f"{60 - rows} models more differ, for which a comment has no room" in short


def test_what_becomes_rebuilt_is_shown_though_there_is_no_room() -> None:
    whole = found([], [*many(40), model("zoo", "select rand() as r from raw.orders", ORDERS)])
    assert whole.models[0].model == "zoo" and "| `zoo` |" in markdown(whole, limit=1_500)


def test_a_comment_is_never_longer_than_github_takes() -> None:
    (each,) = found([], [SUMMED]).models
    long = replace(each, because_of=tuple("x" * 200 for _ in range(50)), tree="+" * 70_000)
    text = markdown(Difference(tuple(replace(long, unique_id=str(number)) for number in range(2_000))))
    assert len(text) <= LIMIT < 65_536


def test_numbers_of_models_in_the_summary() -> None:
    both = found([JOINED, DRAWN], [with_sql(JOINED, DRAWN["compiled_code"]), with_sql(DRAWN, JOINED["compiled_code"])])
    assert summary(both).startswith("2 models changed (2 edited), 1 becomes rebuilt on each run, ")


def test_the_comment(golden: Callable[[Path, str], None], run: Run) -> None:
    """One of each kind, as it is posted."""
    stage = model("stage", "select id, cid, price from raw.orders", ORDERS, materialized="view")
    below = model("by_customer", "select cid, count(*) as n, max(price) as most from main.stage group by cid", "model.p.stage")
    before = [
        JOINED,
        SUMMED,
        stage,
        below,
        model("old", "select id, name from raw.customers", CUSTOMERS),
        model("tidy", "select id from raw.customers", CUSTOMERS),
    ]
    after = [
        with_sql(JOINED, JOINED["compiled_code"].replace("c.name", "c.name, rand() as luck")),
        with_sql(SUMMED, "select cid, sum(price) as s, min(price) as least\nfrom raw.orders\ngroup by cid"),
        with_sql(stage, "select id, cid, price from raw.orders where price > 0"),
        below,
        ODD,
        model("tidy", "select\n    id\nfrom raw.customers", CUSTOMERS),
    ]
    golden(GOLDEN / "comment.md", run(before, after, *KNOWN, "--docs-url", "https://example.org/dbt-idivm").output)


def of(name: str, found: Difference) -> Changed:
    return next(each for each in found.models if each.model == name)


@pytest.mark.parametrize(
    ("sql", "config", "error"),
    [
        ("select id, rand() as r from raw.orders", {"on_unsupported": "error"}, "IDIVM-204"),
        ("select id from raw.orders where current_user() = 'a'", {}, "IDIVM-206"),
    ],
)
def test_what_the_config_makes_an_error_is_not_called_rebuilt(run: Run, sql: str, config: dict[str, Any], error: str) -> None:
    after = [with_sql(JOINED, sql, **config)]
    each = one([JOINED], after)
    assert each.after is not None and (each.after.kind, each.after.code) == ("error", error)
    assert (each.next_run.rebuilds, each.next_run.why) == (False, "the run fails") and each.becomes("full")
    result = run([JOINED], after, "--fail-on", "full")
    assert result.exit_code == 1
    assert "none becomes rebuilt on each run, none becomes incremental, 1 model will fail" in result.output
    assert f"→ **the run fails**: {error}" in result.output
    rebuilt = one([JOINED], [with_sql(JOINED, sql, on_unsupported="full", volatile="full")])
    assert rebuilt.after is not None and rebuilt.after.kind == "rebuilt"


def test_a_log_of_what_cannot_be_computed_again() -> None:
    floats = with_sql(SUMMED, "select cid, sum(cast(price as double)) as s from raw.orders group by cid")
    kept, logged = (one([SUMMED], [with_sql(floats, floats["compiled_code"], output=output)]) for output in ("view", "diffs"))
    assert kept.after is not None and kept.after.kind == "incremental"
    assert logged.after is not None and (logged.after.kind, logged.after.code) == ("rebuilt", "IDIVM-237")


def test_an_output_whose_rows_were_stored_nowhere() -> None:
    for output, rebuilds in (("diffs", True), ("both", False)):
        each = one([with_sql(SUMMED, SUMMED["compiled_code"], output=output)], [SUMMED])
        assert (each.next_run.rebuilds, each.next_run.why) == (rebuilds, "another `output`" if rebuilds else "")


def test_keys_that_were_not_checked() -> None:
    free = with_sql(JOINED, JOINED["compiled_code"], verify="none")
    told = one([free], [JOINED]).next_run
    assert told.rebuilds is None and "keys unchecked" in told.why
    assert "| rebuilds it if a refresh under the former `verify` left keys unchecked |" in line_of("joined", [free], [JOINED])
    assert one([JOINED], [free]).next_run.rebuilds is False


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("select cid, sum(price) as s, count(*) as n from raw.orders group by cid", "the other columns are an error"),
        ("select cid, sum(cast(price as double)) as s from raw.orders group by cid", "the other columns are an error"),
        ("select cid, sum(price) as s from raw.orders where id > 7 group by cid", "another SELECT"),
    ],
)
def test_columns_that_must_not_change(sql: str, why: str) -> None:
    before = {**SUMMED, "config": {**SUMMED["config"], "on_schema_change": "fail"}}
    told = one([before], [{**before, "compiled_code": sql}]).next_run
    assert told.why.startswith(why) and told.rebuilds is (why == "another SELECT")


def test_a_relation_that_becomes_another_models() -> None:
    """A file with a fixed alias is renamed: the stored view is recognised by its relation, not by the model's name."""
    renamed = {**SUMMED, "unique_id": "model.p.totals", "name": "totals"}
    both = found([SUMMED], [renamed])
    assert of("totals", both).change == "added"
    assert (of("totals", both).next_run.rebuilds, of("totals", both).next_run.why) == (False, "it takes the relation of `summed`")
    assert of("summed", both).next_run.why == "its relation now belongs to `totals`"
    edited = found([SUMMED], [{**renamed, "compiled_code": "select cid, max(price) as s from raw.orders group by cid"}])
    told = of("totals", edited).next_run
    assert (told.rebuilds, told.why) == (True, "it takes the relation of `summed`: another SELECT")
    assert of("totals", found([{**SUMMED, "config": {"materialized": "table"}}], [renamed])).next_run.rebuilds
    assert of("totals", found([], [renamed])).next_run.why == "it is new"


def test_a_model_without_a_relation() -> None:
    inlined = {**SUMMED, "config": {**SUMMED["config"], "materialized": "ephemeral"}, "relation_name": None}
    assert one([SUMMED], [inlined]).next_run.why == "it has no relation of its own any more; the old one remains"


def test_versions_of_a_model_are_told_apart() -> None:
    first, second = (
        {
            **model("stage", "select id, cid, price from raw.orders", ORDERS, materialized="view"),
            "version": number,
            "unique_id": f"model.p.stage.v{number}",
            "relation_name": f"main.stage_v{number}",
        }
        for number in (1, 2)
    )
    reader = model(
        "reader",
        "select a.id, b.price from main.stage_v1 a join main.stage_v2 b on a.id = b.id",
        "model.p.stage.v1",
        "model.p.stage.v2",
    )
    sql = "select id, cid, price from raw.orders where id > 1"
    each = one([first, second, reader], [with_sql(first, sql), with_sql(second, sql), reader])
    assert each.because_of == ("stage.v1", "stage.v2")


def test_a_catalog_of_the_other_state_does_not_hide_a_changed_table(tmp_path: Path) -> None:
    """The table has a new column, which a model reads at once: the warehouse of the base does not know it."""
    stage = model("stage", "select id, cid from raw.orders", ORDERS, materialized="table")
    reader = model("reader", "select cid, count(*) as n from main.stage group by cid", "model.p.stage")
    state = write(tmp_path / "state", manifest(stage, reader))
    write(
        tmp_path / "target",
        manifest(
            with_sql(stage, "select id, cid, price from raw.orders"),
            with_sql(reader, "select price, count(*) as n from main.stage group by price"),
        ),
    )
    listed = {name: {"name": name, "index": at, "type": "bigint"} for at, name in enumerate(("id", "cid"))}
    (state / "catalog.json").write_text(json.dumps({"metadata": {}, "nodes": {"model.p.stage": {"columns": listed}}}))
    result = CliRunner().invoke(main, ["diff", "--state", str(state), "--project-dir", str(tmp_path), "--fail-on", "full"])
    assert result.exit_code == 0 and "| `reader` | edited | by adding (additive) |" in result.output, result.output


def test_the_state_of_another_project(tmp_path: Path) -> None:
    state, _ = (
        write(tmp_path / folder, {**manifest(JOINED), "metadata": {"project_name": name}})
        for folder, name in (("state", "shop"), ("target", "bank"))
    )
    result = CliRunner().invoke(main, ["diff", "--state", str(state), "--project-dir", str(tmp_path)])
    assert result.exit_code == 1
    assert result.output == f"Error: the other state: {state} is of the project `shop`, not of `bank`\n"


def test_a_config_that_is_no_mapping_is_an_error() -> None:
    each = one([JOINED], [{**JOINED, "config": {"materialized": "idivm", "meta": {"idivm": "full"}}}])
    assert each.after is not None and (each.after.kind, each.after.code) == ("unknown", "IDIVM-103")


WRONG = (None, 5, "x", [], {}, [5], {"a": 5}, "missing")


def places(part: Any, above: tuple[Any, ...] = ()) -> Iterable[tuple[Any, ...]]:
    """Of all that a manifest has."""
    for key, each in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        yield (*above, key)
        yield from places(each, (*above, key))


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_no_manifest_ends_in_a_traceback(tmp_path: Path, wrong: Any) -> None:
    """Each part of one in turn is of another type, or missing."""
    stage = model("stage", "select id, price from raw.orders", ORDERS, materialized="view")
    test = {
        "unique_id": "test.p.u",
        "resource_type": "test",
        "name": "u",
        "config": {},
        "depends_on": {"nodes": [ORDERS]},
        "test_metadata": {"name": "unique", "kwargs": {"column_name": "id"}},
    }
    whole = manifest(model("m", "select price, count(*) as n from main.stage group by price", "model.p.stage"), stage, test)
    write(tmp_path / "target", manifest(JOINED))
    for place in places(whole):
        broken = json.loads(json.dumps(whole))
        part = broken
        for key in place[:-1]:
            part = part[key]
        if wrong == "missing":
            del part[place[-1]]
        else:
            part[place[-1]] = wrong
        state = write(tmp_path / "state", broken)
        result = CliRunner().invoke(main, ["diff", "--state", str(state), "--project-dir", str(tmp_path), *KNOWN])
        assert result.exception is None or isinstance(result.exception, SystemExit), (place, result.exception)
        assert result.exit_code == 0 or result.output.startswith("Error: the other state: "), (place, result.output)


def test_the_place_of_another_form_is_named(tmp_path: Path) -> None:
    write(tmp_path / "target", manifest(JOINED))
    state = write(tmp_path / "state", manifest({**JOINED, "depends_on": {"nodes": "all"}}))
    result = CliRunner().invoke(main, ["diff", "--state", str(state), "--project-dir", str(tmp_path)])
    assert "its `nodes` has another form, at `model.p.joined` → `depends_on` → `nodes`" in result.output


def test_a_long_chain_of_models(run: Run) -> None:
    """Named so that the last one is planned first."""
    chain = [model("z999", "select id, price from raw.orders", ORDERS)]
    chain += [
        model(f"z{number}", f"select id, price from main.z{number + 1}", f"model.p.z{number + 1}")
        for number in range(998, 860, -1)
    ]
    output = run(chain, [with_sql(chain[0], "select id, price from raw.orders where id > 1"), *chain[1:]]).output
    assert output.startswith("1 model changed (1 edited), none becomes rebuilt")


def test_the_order_of_what_a_model_reads_says_nothing() -> None:
    """dbt writes it in another order each time; then another table is the first one whose columns are not known."""
    untyped = tuple(source(name, "id", "cid", typed=False) for name in ("orders", "customers"))
    mirrored = {**JOINED, "depends_on": {"nodes": [CUSTOMERS, ORDERS]}}
    assert found([JOINED, DRAWN], [mirrored, DRAWN], sources=untyped).models == ()
    stages = [model(name, "select id, price from raw.orders", ORDERS, materialized="view") for name in ("a", "b")]
    reads = [f"model.p.{each['name']}" for each in stages]
    changed = [with_sql(each, "select id, price from raw.orders where id > 1") for each in stages]
    sql = "select a.id, b.price from main.a a join main.b b on a.id = b.id"
    for order in (reads, reads[::-1]):
        assert one([*stages, model("c", sql, *reads)], [*changed, model("c", sql, *order)]).because_of == ("a", "b")


def test_two_spellings_of_a_type_are_no_other_columns() -> None:
    def typed(kind: str) -> tuple[Node, ...]:
        return ({**SOURCES[0], "columns": {**SOURCES[0]["columns"], "id": {"name": "id", "data_type": kind}}}, SOURCES[1])

    assert found([JOINED], [JOINED], sources=typed("integer"), now=typed("INT")).models == ()
    assert one([JOINED], [JOINED], sources=typed("int"), now=typed("bigint")).next_run.rebuilds


def test_what_another_dbt_leaves_empty_is_nothing(run: Run) -> None:
    bare = {**SOURCES[0], "columns": {name: {**each, "constraints": None} for name, each in SOURCES[0]["columns"].items()}}
    stage = {**model("stage", "select id, price from raw.orders", ORDERS), "columns": None, "constraints": None}
    assert found([stage], [stage], sources=(bare, SOURCES[1])).models == ()
    assert run([stage], [stage]).output == "Nothing changes in how models are maintained.\n"
