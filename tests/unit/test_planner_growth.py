"""How plans and statements grow with the model: by counts of nodes and bytes, not by seconds, so that it is the same everywhere.

`python -m benchmarks.planner` prints the same for larger models, with seconds.
"""

from __future__ import annotations

import doctest
from collections.abc import Mapping

import pytest
from click.testing import CliRunner

from benchmarks import planner
from benchmarks.planner import Counts, counted, exponents, main, planned
from benchmarks.planner_families import FAMILIES
from dbt_idivm.script.ways import ALL_WAYS, STRATEGIES, WayName

MARGIN = 1.5

# Counted for the larger of two sizes, of which the other is half. A change that makes counts smaller updates them here.
COUNTED: Mapping[str, tuple[int, Counts]] = {
    "star": (8, Counts(271, 35_886, 39_475, 66_494)),
    "star without keys": (8, Counts(163, 18_846, 40_143, 45_262)),
    "grouped star": (8, Counts(324, 16_441, 23_852, 72_915)),
    "star, joined twice": (4, Counts(271, 28_918, 32_324, 55_686)),
    "chain": (8, Counts(674, 45_179, 45_179, 84_343)),
    "inner joins": (6, Counts(300, 40_443, 53_820, 69_840)),
    "left joins of totals": (6, Counts(249, 24_158, 24_158, 53_651)),
    "windows": (6, Counts(294, 24_775, 59_531, 52_717)),
    "scalar subqueries": (6, Counts(249, 24_364, 24_364, 53_501)),
    "counts of one table": (4, Counts(252, 16_550, 17_701, 40_535)),
    "exists": (6, Counts(498, 30_569, 30_569, 69_277)),
    "union all": (16, Counts(1_401, 42_355, 73_266, 82_717)),
    "grouped union all": (8, Counts(1_028, 12_448, 43_282, 51_326)),
    "chain of CTEs": (12, Counts(130, 11_228, 11_228, 30_212)),
    "IN list": (200, Counts(24, 23_057, 23_057, 47_697)),
    "OR of LIKEs": (80, Counts(24, 23_187, 23_187, 50_323)),
    "|| of texts": (80, Counts(15, 6_966, 11_121, 19_992)),
    "CASE": (100, Counts(15, 18_981, 28_727, 53_081)),
    "stacked SELECTs": (16, Counts(90, 47_918, 69_764, 104_540)),
}

# Of four joins and more the longest i-diffs name all rows; tuples treble with each join.
OF_FULL_JOINS = (
    (2, ALL_WAYS, Counts(453, 31_690, 98_172, 80_827)),
    (3, STRATEGIES["id"], Counts(1_166, 95_478, 95_478, 160_840)),
    (6, STRATEGIES["id"], Counts(3_556, 196_589, 196_589, 342_826)),
)


def assert_within(found: Counts, known: Counts) -> None:
    over = {
        name: (count, before) for name, count, before in zip(Counts._fields, found, known, strict=True) if count > MARGIN * before
    }
    assert over == {}


def test_all_families_are_checked() -> None:
    assert {*COUNTED} == {name for name, family in FAMILIES.items() if family.most is not None}


@pytest.mark.parametrize("name", COUNTED)
def test_nodes_and_bytes_grow_no_faster_than_they_should(name: str) -> None:
    size, known = COUNTED[name]
    family = FAMILIES[name]
    found = {each: counted(planned(family.make(each))) for each in (size // 2, size)}
    assert_within(found[size], known)
    most = dict.fromkeys(Counts._fields, family.most) | {"by_auto": family.most_of_tuples or family.most}
    assert {count: each for count, each in exponents(found).items() if each > (most[count] or 0)} == {}


@pytest.mark.parametrize(("size", "ways", "known"), OF_FULL_JOINS)
def test_full_joins_stay_within_limits_before_and_after_all_rows_are_named(
    size: int, ways: tuple[WayName, ...], known: Counts
) -> None:
    assert_within(counted(planned(FAMILIES["full joins of totals"].make(size), ways)), known)


@pytest.mark.parametrize(("name", "size"), [("star", 24), ("grouped star", 24), ("chain", 24), ("full joins of totals", 6)])
def test_no_statement_of_a_wide_model_has_more_than_200_kilobytes(name: str, size: int) -> None:
    assert counted(planned(FAMILIES[name].make(size), STRATEGIES["id"])).by_id <= 200_000


def test_the_exponent_is_a_slope() -> None:
    assert doctest.testmod(planner).failed == 0


def test_the_table_has_a_row_for_each_size_and_the_exponents() -> None:
    found = CliRunner().invoke(main, ["--family", "CASE", "--size", "2", "--size", "4"])
    lines = found.output.splitlines()
    assert found.exit_code == 0 and [line.split("|")[2].strip() for line in lines[2:]] == ["2", "4", "exponent"]
