"""The pictures of README.md and docs/, each in a light and a dark copy: `python -m benchmarks.pictures` writes docs/images/.

The rows are those of docs/tutorial.md, the statement is the planner's, and the seconds are those of docs/benchmarks.md.
"""

from __future__ import annotations

import csv
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from html import escape
from io import StringIO
from pathlib import Path

from sqlglot import exp

from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.definition.compiling import compiled
from dbt_idivm.definition.questions import without_engine
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.schema_file import plain_sql
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.diff import InlineDiff
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.render import bind, render_rows
from dbt_idivm.script.source_rows import SourceRows
from dbt_idivm.script.ways import STRATEGIES

ROOT = Path(__file__).parents[1]
_FILE = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.DOTALL | re.MULTILINE)
Row = tuple[str, ...]


@dataclass(frozen=True)
class Colours:
    """`soft` is the background of what changed, `line` of frames and rows."""

    text: str
    muted: str
    line: str
    accent: str
    soft: str
    other: str


COLOURS: Mapping[str, Colours] = {
    "": Colours("#1f2328", "#59636e", "#d1d9e0", "#00796b", "#d3f0ea", "#9aa4ae"),
    "_dark": Colours("#e6edf3", "#9198a1", "#3d444d", "#4dc4b4", "#123b36", "#6e7681"),
}
_SANS = "'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
_MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def files_of(page: str) -> dict[str, str]:
    """Path → text of the files that a page shows: the blocks with a title."""
    return dict(_FILE.findall(page))


def pictures(root: Path) -> dict[str, str]:
    """Path below the project → SVG. `root` has the two pages that they are made from."""
    tutorial = files_of((root / "docs/tutorial.md").read_text(encoding="utf-8"))
    measured = measurements((root / "docs/benchmarks.md").read_text(encoding="utf-8"))
    drawn = {}
    for suffix, colours in COLOURS.items():
        drawn[f"docs/images/one_row{suffix}.svg"] = one_row(tutorial, colours)
        drawn[f"docs/images/costs{suffix}.svg"] = costs(measured, colours)
        drawn[f"docs/images/ids{suffix}.svg"] = ids(colours)
        drawn[f"docs/images/propagation{suffix}.svg"] = propagation(colours)
    return drawn


# One changed row


@dataclass(frozen=True)
class Table:
    name: str
    columns: Row
    rows: tuple[Row, ...]


CHANGE = "update customers set name = 'Anne' where id = 4"


def one_row(files: Mapping[str, str], colours: Colours) -> str:
    """Tables, statement and view of the tutorial's change, before and after it."""
    tables = [_seed(name, files[f"seeds/{name}.csv"]) for name in ("customers", "orders")]
    query = plain_sql(files["models/order_names.sql"])
    before, after = (_evaluated(tables, query, change) for change in (None, CHANGE))
    customers, orders = tables
    changed = _evaluated(tables, "select * from customers order by id", CHANGE)
    ink = _Ink(colours)
    ink.label(20, 24, "one row of a source changes")
    ink.table(20, 40, customers, changed.rows)
    ink.table(20, 190, orders, orders.rows, faded=True)
    ink.text(272, 202, "not read", anchor="end", fill=colours.muted, size=12)
    ink.label(280, 24, "dbt run writes with one statement")
    ink.code(280, 52, statement_of(query, tables).splitlines(), width=352)
    ink.arrow(196, 112, 276)
    ink.arrow(636, 112, 700)
    ink.label(700, 24, "two rows of the model change")
    ink.table(700, 40, Table("order_names", before.columns, before.rows), after.rows)
    return ink.svg(980, 364, "One changed row becomes one UPDATE")


def _seed(name: str, text: str) -> Table:
    columns, *rows = csv.reader(StringIO(text))
    return Table(name, tuple(columns), tuple(map(tuple, rows)))


def _evaluated(tables: Sequence[Table], query: str, change: str | None) -> Table:
    """The rows of a query over the tables, after the change. The SQL of the tutorial means the same to SQLite."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in tables:
            connection.execute(f"create table {table.name} ({' numeric, '.join(table.columns)} numeric)")
            connection.executemany(f"insert into {table.name} values ({', '.join('?' * len(table.columns))})", table.rows)
        if change:
            connection.execute(change)
        cursor = connection.execute(query)
        rows = sorted(tuple(map(str, row)) for row in cursor)
        return Table("", tuple(column[0] for column in cursor.description), tuple(rows))


def statement_of(query: str, tables: Sequence[Table]) -> str:
    """The statement by which the tutorial's refresh writes, as the planner makes it of the change."""
    kinds = {"id": "bigint", "customer_id": "bigint", "price": "bigint"}
    infos = [
        TableInfo(table.name, tuple(Attribute(name, kinds.get(name, "string")) for name in table.columns), ("id",), "test")
        for table in tables
    ]
    plan = without_engine(compiled(query, Catalog({info.name: info for info in infos}), ways=STRATEGIES["id"])).plan
    net_diff = InlineDiff(("id", "name"), (((4, "Ann"), -1), ((4, "Anne"), 1)))
    script = bind(plan, Binding(changes=net_changes(plan, {"customers": net_diff})), "main.order_names")
    assert script is not None
    source = SourceRows(("c__id", "c__name"), ("bigint", "string"), ((4, "Anne"),))
    statement = render_rows(script, source, DELTA)
    assert isinstance(statement, exp.Update)
    return DELTA.sql(statement)


