"""Edits of a text by their places. What no edit names stays as it is, byte by byte."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Edit:
    """Replace the characters from `start` to `end`."""

    start: int
    end: int
    text: str = ""


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits; one that lies inside another has no effect. A line of which only blanks are left is removed, and
    of two blank lines around removed lines one."""
    found, last = [], 0
    for edit in _joined(text, edits):
        edit = edit if edit.text else _whole_lines(text, edit, last)
        found += [text[last : edit.start], edit.text]
        last = edit.end
    return "".join([*found, text[last:]])


def outermost(edits: Iterable[Edit]) -> list[Edit]:
    """The edits that lie in no other one, in their order."""
    found: list[Edit] = []
    for edit in sorted(edits, key=lambda each: (each.start, each.start != each.end, -each.end)):
        if found and edit.start < found[-1].end and edit.end <= found[-1].end:
            continue
        assert not found or edit.start >= found[-1].end, "two edits overlap"
        found.append(edit)
    return found


def _joined(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """Removals with nothing but blanks of one line between them are one."""
    found: list[Edit] = []
    for edit in outermost(edits):
        between = text[found[-1].end : edit.start] if found else ""
        if found and not found[-1].text and not edit.text and not between.strip() and "\n" not in between:
            found[-1] = Edit(found[-1].start, edit.end)
        else:
            found.append(edit)
    return found


def _whole_lines(text: str, edit: Edit, last: int) -> Edit:
    begin = text.rfind("\n", 0, edit.start) + 1
    newline = text.find("\n", edit.end)
    end = len(text) if newline < 0 else newline + 1
    if begin < last or text[begin : edit.start].strip() or text[edit.end : end].strip():
        return edit
    after = text.find("\n", end)
    if text[end : after + 1].strip() == "" and after >= 0 and _is_blank_before(text, begin):
        end = after + 1
    return Edit(begin, end)


def _is_blank_before(text: str, begin: int) -> bool:
    """Whether there is no line before this one, or a blank one."""
    return not text[text.rfind("\n", 0, max(begin - 1, 0)) + 1 : begin].strip()
