"""The papers' formulas against values worked out by hand from the papers."""

from __future__ import annotations

from math import comb

import pytest

from dbt_idivm.cost.papers import (
    aggregate_accesses_by_ids,
    aggregate_accesses_by_tuples,
    compression,
    grouping,
    loop_accesses,
    relevant,
    speedup_of_aggregate,
    speedup_of_spj,
    spj_accesses_by_ids,
    spj_accesses_by_tuples,
    yao,
)


@pytest.mark.parametrize(("n", "m", "k"), [(10, 5, 1), (10, 5, 3), (12, 4, 5), (60, 10, 7), (100, 10, 91)])
def test_yao_is_exact_for_small_blocks(n: int, m: int, k: int) -> None:
    """m·(1 − C(n − n/m, k) / C(n, k)), with binomial coefficients."""
    assert yao(n, m, k) == pytest.approx(m * (1 - comb(n - n // m, k) / comb(n, k)))


def test_yao_by_hand() -> None:
    """Ten records on five blocks: three of them miss a block of two with C(8, 3) / C(10, 3) = 56 / 120."""
    assert yao(10, 5, 3) == pytest.approx(5 * (1 - 56 / 120))


def test_yao_for_large_blocks_is_cardenas() -> None:
    """Hanson's defaults, model 1: fN = 10,000 view tuples on fb/2 = 125 pages, 2fu = 5 of them: m·(1 − (1 − 1/m)^k)."""
    assert yao(10_000, 125, 5) == pytest.approx(125 * (1 - (124 / 125) ** 5))
    exact = 125 * (1 - comb(9_920, 5) / comb(10_000, 5))
    assert yao(10_000, 125, 5) == pytest.approx(exact, rel=1e-3), "very close, as the paper says"


@pytest.mark.parametrize(
    ("n", "m", "k", "blocks"),
    [
        (0, 5, 3, 0),
        (10, 0, 3, 0),
        (10, 5, 0, 0),
        (10, 5, 10, 5),
        (10, 5, 1e9, 5),
        (10, 50, 3, 3),
        (1e9, 1, 7, 1),
        (1e12, 1e4, 1e9, 1e4),
    ],
)
def test_yao_at_its_edges(n: float, m: float, k: float, blocks: float) -> None:
    assert yao(n, m, k) == pytest.approx(blocks)


def test_yao_grows_with_k_up_to_m() -> None:
    found = [yao(1000, 20, k) for k in range(1001)]
    assert found == sorted(found) and found[0] == 0 and found[-1] == 20
    assert found[1] == pytest.approx(1)


def test_the_costs_of_the_tables() -> None:
    """idIVM, tables 2 and 3, for 200 changed parts, each in p = 2 view rows, a = 6 accesses, g = 1/2."""
    assert (spj_accesses_by_ids(200, 2), spj_accesses_by_tuples(200, 6, 2)) == (600, 2000)
    assert (aggregate_accesses_by_ids(200, 2, 0.5), aggregate_accesses_by_tuples(200, 6, 2, 0.5)) == (1000, 1600)


@pytest.mark.parametrize(("a", "p", "g"), [(6, 2, 0.5), (3, 1, 1), (40, 10, 0.1)])
def test_the_speedups_are_ratios_of_the_tables(a: float, p: float, g: float) -> None:
    assert speedup_of_spj(a, p) == pytest.approx(spj_accesses_by_tuples(7, a, p) / spj_accesses_by_ids(7, p))
    assert speedup_of_aggregate(a, p, g) == pytest.approx(
        aggregate_accesses_by_tuples(7, a, p, g) / aggregate_accesses_by_ids(7, p, g)
    )


def test_parameters() -> None:
    assert compression(4_000_000, 2_000_000) == 2 and compression(5, 0) == 0
    assert grouping(20, 100) == 0.2 and grouping(5, 0) == 0
    assert relevant(0.1, 25) == 2.5
    assert loop_accesses(1, 2) == 3, "for one join 1 + p, the lower bound of A.2.1"
