"""`python -m benchmarks.view_selection`: what is materialised besides the views, on estimates (Mistry et al. 2001, §7).

Set of views     ten views over TPC-H, five with aggregates: seconds of a refresh over the percentage of inserted rows, for what
                 is materialised (§7.2.1) and for how views are maintained (§7.2.2)
Scalability      star queries over 22 relations: seconds of the search over the number of views (§7.2.3)

Only costs are estimated, nothing is run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import click

from benchmarks.view_dags import Builder, Join, Query, Table
from dbt_idivm.tools.dag.costs import Costs, Rate
from dbt_idivm.tools.dag.dag import Dag
from dbt_idivm.tools.dag.greedy import Options, Sharing
from dbt_idivm.tools.dag.select import Selection, select
from dbt_idivm.tools.dag.update import Mode

Curves = Mapping[str, Sequence[tuple[float, float]]]  # lane → points
OUT = Path(__file__).resolve().parent / "out"


# -- ten views over TPC-H ----------------------------------------------------------------------------------------------------

# Rows at scale 1, and bytes of the columns that queries use, as `cost/sizes.py` has them.
_TPCH = {
    "region": (5, 12),
    "nation": (25, 14),
    "supplier": (1e4, 16),
    "customer": (1.5e5, 20),
    "part": (2e5, 22),
    "partsupp": (8e5, 14),
    "orders": (1.5e6, 14),
    "lineitem": (6e6, 22),
}
_KEYS = (
    ("nation", "region", "region"),
    ("supplier", "nation", "nation"),
    ("customer", "nation", "nation"),
    ("orders", "customer", "customer"),
    ("lineitem", "orders", "orders"),
    ("lineitem", "part", "part"),
    ("lineitem", "supplier", "supplier"),
    ("partsupp", "part", "part"),
    ("partsupp", "supplier", "supplier"),
)


def ten_views(scale: float) -> Dag:
    """Five joins and five aggregates; most have a selection that others do not have."""
    tables = {name: Table(rows if rows < 100 else rows * scale, width) for name, (rows, width) in _TPCH.items()}

    def query(names: str, *selections: tuple[str, str, float], by: tuple[str, float] | None = None) -> Query:
        joins = frozenset(Join(left, right, tables[key].rows) for left, right, key in _KEYS)
        return Query(frozenset(names.split()), joins, frozenset(selections)).part(frozenset(names.split()))._replace(aggregate=by)

    building, asia = ("customer", "segment = 'BUILDING'", 0.2), ("region", "name = 'ASIA'", 0.2)
    return Builder(tables).dag(
        {
            "v1": query("customer orders lineitem", building, ("orders", "date < 1995", 0.4)),
            "v2": query("customer orders lineitem nation", ("lineitem", "returned", 0.25)),
            "v3": query("orders lineitem supplier", ("orders", "status = 'F'", 0.5)),
            "v4": query("partsupp part supplier nation region", ("part", "size = 15", 0.02), asia),
            "v5": query("part lineitem", ("part", "brand = 12", 0.04)),
            "v6": query("customer orders lineitem", building, by=("priority", 5)),
            "v7": query("customer orders lineitem nation", by=("nation, year", 175)),
            "v8": query("orders lineitem supplier nation", ("orders", "date < 1995", 0.4), by=("nation", 25)),
            "v9": query("part partsupp supplier nation region", asia, by=("brand, type", 3750)),
            "v10": query("part lineitem supplier", by=("brand, supplier", 2.5e5 * scale)),
        }
    )


PERCENTS = (1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80)
SHARED: Mapping[str, tuple[Sharing, Mode]] = {
    "no materialisation": ("none", "adaptive"),
    "only transient": ("transient", "adaptive"),
    "transient and permanent": ("both", "adaptive"),
}
POLICIES: Mapping[str, tuple[Sharing, Mode]] = {
    "forced incremental": ("both", "incremental"),
    "forced recomputation": ("both", "recompute"),
    "adaptive": ("both", "adaptive"),
}


def inserts(dag: Dag, percent: float) -> Costs:
    """§7.1: all tables are changed by the same percentage."""
    return Costs(dag, {group.form: Rate(inserted=percent / 100) for group in dag.groups if group.is_table})


def loads(dag: Dag, percent: float) -> Costs:
    """As TPC-H's refresh functions: only orders and their lines are inserted."""
    return Costs(dag, {name: Rate(inserted=percent / 100) for name in ("orders", "lineitem")})


Changes = Callable[[Dag, float], Costs]


def study(dags: Sequence[Dag], changes: Changes, lanes: Mapping[str, tuple[Sharing, Mode]]) -> Curves:
    """Lane → percentage and seconds of a refresh, summed over DAGs that are refreshed separately."""
    return {
        name: [
            (percent, sum(select(changes(dag, percent), Options(sharing), mode).seconds for dag in dags)) for percent in PERCENTS
        ]
        for name, (sharing, mode) in lanes.items()
    }


def of_one(dag: Dag) -> Sequence[Dag]:
    """A DAG for each view alone (§7.1, single views)."""
    return [Dag(dag.groups, {view: group}) for view, group in dag.views.items()]


