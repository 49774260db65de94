"""`python -m benchmarks.planner`: how planning, and what is planned, grow with the model.

For each family of models (`planner_families.py`) and size, without Spark and without data:

plan       seconds from the SELECT to the plan with all ways
explain    seconds, and kilobytes, of what `idivm explain` prints
cost       seconds to estimate what a refresh costs by each way
nodes      of the relations of the largest application over all ways; what is mentioned twice counts twice, as in Spark's plan
statement  kilobytes of the largest statement that a refresh might send, under `strategy: id` and `auto`

The last lines of a family are the exponents with which nodes and bytes grow: least squares of logarithms.
With `--spark`, an embedded Spark parses and analyses the largest statement of `id` and the one of `auto`, over empty tables.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import click

from benchmarks.planner_families import FAMILIES, Sized
from benchmarks.view_selection import table
from dbt_idivm.algebra.lookups import Named
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.context import Caching
from dbt_idivm.cost.experience import Experience
from dbt_idivm.cost.table import cost_table
from dbt_idivm.deep import deep_recursion
from dbt_idivm.definition.compiling import compiled
from dbt_idivm.definition.questions import without_engine
from dbt_idivm.explain import delta_script, explain
from dbt_idivm.script.conditional import Conditional
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import ask, render
from dbt_idivm.script.symbolic import SymbolicBinding, symbolic
from dbt_idivm.script.tail import Tail
from dbt_idivm.script.ways import ALL_WAYS, STRATEGIES, Application, Way, WayName

MODEL = "view"
ROWS = 1_000_000  # of each table, for estimates
Result = TypeVar("Result")


@dataclass(frozen=True)
class Statement:
    """One that a refresh might send, the plan of the view or cache that it is for, and what it does."""

    way: WayName
    sql: str
    plan: Plan
    application: Application


class Counts(NamedTuple):
    """Of one model: nodes of the largest application, and bytes of the largest statements and of what is printed."""

    nodes: int
    by_id: int
    by_auto: int
    printed: int


@dataclass(frozen=True)
class Measured:
    """One model: the counts, and seconds."""

    size: int
    counts: Counts
    planning: float
    explaining: float
    costing: float


# -- one model ---------------------------------------------------------------------------------------------------------------


def planned(model: Sized, ways: Sequence[WayName] = ALL_WAYS) -> Plan:
    """As `idivm explain` plans it."""
    return without_engine(compiled(model.sql, model.catalog, Caching("auto", MODEL), ways)).plan


def printed(plan: Plan) -> str:
    """What `idivm explain` prints."""
    return f"{explain(plan)}\n{delta_script(plan, MODEL, STRATEGIES['id'])}"


@deep_recursion()
def nodes(relations: Sequence[Relation]) -> int:
    """The nodes of trees in which each name is what it stands for."""
    known: dict[int, int] = {}

    def count(relation: Relation) -> int:
        if id(relation) not in known:
            below = (relation.definition,) if isinstance(relation, Named) else relation.children
            known[id(relation)] = 1 + sum(map(count, below))
        return known[id(relation)]

    return sum(map(count, relations))


def applications(plan: Plan) -> Iterator[tuple[Plan, Application]]:
    """What each way does if all tables changed in every way that it allows, for the caches and for the view."""
    for each in (*(cache.plan for cache in plan.caches), plan):
        for way in each.ways:
            done = _application(way)
            if done is not None:
                yield each, done


def _application(way: Way) -> Application | None:
    return way.application(lambda leaf: isinstance(way, Tail) and leaf.diff_class == "minus")


def largest(plan: Plan) -> int:
    return max(nodes((*done.relations, *done.perhaps)) for _, done in applications(plan))


@deep_recursion()
def statements(plan: Plan) -> Iterator[Statement]:
    """All that a refresh might send to ask, and to apply, where rows stay in the engine."""
    for each, done in applications(plan):
        binding = symbolic(each)
        asked = ask(each, done, binding, MODEL)
        if asked is not None:
            yield Statement(done.way, binding.dialect.sql(asked.source.query), each, done)
        for answered in (done, done.otherwise) if isinstance(done, Conditional) else (done,):
            yield Statement(done.way, _rendered(each, answered, binding), each, answered)


def _rendered(plan: Plan, done: Application, binding: SymbolicBinding) -> str:
    return binding.dialect.sql(render(plan, done, binding, MODEL).statement)


def counted(plan: Plan) -> Counts:
    sizes = [(each.way, len(each.sql.encode())) for each in statements(plan)]
    by_id = max((size for way, size in sizes if way in STRATEGIES["id"]), default=0)
    return Counts(largest(plan), by_id, max(size for _, size in sizes), len(printed(plan).encode()))


def measured(model: Sized, size: int) -> Measured:
    planning, plan = timed(lambda: planned(model))
    explaining, _ = timed(lambda: printed(plan))
    costing, _ = timed(lambda: cost_table(plan, dict.fromkeys(plan.base_tables, ROWS), Experience()))
    return Measured(size, counted(plan), planning, explaining, costing)


def timed(run: Callable[[], Result]) -> tuple[float, Result]:
    began = time.perf_counter()
    found = run()
    return time.perf_counter() - began, found


# -- growth ------------------------------------------------------------------------------------------------------------------


def exponent(points: Sequence[tuple[int, int]]) -> float:
    """The slope of log(count) over log(size), by least squares.

    >>> round(exponent([(2, 12), (4, 48), (8, 192)]), 6), exponent([(2, 5), (4, 5)])
    (2.0, 0.0)
    """
    logs = [(math.log(size), math.log(count)) for size, count in points]
    middle, height = (sum(each) / len(logs) for each in zip(*logs, strict=True))
    return sum((x - middle) * (y - height) for x, y in logs) / sum((x - middle) ** 2 for x, _ in logs)


def exponents(found: Mapping[int, Counts]) -> dict[str, float]:
    """For each of the counts of models of several sizes, by name."""
    return {name: exponent([(size, getattr(counts, name)) for size, counts in found.items()]) for name in Counts._fields}


# -- the table ---------------------------------------------------------------------------------------------------------------

HEAD = ("family", "size", "plan, s", "cost, s", "explain, s", "explain, KB", "nodes", "id, KB", "auto, KB")


def rows(name: str, found: Sequence[Measured]) -> Iterator[tuple[str, ...]]:
    for each in found:
        count, by_id, by_auto, shown = each.counts
        yield (
            name,
            str(each.size),
            *(f"{seconds:.2f}" for seconds in (each.planning, each.costing, each.explaining)),
            _kilobytes(shown),
            str(count),
            _kilobytes(by_id),
            _kilobytes(by_auto),
        )
    if len(found) > 1:
        count, by_id, by_auto, shown = (f"{each:.2f}" for each in exponents({each.size: each.counts for each in found}).values())
        yield name, "exponent", "", "", "", shown, count, by_id, by_auto


def _kilobytes(size: int) -> str:
    return f"{size / 1024:.1f}"


@click.command(help=__doc__)
@click.option("--family", "families", type=click.Choice(list(FAMILIES)), multiple=True, help="Only this one; may be given again.")
@click.option("--size", "sizes", type=click.IntRange(1), multiple=True, help="Instead of the family's own; may be given again.")
@click.option("--spark", is_flag=True, help="Print what Spark takes for the largest statements instead.")
@click.option("--run", "runs", is_flag=True, help="With --spark: run them as well.")
@click.option("--memory", default="3g", show_default=True, help="The heap of Spark.")
def main(families: tuple[str, ...], sizes: tuple[int, ...], spark: bool, runs: bool, memory: str) -> None:
    chosen = {
        name: [(size, FAMILIES[name].make(size)) for size in sizes or FAMILIES[name].sizes] for name in families or FAMILIES
    }
    if spark:
        from benchmarks.planner_spark import report

        click.echo(report(chosen, memory, runs))
        return
    found = {name: [measured(model, size) for size, model in models] for name, models in chosen.items()}
    click.echo(table(HEAD, [row for name, each in found.items() for row in rows(name, each)]))


if __name__ == "__main__":
    main()
