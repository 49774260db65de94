"""Find which text of a package contains SQL that Spark rejects: a model's SQL consists of its own text and of macros' text.

The place of a finding is searched in the literal parts of these texts, outside of `{{ }}` and `{% %}`. The text with the longest
matching part is taken as its source. It is named only if it belongs to a package, which may be written for another warehouse; for
texts of the user's own project the place is enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dbt_idivm.artifacts import Node
from dbt_idivm.errors import Finding, IdivmError, Place

_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_OF_DBT = ("dbt", "dbt_spark", "dbt_databricks", "dbt_idivm", "dbt_idivm_databricks")
_WRONG = ("model", "engine")  # kinds of findings about SQL that Spark does not accept
_MOST = 3  # macros listed if the source is ambiguous


@dataclass(frozen=True)
class _Source:
    """A text that SQL is generated from. `what`: the model or a macro."""

    what: str
    package: str
    file: str
    text: str

    def longest_at(self, place: Place) -> int:
        """The length of its longest literal part, within one line, that occurs at the place; 0 if none does."""
        parts = {line.strip() for part in _JINJA.split(self.text) for line in part.splitlines()} - {""}
        return max((len(part) for part in parts if _is_at(part, place)), default=0)

    def __str__(self) -> str:
        return f"{self.what} ({self.file})"


def with_sources(error: IdivmError, node: Node, macros: Mapping[str, Node], project: str) -> IdivmError:
    """The error, with `source` set in each finding that a text of a package has caused.

    `node`: the model; `macros`: all macros, as in a manifest; `project`: name of the user's project.
    """
    if all(_wrong_place(each) is None for each in error.findings):
        return error
    sources = tuple(_sources(node, macros))
    return IdivmError(replace(each, source=_source(each, node, sources, {project, *_OF_DBT})) for each in error.findings)


def _wrong_place(found: Finding) -> Place | None:
    """The place of rejected SQL within the model's compiled SQL; None for other findings."""
    return found.place if found.kind in _WRONG and found.place is not None and found.place.view is None else None


def _source(found: Finding, node: Node, sources: Sequence[_Source], own: Collection[str]) -> str | None:
    place = _wrong_place(found)
    if place is None:
        return None
    package = node.get("package_name")
    where = f"line {place.line} of {node.get('compiled_path') or 'the compiled SQL'}"
    model = f"the model is {node.get('original_file_path')}" + (f" of package `{package}`" if package not in own else "")
    lengths = [each.longest_at(place) for each in sources]
    best = [each for each, length in zip(sources, lengths, strict=True) if length == max(lengths)]
    if len(best) == 1:
        return f"{where} is written by {best[0]}; {model}" if best[0].package not in own else None
    called = [str(each) for each in sources[1:] if each.package not in own]
    more = f" and {len(called) - _MOST} more" if len(called) > _MOST else ""
    return f"{where} may be written by {', '.join(called[:_MOST])}{more}; {model}" if called else None


def _sources(node: Node, macros: Mapping[str, Node]) -> Iterator[_Source]:
    """The model's own text, then those of the macros that it calls, directly or indirectly."""
    text = str(node.get("raw_code") or "")
    yield _Source("the model itself", str(node.get("package_name")), str(node.get("original_file_path")), text)
    left, seen = [node], set[str]()
    while left:
        for name in (left.pop().get("depends_on") or {}).get("macros") or ():
            if name in macros and name not in seen:
                seen.add(name)
                macro = macros[name]
                left.append(macro)
                package = str(macro.get("package_name"))
                what = f"macro `{package}.{macro.get('name')}`"
                yield _Source(what, package, str(macro.get("original_file_path")), str(macro.get("macro_sql") or ""))


def _is_at(part: str, place: Place) -> bool:
    """Whether the part occurs in the line of the place, overlapping it."""
    found = place.text.find(part)
    while found >= 0:
        if found < place.end and found + len(part) > place.start:
            return True
        found = place.text.find(part, found + 1)
    return False
