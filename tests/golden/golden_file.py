"""A golden file: SQL and SQL comments. Sections begin with `-- <name>`; the test writes the ones after `view` and `data`.

-- title         what the case shows
-- schema        CREATE TABLE …, with the key as PRIMARY KEY
-- view          the SELECT; `-- view (no split)` makes operators convert every update (see World), `-- view (tuple)` is
                 maintained tuple by tuple, `-- view (caches)` over the intermediate caches of the paper
-- data          optional: start rows, then after each `-- then` a batch of changes
-- ids           the operator tree with IDs
-- base diffs, -- rules, -- Δ-script (naive), -- Δ-script (optimised), -- apply
-- apply (updates)   with caches: the MERGEs of a refresh in which rows only got other values
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path

import sqlglot
from sqlglot import exp

from dbt_idivm.explain import delta_script, tree
from dbt_idivm.operators.additive import AdditiveRule
from dbt_idivm.operators.aggregate import Call
from dbt_idivm.operators.scan import DiffRows
from dbt_idivm.script.additive import Additive
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.diff import FeedDiff, NetChanges, Row
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import bind
from dbt_idivm.script.symbolic import symbolic
from tests.property.plans import Options, Table, idiff_way, plan_of

TARGET = "maintained"
VIEWS = {
    "view": Options(),
    "view (no split)": Options(split=False),
    "view (tuple)": Options(strategy="tuple", additive=False),
    "view (caches)": Options(caches="all"),
}
INPUTS = ("title", "schema", *VIEWS, "data")
# folder → what its files show
SHOWN = {
    "operators": ("ids", "base diffs", "rules", "Δ-script (naive)", "Δ-script (optimised)"),
    "apply": ("ids", "rules", "apply"),
    "views": ("ids", "rules", "Δ-script (optimised)"),
}
CACHED = ("ids", "rules", "apply (updates)")
_HEAD = re.compile(
    r"^-- (title|schema|view(?: \((?:no split|tuple|caches)\))?|data|ids|base diffs|rules|Δ-script \(\w+\)|"
    r"apply(?: \(updates\))?)$",
    re.MULTILINE,
)
_APPLY = re.compile(r"^-- apply.*", re.MULTILINE | re.DOTALL)
_WIDTH = 120


@dataclass(frozen=True)
class Golden:
    """The sections of one file."""

    path: Path
    sections: dict[str, str]

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(_table(statement) for statement in sqlglot.parse(self.sections["schema"], dialect="spark"))

    @property
    def view(self) -> str:
        return self.sections[self._kind].strip().rstrip(";")

    @property
    def options(self) -> Options:
        return VIEWS[self._kind]

    @property
    def _kind(self) -> str:
        return next(kind for kind in VIEWS if kind in self.sections)

    @property
    def data(self) -> list[list[str]]:
        """The statements of the start and of each batch."""
        parts = re.split(r"^-- then\n", self.sections.get("data", ""), flags=re.MULTILINE)
        return [[each for each in part.split(";") if each.strip()] for part in parts if part.strip()]

    def plan(self) -> Plan:
        return plan_of(self.tables, self.view, self.options)

    def rendered(self) -> str:
        """The file as it should be."""
        plan = self.plan()
        if plan.caches:
            shown = {name: cached_text(name, plan) for name in CACHED}
        else:
            shown = {name: text(name, plan) for name in SHOWN[self.path.parent.name]}
        inputs = {name: self.sections[name] for name in INPUTS if name in self.sections}
        return "\n".join(f"-- {name}\n{body.strip()}\n" for name, body in (inputs | shown).items())


def read(path: Path) -> Golden:
    parts = _HEAD.split(path.read_text())
    return Golden(path, dict(zip(parts[1::2], parts[2::2], strict=True)))


def text(name: str, plan: Plan) -> str:
    """The body of one section."""
    if name == "ids":
        return _comments(tree(plan.root))
    if name == "base diffs":
        return _comments([str(diff) for diffs in idiff_way(plan).base.values() for diff in diffs])
    if name == "rules":
        lines = [f"{firing.rule}  ({firing.incoming} → {firing.outgoing})" for firing in idiff_way(plan).firings]
        return _comments([*lines, *(f"{rule.name}  ({call})" for rule, call in additive_calls(plan))])
    optimised = delta_script(plan, TARGET)
    if name == "apply":
        found = _APPLY.search(optimised)
        return compact(found.group() if found else "-- nothing")
    if name == "Δ-script (optimised)":
        return "\n".join(_steps(optimised))
    naive, kept = _steps(delta_script(plan, TARGET, optimised=False)), {_unnumbered(step) for step in _steps(optimised)}
    return "\n".join(f"{step.splitlines()[0]}: see below" if _unnumbered(step) in kept else step for step in naive)


def additive_calls(plan: Plan) -> tuple[tuple[AdditiveRule, Call], ...]:
    additive = plan.way("additive")
    return additive.state.calls if isinstance(additive, Additive) else ()


class _Updates(NetChanges):
    """Rows of all tables changed, none was inserted or deleted, none moved."""

    def rows(self, leaf: DiffRows) -> tuple[Row, ...] | None:
        return () if leaf.diff_class in ("ins", "del", "rec") else None


def cached_text(name: str, plan: Plan) -> str:
    """The body of one section for each cache, then for the view."""
    bodies = []
    for cache in plan.caches:
        why = [f"because {cache.reason}"] if name == "ids" else []
        bodies.append(_comments([f"cache {cache.number}", *why]) + "\n" + _part(name, cache.plan, cache.table))
    return "\n".join([*bodies, "-- view over it\n" + _part(name, replace(plan, caches=()), TARGET)])


def _part(name: str, plan: Plan, target: str) -> str:
    return updates(plan, target) if name == "apply (updates)" else text(name, plan)


def updates(plan: Plan, target: str) -> str:
    """The MERGE of a refresh that has updates only (idIVM, Figure 7)."""
    changes = _Updates({table: FeedDiff(table, 0, 1) for table in plan.tables})
    script = bind(plan, replace(symbolic(plan), changes=changes), target)
    return f"-- {script.shape}\n{compact(DELTA.sql(script.statement))};" if script else "-- nothing"


def _steps(script: str) -> list[str]:
    """The i-diffs of a script, each with its comments and its query."""
    return [compact(step) for step in re.split(r"^(?=-- i-diff)", _APPLY.sub("", script), flags=re.MULTILINE) if step.strip()]


def _unnumbered(step: str) -> str:
    return re.sub(r"^-- i-diff \d+", "", step)


def compact(script: str) -> str:
    """The script with each line and what is indented below it on one line, where that fits."""
    lines = [line for line in script.splitlines() if line.strip()]
    comments = list(takewhile(lambda line: line.startswith("--"), lines))
    lines = _joined(lines[len(comments) :])
    whole = " ".join(line.strip() for line in lines)
    return "\n".join([*comments, *([whole] if len(whole) <= _WIDTH else lines)])


def _joined(lines: list[str]) -> list[str]:
    found: list[str] = []
    while lines:
        first, *rest = lines
        below = list(takewhile(partial(_is_deeper, _depth(first)), rest))
        after = rest[len(below) :]
        closing = [after[0]] if after and below and after[0].strip().startswith(")") else []
        inside = " ".join(line.strip() for line in (first, *below, *closing)).replace("( ", "(").replace(" )", ")")
        whole = first[: _depth(first)] + inside
        if below and len(whole) <= _WIDTH:
            found.append(whole)
            lines = after[len(closing) :]
        else:
            found.append(first)
            lines = rest
    return found


def _is_deeper(depth: int, line: str) -> bool:
    return _depth(line) > depth


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _comments(lines: list[str]) -> str:
    return "\n".join(f"-- {line}" for line in lines)


def _table(statement: exp.Expr | None) -> Table:
    """A table by its CREATE TABLE."""
    assert isinstance(statement, exp.Create)
    columns = [each for each in statement.this.expressions if isinstance(each, exp.ColumnDef)]
    key = statement.find(exp.PrimaryKey)
    names = tuple(each.name for each in key.expressions) if key else None
    return Table(statement.this.this.name, tuple((c.name, c.kind.sql("spark").lower()) for c in columns), names)
