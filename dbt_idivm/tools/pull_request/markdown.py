"""Render the differences between two states of a project as Markdown for a comment: a sentence, tables, and collapsible
details."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from dbt_idivm.errors import CODES
from dbt_idivm.relation_name import name_parts
from dbt_idivm.tools.advice.show import seconds
from dbt_idivm.tools.pull_request.escape import code, fenced, html_code, prose, row
from dbt_idivm.tools.pull_request.facts import UNMEASURED, Change, Changed, Difference, Estimate, Side, is_noticeable

LIMIT = 65_000  # GitHub accepts 65,536 characters; the rest is for additions of a workflow, such as a marker
_PAGES = {entry.code: entry.page for entry in CODES}
_CHANGES: dict[Change, str] = {"added": "added", "removed": "removed", "edited": "edited", "layout": "comments or layout"}
_NAMES, _REASON = 4, 250  # names shown in a list, and characters shown of a reason
_NOTHING = "Nothing changes in how models are maintained."
_UNKNOWN = "not known"
_NO_ROOM = "for which a comment has no room: `idivm diff --json` has them all."


def markdown(found: Difference, docs: str = "", limit: int = LIMIT) -> str:
    """The comment, of at most `limit` characters: if necessary details are left out first, then models, and a sentence says so.
    `docs`: URL of a folder with this package's pages, such as `docs/errors/IDIVM-204.md`."""
    if not found.models:
        return "\n\n".join([_NOTHING, *map(prose, found.notes)]) + "\n"
    details = {each.unique_id: text for each in found.models if (text := _details(each))}

    def length(count: int) -> int:
        return len(_page(found, found.models[:count], [], len(details), docs))

    count = len(found.models)
    if length(count) > limit:
        count = max(0, bisect(range(count), limit, key=length) - 1)
    shown, room, opened = found.models[:count], limit - length(count), []
    for each in shown:
        block = details.get(each.unique_id)
        if block is not None and len(block) + 2 <= room:
            opened.append(block)
            room -= len(block) + 2
    return _page(found, shown, opened, len(details) - len(opened), docs)


def summary(found: Difference) -> str:
    """One sentence: how many models change, what becomes of them, and the estimated duration of a refresh."""
    if not found.models:
        return _NOTHING
    changed, reached = found.changed, found.of("upstream")
    kinds = [f"{count} {_CHANGES[kind]}" for kind in _CHANGES if (count := len(found.of(kind)))]
    parts = [f"{_models(len(changed))} changed ({', '.join(kinds)})" if changed else "no maintained model changed"]
    if reached:
        is_one = len(reached) == 1
        parts.append(
            f"{len(reached)} {'is' if is_one else 'are'} maintained differently because of what "
            f"{'it reads' if is_one else 'they read'}"
        )
    parts += [
        f"{count or 'none'} {'become' if count > 1 else 'becomes'} {what}"
        for count, what in (
            (sum(each.becomes_rebuilt for each in found.models), "rebuilt on each run"),
            (sum(each.becomes_incremental for each in found.models), "incremental"),
        )
    ]
    if failing := sum(each.becomes_error for each in found.models):
        parts.append(f"{_models(failing)} will fail")
    if unknown := sum(each.becomes_unknown for each in found.models):
        parts.append(f"how {unknown} {'is' if unknown == 1 else 'are'} maintained is not known any more")
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}{_sum(found.estimate)}."


def _models(count: int) -> str:
    return f"{count} model{'' if count == 1 else 's'}"


def _sum(found: Estimate | None) -> str:
    if found is None:
        return "; no rate of change is given, so there is no estimate of a refresh"
    but = f" ({_models(len(found.without))} without an estimate)" if found.without else ""
    now, before = seconds(found.after), seconds(found.before)
    what = f"{now}, as before" if now == before else f"{now} instead of {before}"
    return f"; a refresh of all maintained models is estimated at {what}{but}"


def _page(found: Difference, shown: Sequence[Changed], details: Sequence[str], missing: int, docs: str) -> str:
    """The whole comment. `missing`: number of models whose details are left out."""
    asked = found.estimate is not None
    own = [each for each in shown if each.change != "upstream"]
    reached = [each for each in shown if each.change == "upstream"]
    parts = [summary(found)]
    if own:
        parts.append(_table("change", asked, (_row(each, _CHANGES[each.change], asked, docs) for each in own)))
    if reached:
        parts += [
            "The SQL of these models is unchanged, but not what they read:",
            _table("because of", asked, (_row(each, _names(each.because_of) or _UNKNOWN, asked, docs) for each in reached)),
        ]
    if left := len(found.models) - len(shown):
        parts.append(f"{_models(left)} more {'differs' if left == 1 else 'differ'}, {_NO_ROOM}")
    if missing:
        parts.append(f"The details of {_models(missing)} are left out, {_NO_ROOM}")
    return "\n\n".join([*parts, *_notes(found, shown, docs), *details]) + "\n"


