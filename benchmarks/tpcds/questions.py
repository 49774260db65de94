"""Two thirds of TPC-DS's questions, by kind. Text, constants and kinds are this project's own.

What is not the benchmark's: only the columns that are read, no constant in place of a parameter, no second variant of a query.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.tpcds.ad_hoc import AD_HOC
from benchmarks.tpcds.customers import OF_CUSTOMERS
from benchmarks.tpcds.iterative import ITERATIVE
from benchmarks.tpcds.mining import MINING
from benchmarks.tpcds.question import Question
from benchmarks.tpcds.reporting import REPORTING

KINDS: Mapping[str, tuple[Question, ...]] = {
    "reporting": REPORTING,
    "ad hoc": tuple(sorted((*AD_HOC, *OF_CUSTOMERS))),
    "iterative OLAP": ITERATIVE,
    "data mining": MINING,
}
QUESTIONS: Mapping[str, Question] = {each.name: each for of_kind in KINDS.values() for each in of_kind}
