"""The results as Markdown tables: the lanes against `full`, and a row for each query and change with a column for each lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import geometric_mean
from typing import Any

from benchmarks.lanes import LANES
from benchmarks.results import BUILD, Record

Key = tuple[Any, ...]


def markdown(about: Mapping[str, Any], records: Sequence[Record]) -> str:
    """All experiments: seconds, the ratio to `full`, and what was read."""
    lanes = [name for name in LANES if any(record.lane == name for record in records)]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items() if number)
    lines = [
        f"Measured on {about['date']} at commit {about['commit']}, {about['cores']} cores, {about['memory_gb']} GB, "
        f"Python {about['python']}, {versions}.",
        f"Command: `{about['command']}`",
        "",
        "Seconds of a refresh over those of `full`, over all queries and changes; first builds are left out.",
        "",
        *table(["lane", "refreshes", "geometric mean", "best", "worst"], _ratio_rows(records, lanes)),
        "",
        "Seconds of a refresh, medians; in brackets the ratio to `full`. `*`: the lane rebuilt the view.",
        "",
        *table(
            ["workload", "query", "scale", "view rows", "change", *lanes],
            [_seconds_row(key, group, lanes) for key, group in [*grouped(records).items(), *together(records).items()]],
        ),
        "",
        "Megabytes read; in brackets Spark jobs, statements and seconds of the planner.",
        "",
        *table(
            ["workload", "query", "scale", "change", *lanes],
            [_work_row(key, group, lanes) for key, group in grouped(records).items()],
        ),
    ]
    return "\n".join(lines) + "\n"


def grouped(records: Sequence[Record]) -> dict[Key, dict[str, Record]]:
    """What belongs together: the lanes of one query and change."""
    found: dict[Key, dict[str, Record]] = {}
    for record in records:
        found.setdefault(_key(record), {})[record.lane] = record
    return found


def _key(record: Record) -> Key:
    parameters = ", ".join(f"{name} {value}" for name, value in record.parameters.items())
    return record.workload, record.query, record.scale, parameters, change_text(record)


def together(records: Sequence[Record]) -> dict[Key, dict[str, Record]]:
    """All queries of a workload after one change, as one: the sums of each lane that has all of them."""
    queries: dict[Key, dict[str, dict[str, Record]]] = {}
    for (workload, query, *rest), group in grouped(records).items():
        queries.setdefault((workload, *rest), {})[query] = group
    found: dict[Key, dict[str, Record]] = {}
    for (workload, *rest), groups in queries.items():
        lanes = set.intersection(*(set(group) for group in groups.values()))
        if len(groups) > 1 and len(lanes) > 1:
            found[workload, f"all {len(groups)} together", *rest] = {
                lane: replace(
                    first,
                    mode="",
                    seconds=sum(group[lane].seconds for group in groups.values()),
                    view_rows=sum(group[lane].view_rows for group in groups.values()),
                )
                for lane, first in next(iter(groups.values())).items()
                if lane in lanes
            }
    return found


def _ratio_rows(records: Sequence[Record], lanes: Sequence[str]) -> list[list[str]]:
    groups = grouped([record for record in records if record.change != BUILD]).values()
    found = {
        lane: [known for group in groups if lane in group and (known := ratio(group[lane], group))]
        for lane in lanes
        if lane != "full"
    }
    return [
        [lane, str(len(ratios)), *(f"{each:.2f}" for each in (geometric_mean(ratios), min(ratios), max(ratios)))]
        for lane, ratios in found.items()
        if ratios
    ]


def change_text(record: Record) -> str:
    if record.percent is not None:
        return f"{record.change}, {record.percent:g} %"
    return record.change if record.rows is None else f"{record.change}, {record.rows} rows"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def ratio(record: Record, group: Mapping[str, Record]) -> float | None:
    """Its seconds against those of `full`."""
    full = group.get("full")
    return record.seconds / full.seconds if full and full.seconds else None


def _seconds_row(key: Key, group: Mapping[str, Record], lanes: Sequence[str]) -> list[str]:
    workload, query, scale, parameters, change = key
    rows = next(iter(group.values())).view_rows
    return [
        workload,
        f"{query} {f'({parameters})' if parameters else ''}".strip(),
        f"{scale:g}",
        f"{rows:,}",
        change,
        *(_seconds(group.get(lane), group) for lane in lanes),
    ]


def _seconds(record: Record | None, group: Mapping[str, Record]) -> str:
    if record is None:
        return ""
    found = ratio(record, group)
    rebuilt = "*" if record.mode == "full" and record.lane != "full" else ""
    return f"{record.seconds:.2f}{rebuilt}" + ("" if found is None or record.lane == "full" else f" ({found:.2f})")


def _work_row(key: Key, group: Mapping[str, Record], lanes: Sequence[str]) -> list[str]:
    workload, query, scale, parameters, change = key
    return [
        workload,
        f"{query} {f'({parameters})' if parameters else ''}".strip(),
        f"{scale:g}",
        change,
        *(_work(group.get(lane)) for lane in lanes),
    ]


def _work(record: Record | None) -> str:
    if record is None:
        return ""
    return f"{record.bytes_read / 1e6:.1f} ({record.jobs}, {record.statements}, {record.planner_seconds:.2f})"
