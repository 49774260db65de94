"""The results as plots. What is drawn is found by pure functions over the records; only `draw` knows matplotlib."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.lanes import LANES
from benchmarks.report import change_text, grouped, ratio
from benchmarks.results import BUILD, Record

COLOURS = dict(
    zip(
        LANES,
        (
            "#7f7f7f",
            "#bcbd22",
            "#1f77b4",
            "#17becf",
            "#2ca02c",
            "#d62728",
            "#aec7e8",
            "#9467bd",
            "#e377c2",
            "#ff7f0e",
            "#000000",
            "#8c564b",
        ),
        strict=True,
    )
)


@dataclass(frozen=True)
class Axis:
    """What a curve is drawn over."""

    label: str
    value: Callable[[Record], float]
    logarithmic: bool = False


AXES: Mapping[str, Axis] = {
    "changed": Axis("rows changed, %", lambda record: record.percent or 0, logarithmic=True),
    "diff": Axis("rows changed", lambda record: record.rows or 0),
    "view_rows": Axis("rows of the view", lambda record: record.view_rows, logarithmic=True),
    "joins": Axis("joins", lambda record: _number(record.query)),
    "selectivity": Axis("selectivity, %", lambda record: record.parameters["selectivity"]),
    "fanout": Axis("fanout", lambda record: record.parameters["fanout"]),
}


@dataclass(frozen=True)
class Curves:
    """One plot of seconds over an axis: lane → its points, in order."""

    name: str
    title: str
    axis: Axis
    points: Mapping[str, tuple[tuple[float, float], ...]]


@dataclass(frozen=True)
class Bars:
    """One plot of ratios to `full`: for each query and change, lane → ratio."""

    name: str
    title: str
    ratios: Mapping[str, Mapping[str, float]]


def curves(records: Sequence[Record]) -> list[Curves]:
    """A plot for each query of each experiment that is about an axis; chains of joins of one kind are one plot."""
    found: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        if record.purpose in AXES and record.change != BUILD:
            query = re.sub(r"_\d+$", "", record.query)
            found.setdefault((record.purpose, record.workload, query), []).append(record)
    return [
        Curves(f"{purpose}_{workload}_{query}", f"{workload}: {query}", AXES[purpose], _points(AXES[purpose], group))
        for (purpose, workload, query), group in found.items()
    ]


def _points(axis: Axis, records: Sequence[Record]) -> dict[str, tuple[tuple[float, float], ...]]:
    lanes = [name for name in LANES if any(record.lane == name for record in records)]
    return {
        lane: tuple(sorted((axis.value(record), record.seconds) for record in records if record.lane == lane)) for lane in lanes
    }


def bars(records: Sequence[Record]) -> list[Bars]:
    """A plot for each workload at each scale."""
    found: dict[tuple[str, float], dict[str, dict[str, float]]] = {}
    shown = [record for record in records if record.purpose == "queries" and record.change != BUILD]
    for group in grouped(shown).values():
        one = next(iter(group.values()))
        ratios = {lane: known for lane, record in group.items() if (known := ratio(record, group)) is not None}
        if ratios:
            found.setdefault((one.workload, one.scale), {})[f"{one.query}\n{change_text(one)}"] = ratios
    return [
        Bars(f"queries_{workload}_{scale:g}", f"{workload}, scale {scale:g}", ratios)
        for (workload, scale), ratios in found.items()
    ]


def _number(query: str) -> float:
    found = re.search(r"_(\d+)$", query)
    return float(found[1]) if found else 0


def draw(records: Sequence[Record], folder: Path) -> list[Path]:
    """Write all plots as PNG files into the folder."""
    import matplotlib

    matplotlib.use("Agg")
    return [*(_draw_curves(each, folder) for each in curves(records)), *(_draw_bars(each, folder) for each in bars(records))]


def _draw_curves(plot: Curves, folder: Path) -> Path:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for lane, points in plot.points.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=lane, color=COLOURS[lane])
    if plot.axis.logarithmic:
        axes.set_xscale("log")
    axes.set(title=plot.title, xlabel=plot.axis.label, ylabel="seconds of a refresh")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    return _saved(figure, folder / f"{plot.name}.png")


def _draw_bars(plot: Bars, folder: Path) -> Path:
    from matplotlib import pyplot

    lanes = [lane for lane in LANES if lane != "full" and any(lane in ratios for ratios in plot.ratios.values())]
    width = 0.8 / max(1, len(lanes))
    figure, axes = pyplot.subplots(figsize=(max(6, 1.6 * len(plot.ratios)), 4.5), layout="constrained")
    for turn, lane in enumerate(lanes):
        places = [place for place, ratios in enumerate(plot.ratios.values()) if lane in ratios]
        heights = [ratios[lane] - 1 for ratios in plot.ratios.values() if lane in ratios]
        axes.bar([place + turn * width for place in places], heights, width, bottom=1, label=lane, color=COLOURS[lane])
    axes.axhline(1, color=COLOURS["full"], linewidth=1)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.set_xticks([place + width * (len(lanes) - 1) / 2 for place in range(len(plot.ratios))], list(plot.ratios), fontsize=7)
    axes.set(title=plot.title, ylabel="seconds of a refresh / of a rebuild")
    axes.legend()
    return _saved(figure, folder / f"{plot.name}.png")


def _saved(figure: object, file: Path) -> Path:
    from matplotlib import pyplot

    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)  # type: ignore[attr-defined]
    pyplot.close(figure)  # type: ignore[arg-type]
    return file
