"""The estimates of a plan as text: seconds of the rebuild and of each way for changes of each table, with the papers' symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbt_idivm.cost.choice import REBUILD, Alternative, cheapest
from dbt_idivm.cost.experience import Experience
from dbt_idivm.cost.measure import Measure
from dbt_idivm.cost.papers import compression, loop_accesses, speedup_of_spj
from dbt_idivm.cost.sizes import Size, of_rows
from dbt_idivm.cost.work import READING, Situation, TableChanges, application_of, expected, incremental, rebuild
from dbt_idivm.deep import deep_recursion
from dbt_idivm.script.plan import Plan

PARTS = (0.0001, 0.01, 0.5)  # of a table's rows


@deep_recursion()
def cost_table(plan: Plan, rows: Mapping[str, int], experience: Experience) -> str:
    """A line for one updated row of each table, and for some fractions of its rows. `rows`: table → its number of rows.

    Raises ValueError with the name of a table that `rows` lacks.
    """
    sizes: dict[str, Size] = {}
    for scan in plan.base_scans:
        if scan.table not in rows:
            raise ValueError(f"{scan.table} has no number of rows: add --rows {scan.table}=…")
        sizes[scan.table] = of_rows(rows[scan.table], (each.type for each in scan.attributes))
    lines = []
    for cache in plan.caches:
        lines += [f"cache {cache.number}: {cache.table}", *_of_plan(cache.plan, sizes, experience), ""]
        sizes[cache.table] = Situation(cache.plan, sizes, None, lambda *leaf: 0.0).stored
    return "\n".join([*lines, *(["view"] if lines else []), *_of_plan(plan, sizes, experience), ""])


def _of_plan(plan: Plan, sizes: Mapping[str, Size], experience: Experience) -> list[str]:
    names = [REBUILD, *(way.name for way in plan.ways)]
    view = Situation(plan, sizes, None, lambda *leaf: 0.0).stored
    found = [("updated", "p", "(1)", *names, "cheapest")]
    for table in plan.tables:
        counts = dict.fromkeys(max(1, round(sizes[table].rows * part)) for part in (0.0, *PARTS))
        found += [_line(plan, sizes, view, table, count, experience) for count in counts]
    widths = [max(len(line[place]) for line in found) for place in range(len(found[0]))]
    title = f"cost, in seconds on a small machine; the view has about {view.rows:,} rows"
    legend = "p: view rows for each updated row; (1): what idIVM's equation 1 promises of i-diffs against tuples"
    return [title, *("  " + "  ".join(_aligned(line, widths)).rstrip() for line in found), f"  {legend}"]


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *rest = (
        text.ljust(width) if place == 0 else text.rjust(width)
        for place, (text, width) in enumerate(zip(line, widths, strict=True))
    )
    return [first, *rest]


def _line(plan: Plan, sizes: Mapping[str, Size], view: Size, table: str, count: int, experience: Experience) -> tuple[str, ...]:
    now = Situation(plan, sizes, view, expected(plan, {table: TableChanges(updated=float(count))}, hopeful=False))
    alternatives = [_priced(REBUILD, rebuild(now), experience)]
    for way in plan.ways:
        done = application_of(way, now)
        alternatives.append(_priced(way.name, Measure() if done is None else incremental(done, now) + READING, experience))
    p = compression(view.rows, float(sizes[table].rows))
    ratio = speedup_of_spj(loop_accesses(len(plan.scans) - 1, p), p)
    shown = (f"{each.seconds:.1f}" if each.seconds else "-" for each in alternatives)
    return (f"{table}: {count:,}", f"{p:.1f}", f"{ratio:.1f}", *shown, cheapest(alternatives).name)


def _priced(name: str, measure: Measure, experience: Experience) -> Alternative:
    return Alternative(name, measure, experience.seconds("", name, measure))
