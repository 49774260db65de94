"""Errors and reasons of dbt-idivm: findings with a code, a place, a reason and a remedy.

`codes.py` contains the table of codes. All findings about one model are collected, and then raised together as one error. The
findings of the fourth group of codes are no failures, but reasons why a refresh has rebuilt the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from dbt_idivm.codes import CODES, ErrorCode

__all__ = ["BY_CODE", "CODES", "ErrorCode", "Finding", "IdivmError", "Place", "finding", "listed", "nearest"]

BY_CODE = {entry.code: entry for entry in CODES}
_OF_PACKAGE = (
    "; where a package is written for another warehouse, put a macro of that name for Spark into your project, and your project "
    "first in `dispatch` of dbt_project.yml"
)
_FIELD = "  {:<6} {}"
_SHOWN = 3  # places of one finding


@dataclass(frozen=True)
class Place:
    """A span within one line of SQL: line number (from 1), the line, and first and one-past-last column (from 0).

    `view`: the plain SQL view that the line belongs to; None for the model's own compiled SQL.
    """

    line: int
    text: str
    start: int
    end: int
    view: str | None = None


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or one reason for a full refresh. `details` fill the texts of its code. `source`: the text of a
    package that contains the wrong SQL (`macro_sources.py`)."""

    entry: ErrorCode
    details: Mapping[str, str]
    place: Place | None = None
    model: str | None = None
    source: str | None = None

    @property
    def code(self) -> str:
        return self.entry.code

    @property
    def kind(self) -> str:
        return self.entry.kind

    @property
    def title(self) -> str:
        return self.entry.title.format_map(_Details(self.details))

    @property
    def why(self) -> str:
        return self.entry.why.format_map(_Details(self.details))

    @property
    def do(self) -> str:
        return self.entry.do.format_map(_Details(self.details)) + (_OF_PACKAGE if self.source else "")

    @property
    def is_refusal(self) -> bool:
        """Whether it is about valid SQL that can be rebuilt, but not maintained incrementally."""
        return self.kind in ("unsupported", "not yet")

    @property
    def summary(self) -> str:
        """Code and one sentence, for `adapter_response.reason` and the console line."""
        return f"{self.code} {self.title}"

    def __str__(self) -> str:
        return "\n".join((self._head, *self._where(), *self._fields))

    @property
    def _head(self) -> str:
        roadmap = f" (roadmap: {self.entry.roadmap})" if self.entry.roadmap else ""
        return f"{self.code} {self.kind}: {self.title}{roadmap}"

    @property
    def _fields(self) -> tuple[str, ...]:
        """The lines below the place."""
        written = (("from", self.source),) if self.source else ()
        fields = (*written, ("why", self.why), ("do", self.do), ("more", f"idivm help {self.code}"))
        return tuple(_FIELD.format(*field) for field in fields)

    def _where(self) -> list[str]:
        """The `model` line, and an underline below its SQL if the place is known."""
        if self.place is None:
            return [_FIELD.format("model", self.model)] if self.model else []
        of_view = self.place.view is not None
        source = f"view {self.place.view}" if of_view else "compiled SQL"
        head = f"{self.model}, {source}" if self.model else source
        head = _FIELD.format("model", f"{head}   {self.place.line} | ")
        width = max(1, self.place.end - self.place.start)
        return [head + self.place.text, " " * (len(head) + self.place.start) + "^" * width]


class IdivmError(Exception):
    """All findings about one model. `str()` is the complete message for the user."""

    def __init__(self, findings: Finding | Iterable[Finding]) -> None:
        self.findings = (findings,) if isinstance(findings, Finding) else tuple(findings)
        super().__init__("\n\n".join(_texts(self.findings)))

    @property
    def is_refusal(self) -> bool:
        """Whether a full refresh would still be right, as under `on_unsupported: full`."""
        return all(each.is_refusal for each in self.findings)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(each.code for each in self.findings)

    def of_model(self, model: str) -> IdivmError:
        """The same error, with the model named in each finding."""
        return IdivmError(replace(each, model=model) for each in self.findings)


def _texts(findings: Iterable[Finding]) -> Iterator[str]:
    """The messages; findings that differ only in their places share one."""
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for each in findings:
        alike.setdefault((each._head, *each._fields), []).append(each)
    for (head, *fields), found in alike.items():
        more = [_FIELD.format("", f"and {len(found) - _SHOWN} more")] if len(found) > _SHOWN else []
        yield "\n".join((head, *(line for each in found[:_SHOWN] for line in each._where()), *more, *fields))


def finding(code: str | int, place: Place | None = None, *, model: str | None = None, **details: object) -> Finding:
    """A finding with this code (`204` or `"IDIVM-204"`). Raises KeyError if its texts need other `details`.

    >>> finding(303, source="main.orders").summary
    'IDIVM-303 main.orders has no change data feed (run `idivm doctor --fix`)'
    """
    entry = BY_CODE[code if isinstance(code, str) else f"IDIVM-{code}"]
    missing = entry.fields - details.keys()
    if missing:
        raise KeyError(f"{entry.code} needs {sorted(missing)}")
    return Finding(entry, {name: str(value) for name, value in details.items()}, place, model)


def nearest(word: str, words: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The known words most similar to `word`, best first, ignoring case; any words if none is similar."""
    known = {each.lower(): each for each in words}
    found = get_close_matches(word.lower(), known, n=count, cutoff=0.5) or list(known)[:count]
    return tuple(known[each] for each in found)


def listed(words: Iterable[str]) -> str:
    """The words for a message, in backticks."""
    return ", ".join(f"`{word}`" for word in words)


class _Details(dict[str, str]):
    """Replaces missing details by their own names, so that texts can be shown without a concrete case."""

    def __missing__(self, name: str) -> str:
        return f"<{name}>"


class Refused(Exception):
    """The engine does not accept a query."""

    @property
    def first_line(self) -> str:
        """The first line of what it says."""
        return str(self).partition("\n")[0]
