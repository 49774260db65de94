"""The formulas of the papers, in their symbols.

Hanson 1986, "A performance analysis of view materialization strategies": N tuples of S bytes on b blocks; a transaction changes l
tuples; u tuples change between two refreshes, a fraction f of them is relevant. idIVM (Katsis et al. 2015), appendix A: |D|
changed rows of a table; a accesses to join one of them with the other tables; p view rows named by one i-diff row; g groups for
each of these rows.
"""

from __future__ import annotations

from math import exp, lgamma, log1p


def yao(n: float, m: float, k: float) -> float:
    """y(n, m, k): how many of m blocks contain at least one of k records chosen from n (Yao 1977; Hanson 1986, appendix B).

    m·(1 − C(n − n/m, k) / C(n, k)); for blocks with more than ten records, m·(1 − (1 − 1/m)^k) is very close (Cardenas 1975).
    """
    if n <= 0 or m <= 0 or k <= 0:
        return 0.0
    m, k = min(m, n), min(k, n)
    block = n / m
    if k > n - block:
        return m
    if block > 10:
        return m if m <= 1 else m * -_expm1(k * log1p(-1 / m))
    untouched = lgamma(n - block + 1) - lgamma(n - block - k + 1) - lgamma(n + 1) + lgamma(n - k + 1)
    return m * -_expm1(untouched)


def _expm1(x: float) -> float:
    return exp(x) - 1


def relevant(f: float, u: float) -> float:
    """f·u: how many of u changes are relevant to a view (Hanson 1986, 3.2.1: the tuples that pass the screening)."""
    return f * u


def compression(view_rows: float, named: float) -> float:
    """p = |D_V| / |∆_V|: the view rows named by one i-diff row (idIVM, A.1.1), if `named` values of its IDs occur in the view."""
    return view_rows / named if named > 0 else 0.0


def grouping(groups: float, rows: float) -> float:
    """g = |D_Vagg| / |D_Vspj|: touched groups for each changed row below γ (idIVM, A.2.1)."""
    return groups / rows if rows > 0 else 0.0


def spj_accesses_by_ids(d: float, p: float) -> float:
    """|D|·(1 + p): an index look-up for each i-diff row, and an access for each view row (idIVM, Table 2)."""
    return d * (1 + p)


def spj_accesses_by_tuples(d: float, a: float, p: float) -> float:
    """|D|·(a + 2p): the join of each changed row, and a look-up and an access for each view row (idIVM, Table 2)."""
    return d * (a + 2 * p)


def aggregate_accesses_by_ids(d: float, p: float, g: float) -> float:
    """|D|·(1 + p + 2pg): the cache of the SPJ part as in Table 2, then the groups (idIVM, Table 3)."""
    return d * (1 + p + 2 * p * g)


def aggregate_accesses_by_tuples(d: float, a: float, p: float, g: float) -> float:
    """|D|·(a + 2pg) (idIVM, Table 3)."""
    return d * (a + 2 * p * g)


def speedup_of_spj(a: float, p: float) -> float:
    """(a + 2p) / (1 + p): accesses of tuple-based divided by those of ID-based maintenance (idIVM, equation 1)."""
    return (a + 2 * p) / (1 + p)


def speedup_of_aggregate(a: float, p: float, g: float) -> float:
    """(a + 2pg) / (1 + p + 2pg) (idIVM, equation 2)."""
    return (a + 2 * p * g) / (1 + p + 2 * p * g)


def loop_accesses(joins: int, p: float) -> float:
    """a: at least an index look-up and p accesses for each table that a changed row is joined with (idIVM, A.2.1)."""
    return joins * (1 + p)