# -- star queries over 22 relations ------------------------------------------------------------------------------------------


def stars(count: int, *, relations: int = 22, leaves: int = 3) -> Dag:
    """Views that are star queries each, over relations of (part, subpart, number); with 10 of them over 22 relations the paper's:
    a view has half of its relations in common with the one before."""
    names = [f"r{place:02}" for place in range(1, relations + 1)]
    views = {}
    for view in range(count):
        turn, place = divmod(view * 2, relations)
        centre = names[(place + turn) % relations]
        ends = [names[(place + turn + (1 + turn // 2) * (1 + each)) % relations] for each in range(leaves)]
        views[f"v{view + 1:03}"] = _star(centre, ends, 1e8)
    return Builder({name: Table(1e8, 12) for name in names}).dag(views)


def warehouse(count: int, *, leaves: int, facts: int = 10) -> Dag:
    """Views over fact tables with eight dimensions each, of which a view has some; every second one is aggregated."""
    tables = {f"fact{each:02}": Table(3e7, 24) for each in range(facts)}
    tables |= {f"dim{each:02}": Table(1e5, 20) for each in range(2 * facts + 8)}
    views = {}
    for view in range(count):
        turn, fact = divmod(view, facts)
        chosen = list(combinations(range(8), leaves))
        ends = [f"dim{2 * fact + each:02}" for each in chosen[turn * 7 % len(chosen)]]
        query = _star(f"fact{fact:02}", ends, 1e5)
        views[f"v{view + 1:03}"] = query._replace(aggregate=(", ".join(ends), 1e5)) if turn % 2 else query
    return Builder(tables).dag(views)


def _star(centre: str, ends: Sequence[str], values: float) -> Query:
    return Query(frozenset((centre, *ends)), frozenset(Join(centre, end, values) for end in ends))


def timed(dag: Dag) -> tuple[float, Selection]:
    began = time.perf_counter()
    found = select(inserts(dag, 1))
    return time.perf_counter() - began, found


def searches(dags: Mapping[str, Dag]) -> tuple[str, Curves]:
    """What a search finds and how long it takes, as a table and as a curve over the number of views."""
    rows, points = [], []
    for name, dag in dags.items():
        seconds, found = timed(dag)
        operations = sum(len(each.operations) for each in dag.groups)
        points.append((float(len(dag.views)), seconds))
        rows.append(
            (
                name,
                str(len(dag.views)),
                str(len(dag.groups)),
                str(operations),
                f"{seconds:.2f}",
                str(len(found.choices)),
                f"{found.nothing:.0f}",
                f"{found.seconds:.0f}",
            )
        )
    head = ("", "views", "groups", "operations", "seconds of the search", "chosen", "refresh, s: nothing chosen", "with them")
    return table(head, rows), {"search": points}


# -- tables and plots --------------------------------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    lines = ["| " + " | ".join(map(str.rjust, row, widths)) + " |" for row in (head, *rows)]
    return "\n".join((lines[0], "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|", *lines[1:]))


def draw(file: Path, title: str, labels: tuple[str, str], curves: Curves) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for name, points in curves.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=name)
    axes.set(title=title, xlabel=labels[0], ylabel=labels[1])
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    pyplot.close(figure)


def report(title: str, file: Path, curves: Curves) -> None:
    """One experiment as a table and a plot."""
    rows = [(f"{percent:g} %", *(f"{dict(points)[percent]:.1f}" for points in curves.values())) for percent in PERCENTS]
    print(f"\n{title}: seconds of a refresh\n\n{table(('inserted', *curves), rows)}")
    draw(file, title, ("rows inserted, %", "estimated seconds of a refresh"), curves)


@click.command(help=__doc__)
@click.option("--scale", type=float, default=10.0, show_default=True, help="The scale factor of TPC-H.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=OUT / "view_selection", show_default=True)
@click.option("--show", type=float, help="Print what is selected at this percentage, and nothing else.")
def main(scale: float, out: Path, show: float | None) -> None:
    dag = ten_views(scale)
    if show is not None:
        print(select(inserts(dag, show)).show())
        return
    for name, changes in (("all tables", inserts), ("orders and lineitem", loads)):
        for kind, dags in (("10 views together", [dag]), ("10 views separately", of_one(dag))):
            for about, lanes in (("materialisation", SHARED), ("policies", POLICIES)):
                title = f"TPC-H {scale:g}, {name}, {kind}"
                file = f"{about}_{name}_{kind}".replace(" ", "_")
                report(f"{title}, {about}", out / f"{file}.png", study(dags, changes, lanes))
    text, curves = searches({f"stars, {count}": stars(count) for count in range(10, 101, 10)})
    print(f"\nStar queries of four over 22 relations, 1 % inserted\n\n{text}")
    draw(out / "scalability.png", "star queries over 22 relations", ("views", "seconds of the search"), curves)
    text, _ = searches({f"{leaves} dimensions": warehouse(200, leaves=leaves) for leaves in (3, 4, 5, 6)})
    print(f"\n200 views over 10 fact tables with dimensions, 1 % inserted\n\n{text}")


if __name__ == "__main__":
    main()