# What it costs


@dataclass(frozen=True)
class Measured:
    """A row of the table in docs/benchmarks.md: seconds of a rebuild and of `auto`. `rebuilt`: `auto` chose a rebuild."""

    rows: str
    seconds: Mapping[str, tuple[float, float]]  # the query → both
    rebuilt: bool


_QUERIES = {"join view": (1, 2), "sum per device": (3, 4)}


def measurements(page: str) -> list[Measured]:
    """The table below *Refresh and rebuild by size*."""
    table = page.partition("## Refresh and rebuild by size\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")][2:]
    number = re.compile(r"[\d.]+")

    def seconds(cell: str) -> float:
        found = number.match(cell)
        assert found, cell
        return float(found[0])

    return [
        Measured(
            row[0],
            {query: (seconds(row[old]), seconds(row[new])) for query, (old, new) in _QUERIES.items()},
            "rebuilt" in row[2],
        )
        for row in rows
    ]


def costs(measured: Sequence[Measured], colours: Colours) -> str:
    """Seconds of a rebuild and of a refresh under `auto`, for each size and query."""
    ink = _Ink(colours)
    ink.text(138, 24, "rows joined", anchor="end", fill=colours.muted)
    most = max(max(pair) for each in measured for pair in each.seconds.values())
    for panel, query in enumerate(_QUERIES):
        left = 150 + panel * 390
        ink.label(left, 24, f"{query}, seconds")
        for turn, each in enumerate(measured):
            top = 44 + turn * 48
            if panel == 0:
                ink.text(left - 12, top + 20, each.rows, anchor="end", size=13)
            for bar, (seconds, colour) in enumerate(zip(each.seconds[query], (colours.other, colours.accent), strict=True)):
                width, y = 280 * seconds / most, top + bar * 16
                ink.box(left, y, width, 13, fill=colour)
                shown = f"{seconds:.1f}" if seconds < 10 else f"{seconds:g}"
                ink.text(left + width + 6, y + 11, f"{shown} (rebuilt)" if bar and each.rebuilt else shown, size=12)
    bottom = 44 + 48 * len(measured) + 16
    ink.box(150, bottom - 10, 13, 13, fill=colours.other)
    ink.text(170, bottom + 1, "rebuild, as dbt's table", size=12)
    ink.box(340, bottom - 10, 13, 13, fill=colours.accent)
    ink.text(360, bottom + 1, "refresh by dbt-idivm, strategy auto", size=12)
    return ink.svg(900, bottom + 14, "Seconds of a rebuild and of a refresh, by the size of the joined table")


# The paper in ten minutes


def ids(colours: Colours) -> str:
    """The change of a price, as whole rows of the view and as one i-diff that names them by a part of their ID."""
    ink = _Ink(colours)
    view = Table("view", ("did", "pid", "price"), (("1", "1", "10"), ("2", "1", "10"), ("2", "2", "20"), ("3", "1", "10")))
    after = tuple((*row[:2], "11") if row[1] == "1" else row for row in view.rows)
    ink.label(20, 24, "whole rows: three, found by a join")
    rows = tuple(row for row in after if row[1] == "1")
    ink.table(20, 40, Table("changes of the view", view.columns, rows), rows, all_changed=True)
    ink.label(310, 24, "an i-diff: one row, which names three")
    ink.table(310, 40, Table("∆u(pid; price)", ("pid", "price"), (("1", "11"),)), (("1", "11"),), all_changed=True)
    ink.arrow(440, 97, 610)
    ink.label(620, 24, "the view")
    ink.table(620, 40, view, after)
    return ink.svg(800, 200, "The same change as tuples and as an i-diff")


