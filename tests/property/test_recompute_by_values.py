"""Recompute i-diffs over columns that are no IDs, as windows and set operations need them: what is above keeps the columns.

No operator of the front end makes such an i-diff yet, so the trees are built by hand around one that counts the rows with an
equal value: COUNT(*) OVER (PARTITION BY x).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pytest
from sqlglot import exp

from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.block import Binder, Block, isolate
from dbt_idivm.algebra.core import SemiJoin
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.operator import Operator, State
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.compiler import compile_plan
from dbt_idivm.idiff.build import recompute, touched
from dbt_idivm.idiff.idiff import REC, UPD, IDiff, Kind
from dbt_idivm.idiff.rule import IDiffRule, always
from dbt_idivm.operators import Join, Project, Scan, Select, UnionAll
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.passes.infer_ids import infer_ids
from dbt_idivm.passes.propagate import propagate
from dbt_idivm.script.plan import Plan
from tests.property.harness import World
from tests.property.plans import Table, idiff_way

T, U = (Table(name, (("k", "int"), ("x", "int"), ("y", "int")), ("k",)) for name in ("t", "u"))


def scan(table: Table) -> Scan:
    return Scan(table.name, table.name, tuple(Attribute(*each) for each in table.columns), table.key)


@dataclass(frozen=True)
class Counting(Project):
    """π_{*, COUNT(*) OVER (PARTITION BY by)}. Any change of a row concerns all rows with its value, before and after."""

    by: str = ""

    @cached_property
    def recomputed_by(self) -> tuple[str, ...]:
        return (self.by,)

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return (self.lineage(above) | {self.by},)

    def pruned(self, above: frozenset[str]) -> Operator:
        return replace(self, definitions=tuple(d for d in self.definitions if d[0] in above | {self.by}))

    def conditional(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return (self.lineage(above) | {self.by},)

    def carried(self, occurrence: str) -> frozenset[str] | None:
        return None

    def with_children(self, *children: Any) -> Relation:
        return replace(self, child=children[0])

    def in_state(self, state: State) -> Relation:
        if state == "any":
            return Concat((self.in_state("pre"), self.in_state("post")))
        return self.with_children(self.child.in_state(state))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return self.with_children(self.child.restrict(on, keys)) if set(on) <= {self.by} else SemiJoin(self, on, keys)

    def block(self, binder: Binder) -> Block:
        return isolate(super().block(binder).select(), self.columns, binder.alias("counted"))


def values(node: Counting, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    whole = recompute(diff) if diff.assigns((node.by,)) else diff
    return (IDiff(REC, (node.by,), (), (), touched(whole, node.child, (node.by,)), diff.origins),)


Counting.RULES = tuple(IDiffRule(f"counting_{kind}", kind, always, "REC(x)", values, "ours") for kind in Kind)


def counting(child: Operator, by: str) -> Counting:
    window = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[column(by)])
    return Counting(child, (*((name, column(name)) for name in child.columns), ("v__n", window)), by)


COUNTED = counting(scan(T), "t__x")
WITHOUT_X = Project(COUNTED, (("t__k", column("t__k")), ("v__n", column("v__n"))))
ABOVE = exp.GT(this=column("v__n"), expression=exp.Literal.number(1))
BRANCHES = (("t__k", "v__n"), ("u__k", "u__y"))
CASES = {
    "π": (WITHOUT_X, ("t__k", "v__n"), "SELECT k, COUNT(*) OVER (PARTITION BY x) AS n FROM t"),
    "π above σ": (Project(Select(WITHOUT_X, ABOVE), WITHOUT_X.definitions), ("t__k", "v__n"),
                  "SELECT k, n FROM (SELECT k, COUNT(*) OVER (PARTITION BY x) AS n FROM t) WHERE n > 1"),
    "⋈": (Join(WITHOUT_X, scan(U), exp.EQ(this=column("v__n"), expression=column("u__y"))), ("t__k", "u__x"),
          "SELECT a.k, u.x FROM (SELECT k, COUNT(*) OVER (PARTITION BY x) AS n FROM t) AS a JOIN u ON a.n = u.y"),
    "∪": (UnionAll((WITHOUT_X, scan(U)), "w", ("w__k", "w__n"), BRANCHES), ("w__k", "w__n"),
          "SELECT k, COUNT(*) OVER (PARTITION BY x) AS n FROM t UNION ALL SELECT k, y FROM u"),
}
START = {"t": [(1, 7, 0), (2, 7, 0), (3, 8, 0), (4, None, 0)], "u": [(1, 5, 1), (2, 6, 2)]}
BATCHES: tuple[dict[str, list[Any]], ...] = (
    {"t": [(1, 7, 0), (2, 8, 0), (3, 8, 1), (4, None, 0), (5, None, 0)]},  # one moves, one comes, one changes elsewhere
    {"t": [(2, 8, 0), (4, 8, 0), (5, None, 0)], "u": [(1, 5, 3), (2, 6, 1)]},  # rows go, NULL becomes a value, both tables
    {"t": [], "u": [(3, 0, 0)]},
)


class ByHand(World):
    """A world whose plan is made from a tree, not from SQL."""

    def __init__(self, root: Operator, output: tuple[str, ...], sql: str) -> None:
        self.root, self.output = root, output
        super().__init__((T, U), sql)

    def _typed_plan(self) -> Plan:
        return compile_plan(self.root, tuple((name.split("__")[1], name) for name in self.output))


@pytest.mark.parametrize("case", CASES)
def test_maintained_equals_recomputed(case: str) -> None:
    with ByHand(*CASES[case]) as world:
        ids = set(world.plan.root.ids)
        by = [diff.ids for diff in idiff_way(world.plan).idiffs if diff.kind is REC and not set(diff.ids) <= ids]
        assert by, "nothing is recomputed by a column that is no ID"
        assert any(each.hidden for each in world.plan.columns if each.attribute in {name for ids in by for name in ids})
        world.load(START)
        for batch in BATCHES:
            world.refresh(batch)
            assert world.maintained() == world.recomputed()


def test_a_column_that_is_not_announced_is_refused() -> None:
    """Not with a KeyError in the rule of a π far above, and not in a statement."""

    @dataclass(frozen=True)
    class Silent(Counting):
        @property
        def recomputed_by(self) -> tuple[str, ...]:  # type: ignore[override]
            return ()

    root = infer_ids(replace(WITHOUT_X, child=Silent(COUNTED.child, COUNTED.definitions, COUNTED.by)))
    rows = Project(scan(T), (("t__k", column("t__k")), ("t__y", column("t__y"))))
    base = IDiff(UPD, ("t__k",), ("t__y",), (), rows, frozenset())
    with pytest.raises(AssertionError, match="recomputed_by"):
        propagate(root, {"t": (base,)})


def test_an_operator_that_drops_the_column_is_refused() -> None:
    @dataclass(frozen=True)
    class Dropping(Project):
        def with_ids(self) -> Operator:
            return self

    with pytest.raises(AssertionError, match="t__x"):
        infer_ids(Dropping(COUNTED, WITHOUT_X.definitions))
