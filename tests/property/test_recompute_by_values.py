"""Recompute i-diffs over columns that are no IDs, as those of a window: the operators above keep the columns, or say so."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.idiff.idiff import INS, REC, IDiff
from dbt_idivm.operators import Project, Scan, Window
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.operators.window import WindowCall
from dbt_idivm.passes.infer_ids import infer_ids
from dbt_idivm.passes.propagate import propagate
from tests.property.plans import Options, Table, idiff_way, plan_of

T, U = (Table(name, (("k", "int"), ("x", "int"), ("y", "int")), ("k",)) for name in ("t", "u"))
COUNTS = "SELECT k, count(*) OVER (PARTITION BY x) AS n FROM t"
CASES = {
    "π": COUNTS,
    "π above σ": f"SELECT k, n FROM ({COUNTS}) WHERE n > 1",
    "⋈": f"SELECT a.k, u.x FROM ({COUNTS}) AS a JOIN u ON a.n = u.y",
    "⟕": f"SELECT a.k, u.x FROM ({COUNTS}) AS a LEFT JOIN u ON a.n = u.y",
    "∪": f"{COUNTS} UNION ALL SELECT k, y FROM u",
}
SCAN = Scan("t", "t", tuple(Attribute(*each) for each in T.columns), T.key)
COUNT = WindowCall("v__n", exp.Count(this=exp.Star()), (), None, exp.DataType.build("bigint"), certain=True, total=True)
SHOWN = (("t__k", column("t__k")), ("v__n", column("v__n")))


@pytest.mark.parametrize("case", CASES)
def test_the_columns_are_hidden_columns_of_the_view(case: str) -> None:
    plan = plan_of((T, U), CASES[case], Options())
    ids = set(plan.root.ids)
    by = {name for diff in idiff_way(plan).idiffs if diff.kind is REC for name in diff.ids if name not in ids}
    assert by, "nothing is recomputed by a column that is no ID"
    assert by <= {each.attribute for each in plan.columns if each.hidden}


def test_a_column_that_is_not_announced_is_refused() -> None:
    """Not with a KeyError in the rule of a π far above, and not in a statement."""

    @dataclass(frozen=True)
    class Silent(Window):
        @property
        def named_by(self) -> tuple[str, ...]:  # type: ignore[override]
            return ()

    root = infer_ids(Project(Silent(SCAN, ("t__x",), (COUNT,)), SHOWN))
    base = IDiff(INS, ("t__k",), ("t__x", "t__y"), (), SCAN, frozenset())
    with pytest.raises(AssertionError, match="named_by"):
        propagate(root, {"t": (base,)})


def test_an_operator_that_drops_the_column_is_refused() -> None:
    @dataclass(frozen=True)
    class Dropping(Project):
        def with_ids(self) -> Operator:
            return self

    with pytest.raises(AssertionError, match="t__x"):
        infer_ids(Dropping(Window(SCAN, ("t__x",), (COUNT,)), SHOWN))
