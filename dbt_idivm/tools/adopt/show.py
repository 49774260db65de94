"""Output of `idivm adopt`."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_idivm.tools.adopt.adopt import Adoption
from dbt_idivm.tools.adopt.old import INCREMENTAL
from dbt_idivm.tools.adopt.outlook import Outlook, sentences
from dbt_idivm.tools.adopt.strip import Obstacle


def shown(found: Adoption, outlook: Outlook | None, why_unknown: str = "") -> str:
    """One model: the diff, its settings, how it would be maintained, and what was missed. `why_unknown`: why there is no
    outlook."""
    lines = [f"{found.model} ({found.file}): {_kind(found)}", ""]
    if found.obstacles:
        lines += _section("left alone, because", [_obstacle(each) for each in found.obstacles])
    if found.is_complete or found.diff:
        lines += [*([] if found.is_complete else ["the change of the file, as far as it is clear", ""]), found.diff]
    lines += _section("settings", [f"{each.name}={_short(each.text)}: {each.becomes}, {each.why}" for each in found.settings])
    lines += _section("note", list(found.notes))
    if outlook is not None:
        lines += _section("maintained", sentences(outlook))
    elif found.is_complete:
        lines += _section("maintained", [f"not known: {why_unknown}"])
    if found.old.kind == INCREMENTAL:
        nothing = "nothing that this command can see in it"
        lines += _section("what its incremental logic misses", list(found.missed) or [nothing])
    return "\n".join(lines)


def _kind(found: Adoption) -> str:
    old = found.old
    by = f", by {', '.join(old.unique_key)}" if old.keeps_one_row else ""
    return f"{old.kind}, {old.strategy or 'strategy of the adapter'}{by}" if old.kind == INCREMENTAL else old.kind


def _obstacle(found: Obstacle) -> str:
    place = f"line {found.line}: " if found.line is not None else ""
    return f"{place}{found.problem}. Do: {found.do}"


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield title
        yield from (f"  {line}" for line in lines)
        yield ""


def _short(text: str) -> str:
    one = " ".join(text.split())
    return one if len(one) <= 60 else f"{one[:60]} …"
