"""The refreshes of a model as bars in SVG, one bar per refresh, oldest first: rows, and seconds where they are known.

Colours are variables of the page's style. A bar's tooltip says what the table of the history says of that refresh.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log10
from xml.etree import ElementTree as ET

from markupsafe import Markup

from dbt_idivm.tools.report import text
from dbt_idivm.tools.report.facts import Refresh

MIN_REFRESHES = 2  # fewer are not worth a plot
_WIDTH, _PANEL, _LEFT, _TOP, _GAP = 800.0, 110.0, 64.0, 22.0, 16.0  # pixels, before the page scales the drawing
_WIDEST_BAR = 24.0
_MAX_LINEAR_ROWS = 50  # from here on the height is the logarithm: a rebuild writes powers of ten more rows than a refresh changes
_MAX_TIMES = 5  # labels below the bars
_INCREMENTAL, _BUILD = "var(--good)", "var(--warn)"


@dataclass(frozen=True)
class _Panel:
    """What the height of the bars shows. `scale`: value → a number to which the height is proportional."""

    name: str
    value: Callable[[Refresh], float | None]
    shown: Callable[[float], str]
    scale: Callable[[float], float]


def plot(history: Sequence[Refresh]) -> Markup | None:
    """An `<svg>` for a page, of a history with the newest refresh first; None for fewer than MIN_REFRESHES with a time."""
    drawn = [each for each in reversed(history) if each.at is not None and (each.what == "incremental" or each.is_build)]
    if len(drawn) < MIN_REFRESHES:
        return None
    most = max(each.rows or 0 for each in drawn)
    rows = _Panel("rows", lambda each: each.rows, text.count, _logarithm if most > _MAX_LINEAR_ROWS else float)
    seconds = _Panel("seconds", lambda each: each.seconds, text.seconds, float)
    panels = [rows, seconds] if any(each.seconds is not None for each in drawn) else [rows]
    height = _TOP + len(panels) * (_PANEL + _GAP) + _GAP
    about = f"{len(drawn)} refreshes over time; the table below has the same"
    root = ET.Element("svg", {"class": "plot", "role": "img", "aria-label": about, "viewBox": f"0 0 {_WIDTH:g} {height:g}"})
    _legend(root, drawn)
    for number, panel in enumerate(panels):
        _bars(root, panel, drawn, bottom=_TOP + number * (_PANEL + _GAP) + _PANEL)
    _times(root, drawn, height - 4)
    return Markup(ET.tostring(root, encoding="unicode"))


def _logarithm(value: float) -> float:
    return log10(1 + value)


def _middle(number: int, count: int) -> float:
    """The x of the middle of a bar."""
    return _LEFT + (number + 0.5) * (_WIDTH - _LEFT) / count


def _colour(refresh: Refresh) -> str:
    return _BUILD if refresh.is_build else _INCREMENTAL


def _legend(root: ET.Element, drawn: Sequence[Refresh]) -> None:
    at = _LEFT
    for name, colour in (("incremental", _INCREMENTAL), ("created or rebuilt", _BUILD)):
        if any(_colour(each) == colour for each in drawn):
            ET.SubElement(root, "rect", {"x": f"{at:g}", "y": "4", "width": "10", "height": "10", "fill": colour})
            _text(root, name, at + 15, 13, "start")
            at += 30 + 8 * len(name)


def _bars(root: ET.Element, panel: _Panel, drawn: Sequence[Refresh], bottom: float) -> None:
    values = [panel.value(each) for each in drawn]
    most = max(value for value in values if value is not None) if any(value is not None for value in values) else 0
    scale = (_PANEL - _GAP) / (panel.scale(most) or 1)
    top = bottom - panel.scale(most) * scale
    for y, label in ((bottom, "0"), (top, panel.shown(most))) if most else ((bottom, "0"),):
        line = {"x1": f"{_LEFT:g}", "x2": f"{_WIDTH:g}", "y1": f"{y:.1f}", "y2": f"{y:.1f}", "stroke": "var(--line)"}
        ET.SubElement(root, "line", line)
        _text(root, label, _LEFT - 6, y + 4, "end")
    _text(root, panel.name, _LEFT - 6, (top + bottom) / 2 + 4 if most else bottom - 12, "end")
    width = min(_WIDEST_BAR, 0.7 * (_WIDTH - _LEFT) / len(drawn))
    for number, (each, value) in enumerate(zip(drawn, values, strict=True)):
        if value is None:
            continue
        tall = max(panel.scale(value) * scale, 1.5)  # of no rows, too: there was a refresh
        place = {"x": f"{_middle(number, len(drawn)) - width / 2:.1f}", "y": f"{bottom - tall:.1f}"}
        bar = ET.SubElement(root, "rect", {**place, "width": f"{width:.1f}", "height": f"{tall:.1f}", "fill": _colour(each)})
        ET.SubElement(bar, "title").text = " ".join(_facts(each))


def _facts(refresh: Refresh) -> Sequence[str]:
    assert refresh.at is not None
    taken = () if refresh.seconds is None else (text.seconds(refresh.seconds),)
    return (text.when(refresh.at), refresh.what, text.changes(refresh), *taken)


def _times(root: ET.Element, drawn: Sequence[Refresh], y: float) -> None:
    """The times of some bars in their zone; days where not all are of one day."""
    times = [each.at for each in drawn if each.at is not None]
    shown = "%H:%M" if len({at.date() for at in times}) == 1 else "%b %d %H:%M"
    count = min(_MAX_TIMES, len(times))
    for number in sorted({round(step * (len(times) - 1) / (count - 1)) for step in range(count)}):
        _text(root, times[number].strftime(shown), _middle(number, len(times)), y, "middle")


def _text(root: ET.Element, content: str, x: float, y: float, anchor: str) -> None:
    style = {"text-anchor": anchor, "fill": "var(--quiet)", "font-size": "11"}
    ET.SubElement(root, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", **style}).text = content
