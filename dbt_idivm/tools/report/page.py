"""The page: one HTML file without external resources and scripts. Jinja escapes all texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dbt_idivm.tools.flowchart.graph import Graph, Kind, Node
from dbt_idivm.tools.flowchart.svg import inline_svg
from dbt_idivm.tools.flowchart.text import in_xml
from dbt_idivm.tools.report import text
from dbt_idivm.tools.report.facts import Model, Report
from dbt_idivm.tools.report.highlight import highlighted, quoted
from dbt_idivm.tools.report.plot import plot
from dbt_idivm.tools.report.rate import rate_of

LARGE = 40  # nodes: a drawing of more is shown as a whole first, because its first corner may be empty
FEW = 12  # models: then a page shows their trees and histories at once
_NOT_IN_ANCHORS = re.compile(r"[^\w.-]+", re.ASCII)


def page(report: Report) -> str:
    """The HTML of the page. It depends on the report alone."""
    anchors = anchors_of(report.models)
    found = (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            notes=report.notes,
            anchors=anchors,
            plots=_plots(report.models),
            few=len(report.models) <= FEW,
            large=len(report.graph.nodes) > LARGE,
            flowchart=Markup(inline_svg(_with_figures(report), {each: f"#{anchor}" for each, anchor in anchors.items()})),
        )
    )
    return in_xml(found)  # a character that UTF-8 cannot encode would prevent the whole page


def anchors_of(models: Iterable[Model]) -> Mapping[str, str]:
    """Unique ID of a model → anchor of its section, which is the same for the same names."""
    found: dict[str, str] = {}
    for each in models:
        base = f"model-{_NOT_IN_ANCHORS.sub('-', each.name)}"
        same = sum(known == base or known.startswith(f"{base}--") for known in found.values())
        found[each.unique_id] = f"{base}--{same + 1}" if same else base
    return found


def _plots(models: Iterable[Model]) -> Mapping[str, Markup]:
    drawn = {each.unique_id: plot(each.stored.history) for each in models if each.stored is not None}
    return {unique_id: found for unique_id, found in drawn.items() if found is not None}


def _with_figures(report: Report) -> Graph:
    """The graph with sizes and rates of change below the names, where known."""
    known = {each.unique_id: each for each in report.models}

    def figures(node: Node) -> tuple[str, ...]:
        model = known.get(node.name)
        if model is not None:
            return text.stored(model.size), text.rate(rate_of(model))
        return (text.stored(report.sizes[node.name]),) if node.kind is not Kind.MODEL and node.name in report.sizes else ()

    return Graph(
        tuple(replace(each, lines=(*each.lines, *filter(None, figures(each)))) for each in report.graph.nodes), report.graph.edges
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dbt_idivm.tools.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        name: getattr(text, name) for name in ("count", "size", "seconds", "when", "changes", "stored", "rate", "percent")
    }
    environment.filters.update(filters, sql=highlighted, quoted=quoted, rate_of=rate_of)
    return environment