def _notes(found: Difference, shown: Sequence[Changed], docs: str) -> Iterator[str]:
    yield from map(prose, found.notes)
    known = found.estimate
    if known is not None:
        whose = code(known.engine) if known.engine else UNMEASURED
        yield (
            f"Seconds are estimates at the rates that were given, with {known.refreshes:g} refreshes in a day and the prices "
            f"of {whose}."
        )
        if known.unknown:
            yield (
                f"The number of rows is not known for {_names(known.unknown)}, so what reads them has no estimate: give "
                "`--rows TABLE=N`, or statistics in `catalog.json`."
            )
    codes = {each.after.code for each in shown if each.after is not None and each.after.code in _PAGES}
    if codes and not docs:
        yield f"What the codes mean is in {', '.join(code(_PAGES[each]) for each in sorted(codes))} of dbt-idivm."


def _table(second: str, asked: bool, rows: Iterator[str]) -> str:
    titles = ["model", second, "maintained", "hidden columns, caches", *(["a refresh"] if asked else []), "next run"]
    return "\n".join([row(titles), f"|{'---|' * len(titles)}", *rows])


def _row(each: Changed, second: str, asked: bool, docs: str) -> str:
    cells = [code(each.model), second, _ways(each, docs), _extra(each), *([_times(each)] if asked else []), _next(each)]
    return row(cells)


def _ways(each: Changed, docs: str) -> str:
    """The way before → after; only once if it is the same."""
    was, now = each.before, each.after
    if was is not None and now is not None and not was.same_way(now):
        before = prose(_way(was)) if was.kind == now.kind or was.kind not in ("rebuilt", "error") else _named(was, docs)
        return f"{before} → {_named(now, docs)}"
    side = now or was
    assert side is not None
    return _named(side, docs)


def _way(side: Side) -> str:
    return {
        "incremental": side.how,
        "rebuilt": "rebuilt on each run",
        "error": "the run fails",
        "unknown": _UNKNOWN,
        "other": f"`{side.how}`",
    }[side.kind]


def _named(side: Side, docs: str) -> str:
    """The way, with the reason if there is one."""
    if not (side.code or side.why):
        return prose(_way(side))
    why = side.why if len(side.why) <= _REASON else f"{side.why[:_REASON]}…"
    page = _PAGES.get(side.code)
    linked = f"[{side.code}]({quote(docs.rstrip('/'), safe=':/?#&=%~@+,')}/{page})" if docs and page else side.code
    way = f"**{_way(side)}**" if side.kind in ("rebuilt", "error") else _way(side)
    return f"{way}: {f'{linked} {prose(why)}'.strip()}"


def _extra(each: Changed) -> str:
    """Hidden columns and caches that are removed and added; empty if unknown."""
    if any(side is not None and side.kind == "unknown" for side in (each.before, each.after)):
        return ""
    was, now = ((side.hidden, side.caches) if side else ((), ()) for side in (each.before, each.after))
    parts = [
        f"{sign} {what}{_names(names)}"
        for kind, what in enumerate(("", "cache "))
        for sign, names in (("−", _without(was[kind], now[kind])), ("+", _without(now[kind], was[kind])))
        if names
    ]
    return ", ".join(parts)


def _without(some: Sequence[str], others: Sequence[str]) -> list[str]:
    return [(name_parts(each) or (each,))[-1] for each in some if each not in others]


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(map(code, names[:_NAMES])) + more


def _times(each: Changed) -> str:
    """Seconds before → after; only once if they are about the same."""
    was, now = (
        (side.seconds, _UNKNOWN if side.seconds is None else seconds(side.seconds)) if side else (None, "")
        for side in (each.before, each.after)
    )
    if was[1] and now[1] and (was[1] == now[1] or (was[0] is not None and not is_noticeable(was[0], now[0]))):
        return now[1]
    return " → ".join(filter(None, (was[1], now[1])))


def _next(each: Changed) -> str:
    told = each.next_run
    if each.after is None or (told.rebuilds is not True and told.why):
        return prose(told.why)
    if told.rebuilds is None:
        return _UNKNOWN
    if not told.rebuilds:
        return "nothing to do" if each.change == "layout" else "no rebuild"
    return ": ".join(filter(None, ("builds it" if each.before is None else "rebuilds it", prose(told.why))))


def _details(each: Changed) -> str:
    """The diffs in a collapsible section; "" if there are none."""
    blocks = [
        f"{title}\n\n{fenced(text, 'diff')}"
        for title, text in (("Config", each.config), ("Plan", each.tree), ("Compiled SQL", each.sql))
        if text
    ]
    head = f"<details><summary>{html_code(each.model)}</summary>"
    return "\n\n".join([head, *blocks, "</details>"]) if blocks else ""
