"""Errors and reasons of dbt-idivm: findings with a code, a place, a reason, a way out.

`codes.py` holds the table of codes. All findings about one model are collected, then raised once, as one error.
The fourth group of codes is not failures: its findings are the reasons why a refresh rebuilt the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from dbt_idivm.codes import CODES, ErrorCode

__all__ = ["CODES", "ErrorCode", "Finding", "IdivmError", "Place", "finding", "listed", "nearest"]

_BY_CODE = {entry.code: entry for entry in CODES}
_OF_PACKAGE = (
    "; where a package is written for another warehouse, put a macro of that name for Spark into your project, and your project "
    "first in `dispatch` of dbt_project.yml"
)
_FIELD = "  {:<6} {}"
_SHOWN = 3  # places of one finding


@dataclass(frozen=True)
class Place:
    """A span of one line of SQL: line number from 1, the line, first and one-past-last column from 0.

    `view` is the plain SQL view that the line belongs to, when it is not the model's own compiled SQL.
    """

    line: int
    text: str
    start: int
    end: int
    view: str | None = None


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or one reason for a full refresh. `details` fill the texts of its code; `source`: which text of a
    package has written it (`macro_sources.py`)."""

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
        """Whether it is good SQL that only incremental maintenance has no way for: a rebuild can run it."""
        return self.kind in ("unsupported", "not yet")

    @property
    def summary(self) -> str:
        """Code and one sentence, as in `adapter_response.reason` and on the console line."""
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
        fields = (*written, ("why", self.why), ("do", self.do), ("docs", self.entry.page))
        return tuple(_FIELD.format(*field) for field in fields)

    def _where(self) -> list[str]:
        """The `model` line, and the underline below its SQL when the place is known."""
        if self.place is None:
            return [_FIELD.format("model", self.model)] if self.model else []
        of_view = self.place.view is not None
        source = f"view {self.place.view}" if of_view else "compiled SQL"
        head = f"{self.model}, {source}" if self.model else source
        head = _FIELD.format("model", f"{head}   {self.place.line} | ")
        width = max(1, self.place.end - self.place.start)
        return [head + self.place.text, " " * (len(head) + self.place.start) + "^" * width]


class IdivmError(Exception):
    """All findings about one model. `str()` is the full text for the user."""

    def __init__(self, findings: Finding | Iterable[Finding]) -> None:
        self.findings = (findings,) if isinstance(findings, Finding) else tuple(findings)
        super().__init__("\n\n".join(_texts(self.findings)))

    @property
    def is_refusal(self) -> bool:
        """Whether a full refresh would still be right, as `on_unsupported: full` wants."""
        return all(each.is_refusal for each in self.findings)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(each.code for each in self.findings)

    def of_model(self, model: str) -> IdivmError:
        """The same error with the model named in each finding."""
        return IdivmError(replace(each, model=model) for each in self.findings)


def _texts(findings: Iterable[Finding]) -> Iterator[str]:
    """One text for the findings that differ only in their places."""
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for each in findings:
        alike.setdefault((each._head, *each._fields), []).append(each)
    for (head, *fields), found in alike.items():
        more = [_FIELD.format("", f"and {len(found) - _SHOWN} more")] if len(found) > _SHOWN else []
        yield "\n".join((head, *(line for each in found[:_SHOWN] for line in each._where()), *more, *fields))


def finding(code: str | int, place: Place | None = None, *, model: str | None = None, **details: object) -> Finding:
    """A finding of that code (`204` or `"IDIVM-204"`). Raises KeyError unless `details` fill its texts.

    >>> finding(303, source="main.orders").summary
    'IDIVM-303 main.orders has no change data feed'
    """
    entry = _BY_CODE[code if isinstance(code, str) else f"IDIVM-{code}"]
    missing = entry.fields - details.keys()
    if missing:
        raise KeyError(f"{entry.code} needs {sorted(missing)}")
    return Finding(entry, {name: str(value) for name, value in details.items()}, place, model)


def nearest(word: str, words: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The words that `word` may have been meant to be, best first; case is ignored; any if none is near."""
    known = {each.lower(): each for each in words}
    found = get_close_matches(word.lower(), known, n=count, cutoff=0.5) or list(known)[:count]
    return tuple(known[each] for each in found)


def listed(words: Iterable[str]) -> str:
    """The words in a message, in backticks."""
    return ", ".join(f"`{word}`" for word in words)


class _Details(dict[str, str]):
    """Fills what is not given with its own name, so that texts can be shown without a case at hand."""

    def __missing__(self, name: str) -> str:
        return f"<{name}>"
