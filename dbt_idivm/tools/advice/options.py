"""Parse the options of `idivm advise` and statistics. Invalid input raises an error with a code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from dbt_idivm.cost.sizes import LARGEST
from dbt_idivm.declared_keys import relation_names
from dbt_idivm.errors import Finding, IdivmError, finding, listed, nearest
from dbt_idivm.project import Project
from dbt_idivm.tools.advice.measured import Last
from dbt_idivm.tools.advice.setting import last_part, of_table
from dbt_idivm.tools.dag.costs import Rate

_NUMBER = r"(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_RATE = re.compile(rf"(?P<table>[^=]+)=(?P<part>{_NUMBER})(?P<percent>%)?(?P<day>/day)?(:(?P<kind>inserted|updated|deleted))?")
_ROWS = re.compile(r"(?P<table>[^=]+)=(?P<rows>\d[\d_]*)")
_READS = re.compile(rf"(?P<model>[^=]+)=(?P<reads>{_NUMBER})(?:/day)?")
_KEY = re.compile(r"(?P<table>[^=]+)=(?P<columns>[^=,]+(?:,[^=,]+)*)")
_WIDEST = 1 << 20  # bytes of a row up to which statistics are believed


@dataclass(frozen=True)
class Key:
    """A key that the user asks about."""

    table: str
    columns: tuple[str, ...]


def read_rows(given: Sequence[str]) -> dict[str, float]:
    """Parse `TABLE=N`: table → number of rows. Raises IDIVM-115."""
    found = [_match(_ROWS, "--rows", each, "TABLE=N, such as orders=50_000_000") for each in given]
    return {each["table"].lower(): _number("--rows", each[0], each["rows"]) for each in found}


def read_rates(given: Sequence[str], tables: Sequence[str], refreshes: float) -> dict[str, Rate]:
    """Parse `TABLE=PART[%][/day][:kind]`: table → fraction that changes from one refresh to the next. Raises IDIVM-115 for other
    text, and for a table that no model reads."""
    found: dict[str, Rate] = {}
    for each in given:
        match = _match(_RATE, "--rate", each, "TABLE=PART[/day][:inserted|:updated|:deleted], such as orders=0.01/day")
        part = _number("--rate", each, match["part"]) / (100 if match["percent"] else 1) / (refreshes if match["day"] else 1)
        for table in _named("--rate", each, match["table"], tables):
            found[table] = replace(found.get(table, Rate()), **{match["kind"] or "inserted": part})
    return found


def read_reads(given: Sequence[str], models: Sequence[str]) -> dict[str, float]:
    """Parse `MODEL=N[/day]`: model → reads per day. Raises IDIVM-115."""
    found: dict[str, float] = {}
    for each in given:
        match = _match(_READS, "--reads", each, "MODEL=N/day, such as sales=100/day")
        for model in _named("--reads", each, match["model"], models):
            found[model.lower()] = _number("--reads", each, match["reads"])
    return found


def read_keys(given: Sequence[str], tables: Sequence[str]) -> tuple[Key, ...]:
    """Parse `TABLE=COLUMN,…`. Raises IDIVM-115."""
    found = []
    for each in given:
        match = _match(_KEY, "--key", each, "TABLE=COLUMN,…, such as orders=id")
        columns = tuple(name.strip() for name in match["columns"].split(","))
        found += [Key(table, columns) for table in _named("--key", each, match["table"], tables)]
    return tuple(found)


def _number(option: str, text: str, number: str) -> float:
    found = float(number.replace("_", ""))
    if found > LARGEST:
        raise IdivmError(finding(115, option=option, value=text, problem="the number is too large", do="write a smaller one"))
    return found


def check_keys(project: Project, keys: Iterable[Key]) -> None:
    """Raise IDIVM-304 for a column that a table does not have. Tables with unknown columns are not checked."""
    nodes = {name: node for node in project.keys.nodes.values() for name in relation_names(node)}
    found = []
    for key in keys:
        columns = project.columns_of(nodes[key.table]) if key.table in nodes else ()
        known = {each.lower() for each in columns}
        found += [
            finding(304, source=key.table, column=each, declared="--key", nearest=listed(nearest(each, columns)))
            for each in key.columns
            if known and each.lower() not in known
        ]
    if found:
        raise IdivmError(found)


def _match(pattern: re.Pattern[str], option: str, text: str, form: str) -> re.Match[str]:
    match = pattern.fullmatch(text)
    if match is None:
        raise IdivmError(finding(115, option=option, value=text, problem=f"it is not {form}", do="write it in this form"))
    return match


def _named(option: str, text: str, name: str, known: Sequence[str]) -> list[str]:
    found = [each for each in known if name.lower() in (each.lower(), last_part(each))]
    if not found:
        what = "model of that name" if option == "--reads" else f"model that reads a table {name}"
        raise IdivmError(
            finding(
                115,
                option=option,
                value=text,
                problem=f"there is no {what}",
                do=f"name one of {listed(nearest(name, known, 5)) or 'nothing: there is none'}",
            )
        )
    return found


def sizes_of(tables: Iterable[str], rows: Mapping[str, float], lies: Iterable[Finding] = ()) -> dict[str, float]:
    """Table → number of rows. Raises IDIVM-116 with all tables of unknown size, and with the findings of `lies` about them."""
    found = {table: of_table(rows, table) for table in tables}
    if missing := [table for table, count in found.items() if count is None]:
        raise IdivmError([finding(116, tables=listed(missing)), *(each for each in lies if each.details["table"] in missing)])
    return {table: count for table, count in found.items() if count is not None}


def statistics(project: Project) -> tuple[dict[str, float], list[Finding]]:
    """Relation → number of rows from plausible statistics in the catalog; and a finding (IDIVM-117) for each implausible one."""
    found: dict[str, float] = {}
    notes = []
    for unique_id, entry in {**project.catalog.get("nodes", {}), **project.catalog.get("sources", {})}.items():
        node = project.keys.nodes.get(unique_id)
        if node is None or not isinstance(entry.get("stats"), dict):
            continue
        rows, problem = _rows_of(entry["stats"])
        names = [each.lower() for each in relation_names(node)]
        if problem is not None:
            notes.append(finding(117, table=next(iter(names), unique_id), problem=problem))
        elif rows is not None:
            found.update(dict.fromkeys(names, rows))
    return found, notes


def _rows_of(stats: Mapping[str, Any]) -> tuple[float | None, str | None]:
    """The number of rows in dbt's statistics of a relation, and why it cannot be true; both None if there is none."""
    text = str(_value(stats, "statistics") or "")
    rows = _value(stats, "rows", "num_rows")
    counted, sized = re.search(r"(-?\d+) rows", text), re.search(r"(-?\d+) bytes", text)
    size = _value(stats, "bytes", "num_bytes") or (sized and sized[1])
    rows = (counted and counted[1]) if rows is None else rows
    if rows is None:
        return None, None
    try:
        count, volume = float(rows), None if size is None else float(size)
    except (TypeError, ValueError):
        return None, f"{rows!r} is not a number of rows"
    if not isfinite(count) or not 0 <= count <= LARGEST:
        return None, f"a table cannot have {rows} rows"
    if volume is not None and count and volume / count > _WIDEST:
        return None, f"{volume:,.0f} bytes of {count:,.0f} rows are {volume / count:,.0f} bytes for each row"
    return count, None


def _value(stats: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of these statistics that exists."""
    return next((stats[name].get("value") for name in names if isinstance(stats.get(name), dict)), None)


def contradicted(rows: Mapping[str, float], runs: Iterable[Last]) -> list[Finding]:
    """Findings for tables in which the last run saw more changed rows than their statistics give them rows."""
    notes = {}
    for run in runs:
        for name, changed in (run.changes or {}).items():
            count = of_table(rows, name)
            if count is not None and changed > 2 * count + 1:  # an update has two images
                notes[name] = finding(
                    117,
                    table=name,
                    problem=f"it is said to have {count:,.0f} rows, and the last run read {changed:,.0f} changed rows of it",
                )
    return list(notes.values())
