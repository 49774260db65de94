"""A variant of a project has the plans that it would have if it were read anew, though few models are planned again."""

from __future__ import annotations

import pytest

from dbt_idivm.definition.define import Definition
from dbt_idivm.project import Node, Project
from dbt_idivm.tools.advice.variants import below, ordered, readers, with_config, with_key, with_kind, with_nodes
from tests.unit.test_advise_more import grouped_twice
from tests.unit.test_project import CUSTOMERS, ORDERS, manifest, model, source

FIRST = model("first", "select o.id, o.cid, c.name from raw.orders o join raw.customers c on o.cid = c.id", ORDERS, CUSTOMERS)
SECOND = model("second", "select name, cid from main.first where cid > 1", "model.p.first")
THIRD = model("third", "select cid, max(name) as m from main.second group by cid", "model.p.second")
SEEN = model("seen", "select cid, name from main.first", "model.p.first", materialized="view")
ABOVE = model("above", "select name, count(*) as n from main.seen group by name", "model.p.seen")
REFUSED = model(
    "refused", "select (select c.name from raw.customers c where c.id = o.cid) as n from main.first o", "model.p.first", CUSTOMERS
)
TWICE = grouped_twice()
MODELS = (ABOVE, FIRST, SECOND, THIRD, SEEN, TWICE, REFUSED)
KEYLESS = (source("orders", "id", "cid", "price"), {**source("customers", "id", "name"), "constraints": []})


def base() -> Project:
    found = Project(manifest(*MODELS, sources=KEYLESS))
    list(found.explained())
    return found


def plans(project: Project) -> dict[str, object]:
    return {
        model.name: (
            model.plan.digest,
            model.plan.columns,
            [each.name for each in model.plan.ways],
            model.plan.root.ids,
            [each.table for each in model.plan.base_scans],
            len(model.plan.caches),
        )
        for model in project.planned()
    }


CHANGES = {
    "a key": {CUSTOMERS: with_key(KEYLESS[1], ("id",))},
    "a view": {"model.p.first": with_kind(FIRST, "view")},
    "a view that is stored": {"model.p.seen": with_kind(SEEN, "idivm")},
    "caches": {"model.p.twice": with_config(TWICE, caches="all")},
    "a strategy": {"model.p.third": with_config(THIRD, strategy="recompute")},
    "two": {"model.p.second": with_kind(SECOND, "view"), "model.p.seen": with_kind(SEEN, "idivm")},
}


@pytest.mark.parametrize("nodes", CHANGES.values(), ids=CHANGES)
def test_a_variant_has_the_plans_of_its_manifest(nodes: dict[str, Node]) -> None:
    before = base()
    known, varied = plans(before), with_nodes(before, nodes)
    assert plans(varied.project) == plans(Project(varied.project.manifest)) != known
    assert plans(before) == known, "the project itself stays"


def test_few_models_are_planned_again() -> None:
    assert with_nodes(base(), CHANGES["caches"]).replanned == {"model.p.twice"}
    assert with_nodes(base(), CHANGES["a strategy"]).replanned == {"model.p.third"}
    keyed = with_nodes(base(), CHANGES["a key"])
    assert {"model.p.first", "model.p.second", "model.p.refused"} <= keyed.replanned
    refused = base().definitions["model.p.refused"]
    assert isinstance(refused, Definition) and refused.plan is None
    assert "refused" in plans(keyed.project), "which the key makes maintainable"


def test_the_order_of_models() -> None:
    found = list(ordered(base()))
    assert len(found) == len(MODELS)
    assert all(
        found.index(f"model.p.{one}") < found.index(f"model.p.{other}")
        for one, other in (("first", "second"), ("second", "third"), ("first", "seen"), ("seen", "above"))
    )


def test_who_reads_whom() -> None:
    assert readers(base())["model.p.first"] == ("model.p.refused", "model.p.second", "model.p.seen")
    assert set(below(base(), "model.p.first")) == {f"model.p.{name}" for name in ("refused", "second", "seen", "third", "above")}
    assert below(base(), "model.p.third") == ()
