"""A model's refreshes over time, drawn by matplotlib as SVG: rows, and seconds where known.

matplotlib is needed only here, so it is imported when something is drawn. Its global state is not used, and its output is reduced
to what a page needs: no namespaces, no fonts, and colours replaced by variables of the page's style.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from io import StringIO
from typing import Any
from xml.etree import ElementTree as ET

from markupsafe import Markup

from dbt_idivm.report.facts import Refresh

LEAST = 2  # refreshes; fewer are not plotted
_WIDTH, _PANEL = 8.0, 1.5  # inches
# Placeholder colours for variables of the page's style, because matplotlib has no variables.
_INK, _GRID, _INCREMENTAL, _BUILD, _FAILED = "#010203", "#010204", "#010205", "#010206", "#010207"
_VARIABLES: Mapping[str, str] = {
    _INK: "var(--quiet)",
    _GRID: "var(--line)",
    _INCREMENTAL: "var(--good)",
    _BUILD: "var(--warn)",
    _FAILED: "var(--bad)",
}
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "idivm",
    "axes.edgecolor": _GRID,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "text.color": _INK,
    "grid.color": _GRID,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
# (label, which refreshes, marker shape, colour). The shapes differ for people who cannot distinguish the colours.
_SERIES: tuple[tuple[str, Callable[[Refresh], bool], str, str], ...] = (
    ("incremental", lambda each: each.what == "incremental", "o", _INCREMENTAL),
    ("created or rebuilt", lambda each: each.is_build, "s", _BUILD),
)
_SPACES = re.compile(r"\s+")
_FONT = re.compile(r" ?font-family: [^;\"]*;")  # the page's font is used
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def can_plot() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def plot(history: Sequence[Refresh], key: str) -> Markup | None:
    """An `<svg>` element for a page; None if there are too few refreshes. `key`: prefix of its identifiers on the page."""
    drawn = [each for each in reversed(history) if each.at is not None and (each.what == "incremental" or each.is_build)]
    if len(drawn) < LEAST:
        return None
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    timed = [each for each in drawn if each.seconds is not None]
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(_WIDTH, _PANEL * (2 if timed else 1) + 0.5), layout="constrained")
        panels = figure.subplots(2 if timed else 1, sharex=True, squeeze=False)[:, 0]
        _panel(panels[0], drawn, lambda each: each.rows, "rows")
        if timed:
            _panel(panels[1], timed, lambda each: each.seconds, "seconds")
        _time_axis(panels[-1], drawn[0])
        panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(_SERIES), frameon=False, borderaxespad=0.2)
        text = StringIO()
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(text, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return Markup(_for_page(text.getvalue(), key, f"{len(drawn)} refreshes over time; the table below has the same"))


def _panel(axes: Any, drawn: Sequence[Refresh], value: Callable[[Refresh], float | None], name: str) -> None:
    """Draw one panel: marks on stems. The axis of rows is logarithmic, because incremental refreshes and rebuilds differ by
    powers of ten."""
    for label, belongs, shape, colour in _SERIES:
        points = [(each.at, value(each) or 0) for each in drawn if belongs(each)]
        times, heights = [at for at, _ in points], [height for _, height in points]
        if points:
            axes.vlines(times, 0, heights, colors=colour, linewidth=1.5, alpha=0.6)
            axes.plot(times, heights, shape, color=colour, markersize=4.5, label=label, clip_on=False)
    axes.set_ylabel(name)
    axes.grid(axis="y", linewidth=0.6)
    axes.set_axisbelow(True)
    if name == "rows" and max(value(each) or 0 for each in drawn) > 50:
        axes.set_yscale("symlog", linthresh=10)
        axes.yaxis.set_major_formatter(lambda at, _: f"{at:,.0f}")
        axes.minorticks_off()
    axes.set_ylim(bottom=0)


def _time_axis(axes: Any, first: Refresh) -> None:
    """Format the time axis in the time zone of the refreshes."""
    from matplotlib import dates

    made: Any = dates  # without types
    zone = first.at.tzinfo if first.at is not None else None
    locator = made.AutoDateLocator(minticks=3, maxticks=8, tz=zone)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(made.ConciseDateFormatter(locator, tz=zone))


def _for_page(text: str, key: str, about: str) -> str:
    """Adapt the drawing to an HTML page: unique identifiers, no namespaces."""
    root = ET.fromstring(text)
    _remove_styles(root)
    for each in root.iter():
        each.tag = each.tag.rpartition("}")[2]
        each.attrib = {name.rpartition("}")[2]: value for name, value in each.attrib.items()}
    used = {found for each in root.iter() for value in each.attrib.values() for found in _REFERENCE.findall(value)}
    used |= {each.attrib["href"].removeprefix("#") for each in root.iter() if each.attrib.get("href", "").startswith("#")}
    for each in root.iter():
        each.attrib = {name: _renamed(name, value, key) for name, value in each.attrib.items() if name != "id" or value in used}
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"class": "plot", "role": "img", "aria-label": about}
    found = _FONT.sub("", _SPACES.sub(" ", ET.tostring(root, encoding="unicode")))
    for colour, variable in _VARIABLES.items():
        found = found.replace(colour, variable)
    return found


def _remove_styles(root: ET.Element) -> None:
    """Remove matplotlib's style rule, because it would apply to all elements of the page."""
    for parent in [each for each in root.iter() if any(child.tag.endswith("}style") for child in each)]:
        for child in [child for child in parent if child.tag.endswith("}style")]:
            parent.remove(child)


def _renamed(name: str, value: str, key: str) -> str:
    if name == "id":
        return f"{key}-{value}"
    if name == "href" and value.startswith("#"):
        return f"#{key}-{value[1:]}"
    return _REFERENCE.sub(rf"url(#{key}-\1)", value)