def propagation(colours: Colours) -> str:
    """The i-diff of a price on its way through the operators of the running example."""
    ink = _Ink(colours)
    steps = (
        ("parts", "∆u(pid = 1; price = 11)", "the net change of the table"),
        ("⋈ devices_parts", "∆u(pid = 1; price = 11)", "the join reads pid, which has not changed: nothing is looked up"),
        ("⋈ devices", "∆u(pid = 1; price = 11)", "the same"),
        ("σ category = 'phone'", "∆u(pid = 1; price = 11)", "names rows that may not be in the view, which is harmless"),
        ("π did, pid, price", "∆u(pid = 1; price = 11)", "the view's own columns: UPDATE … SET price = 11 WHERE pid = 1"),
    )
    for turn, (operator, diff, why) in enumerate(reversed(steps)):
        y = 16 + turn * 58
        ink.box(20, y, 190, 34, stroke=colours.line)
        ink.text(115, y + 22, operator, anchor="middle", mono=True)
        ink.text(232, y + 15, diff, mono=True, fill=colours.accent)
        ink.text(232, y + 32, why, fill=colours.muted, size=12)
        if turn:
            ink.line(115, y - 4, 115, y - 22, head=True)
    return ink.svg(720, 16 + 58 * len(steps), "An i-diff passes from the table up to the view")


# Ink


class _Ink:
    """Collects the parts of one picture."""

    def __init__(self, colours: Colours) -> None:
        self.colours = colours
        self.parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        size: int = 13,
        mono: bool = False,
        fill: str = "",
        bold: bool = False,
        struck: bool = False,
    ) -> None:
        extra = (' font-weight="600"' if bold else "") + (' text-decoration="line-through"' if struck else "")
        family = _MONO if mono else _SANS
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-family="{family}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{fill or self.colours.text}"{extra} xml:space="preserve">{escape(text)}</text>'
        )

    def label(self, x: float, y: float, text: str) -> None:
        self.text(x, y, text, bold=True)

    def box(self, x: float, y: float, width: float, height: float, *, fill: str = "none", stroke: str = "none") -> None:
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:.4g}" height="{height:g}" rx="2" fill="{fill}" stroke="{stroke}"/>'
        )

    def line(self, x: float, y: float, to_x: float, to_y: float, *, head: bool = False) -> None:
        end = ' marker-end="url(#head)"' if head else ""
        self.parts.append(f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{self.colours.accent}" stroke-width="1.5"{end}/>')

    def arrow(self, x: float, y: float, to_x: float) -> None:
        self.line(x, y, to_x - 8, y, head=True)

    def code(self, x: float, y: float, lines: Sequence[str], width: float) -> None:
        self.box(x, y, width, 20 * len(lines) + 20, stroke=self.colours.accent)
        for turn, line in enumerate(lines):
            self.text(x + 12, y + 24 + 20 * turn, line, size=12, mono=True)

    def table(
        self, x: float, y: float, table: Table, after: Sequence[Row], *, faded: bool = False, all_changed: bool = False
    ) -> None:
        """The rows of a table. A cell that differs in `after` shows both values."""
        widths = [18 + 7.5 * max(len(shown) for shown in column) for column in _columns(table, after)]
        starts = [x + sum(widths[:turn]) for turn in range(len(widths))]
        fill = self.colours.other if faded else ""
        self.text(x, y + 12, table.name, mono=True, size=12, fill=self.colours.muted)
        for start, column in zip(starts, table.columns, strict=True):
            self.text(start + 6, y + 34, column, mono=True, size=12, bold=True, fill=fill)
        self.parts.append(f'<path d="M{x:g} {y + 40:g}h{sum(widths):g}" stroke="{self.colours.line}"/>')
        for turn, (old, new) in enumerate(zip(table.rows, after, strict=True)):
            base = y + 57 + 20 * turn
            if old != new or all_changed:
                self.box(x, base - 14, sum(widths), 19, fill=self.colours.soft)
            for start, was, now in zip(starts, old, new, strict=True):
                self.text(
                    start + 6, base, was, mono=True, size=12, struck=was != now, fill=self.colours.muted if was != now else fill
                )
                if was != now:
                    self.text(
                        start + 6 + 7.5 * (len(was) + 1), base, now, mono=True, size=12, bold=True, fill=self.colours.accent
                    )

    def svg(self, width: int, height: int, title: str) -> str:
        head = (
            f'<defs><marker id="head" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0L8 4L0 8z" fill="{self.colours.accent}"/></marker></defs>'
        )
        size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
                f"<title>{escape(title)}</title>",
                head,
                *self.parts,
                "</svg>",
                "",
            )
        )


def _columns(table: Table, after: Sequence[Row]) -> Iterator[list[str]]:
    """For each column, the texts that its cells show."""
    for place, name in enumerate(table.columns):
        pairs = ((old[place], new[place]) for old, new in zip(table.rows, after, strict=True))
        yield [name, *(old if old == new else f"{old} {new}" for old, new in pairs)]


def write(root: Path) -> None:
    """Write all pictures below `root`."""
    for name, text in pictures(root).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(ROOT)
