"""The part of a model's text that a build of the whole table takes: without `{% if is_incremental() %}` and what depends on it.

For a model with `materialized='idivm'` dbt's `is_incremental()` is false. So a condition that also asks something else may stay.
The model's own rows, `{{ this }}`, may not: a SELECT over them is not maintained.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from dbt_idivm.tools.adopt.conditions import INCREMENTAL, THIS, World, asks_flag, depends, uncalled
from dbt_idivm.tools.adopt.edits import Edit, outermost
from dbt_idivm.tools.adopt.template import Block, Branch, Conditional, Piece, Tag, Text, Token, code, line_of, named, parts, tags

_WORDS = re.compile(r"\w\w")
_TRIM_AFTER, _TRIM_BEFORE = ("-%}", "-}}", "-#}"), ("{%-", "{{-", "{#-")


@dataclass(frozen=True)
class Obstacle:
    """Something that cannot be taken out of the text safely. `do`: what the user can do."""

    line: int | None
    problem: str
    do: str


@dataclass(frozen=True)
class Stripped:
    """`edits` make the text that of a full build, unless there are `obstacles`. `notes`: what stays, and why it may."""

    edits: tuple[Edit, ...]
    obstacles: tuple[Obstacle, ...]
    notes: tuple[str, ...]


def stripped(text: str, pieces: tuple[Piece, ...]) -> Stripped:
    """What to cut out of a template."""
    walk = _Walk(text)
    walk.visit(pieces, is_sure=True)
    walk.cut_unused(pieces)
    edits = tuple(_glued(text, outermost(walk.edits)))
    return Stripped(edits, tuple(sorted(walk.obstacles, key=lambda each: each.line or 0)), tuple(walk.notes))


def _glued(text: str, edits: list[Edit]) -> Iterator[Edit]:
    """The edits, with the blanks around them as Jinja leaves them in a full build, where that matters.

    Blanks that `{%-` and `-%}` removed between two words are removed. Blanks that they left must not fall to a tag beside the
    edit, which loses its `-`. Other blanks stay, because they separate what is separate without them.
    """
    runs: list[list[Edit]] = []
    for edit in edits:
        is_next = runs and not edit.text and not runs[-1][-1].text and not text[runs[-1][-1].end : edit.start].strip()
        runs = [*runs[:-1], [*runs[-1], edit]] if is_next else [*runs, [edit]]
    for run in runs:
        start, end = len(text[: run[0].start].rstrip()), len(text) - len(text[run[-1].end :].lstrip())
        if run[0].text or text[:start].endswith(("{%", "{%-", "{%+", "{{", "{{-")):
            yield from run
            continue
        places = [start, *(place for edit in run for place in (edit.start, edit.end)), end]
        gaps = zip(places[::2], places[1::2], strict=True)
        if any(begin < stop and not _trims(text, begin, stop) for begin, stop in gaps):
            yield from (Edit(start - 3, start - 2) for _ in range(text[:start].endswith(_TRIM_AFTER)))
            yield from run
            yield from (Edit(end + 2, end + 3) for _ in range(text[end:].startswith(_TRIM_BEFORE)))
        elif _WORDS.match(text[max(start - 1, 0) : start] + text[end : end + 1]):
            yield Edit(start, end)
        else:
            yield from run


def _trims(text: str, begin: int, stop: int) -> bool:
    """Whether the tag before a gap, or the one after it, removes its blanks."""
    return text[:begin].endswith(_TRIM_AFTER) or text[stop:].startswith(_TRIM_BEFORE)


@dataclass
class _Walk:
    """One walk over a template. `known`: variables that are true or false in a full build."""

    text: str
    edits: list[Edit] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    known: dict[str, bool] = field(default_factory=dict)

    @property
    def world(self) -> World:
        return World(False, self.known)

    def visit(self, pieces: tuple[Piece, ...], is_sure: bool) -> None:
        """`is_sure`: whether these pieces are part of every full build."""
        for piece in pieces:
            if isinstance(piece, Conditional):
                self._conditional(piece, is_sure)
            elif isinstance(piece, Block):
                self._checked(piece.tag)
                self.visit(piece.body, False)
            elif isinstance(piece, Tag):
                if piece.word == "set":
                    self._set(piece, is_sure)
                self._checked(piece)

    def _conditional(self, piece: Conditional, is_sure: bool) -> None:
        conditions = [code(branch.tag.tokens[1:], self.text) for branch in piece.branches]
        for branch, condition in zip(piece.branches, conditions, strict=True):
            if uncalled(condition):
                self._stop(branch.tag, f"`{INCREMENTAL}` is not called, so it is always true", f"write `{INCREMENTAL}()`")
        if not any(depends(each, self.known) for each in conditions):
            for branch in piece.branches:
                self.visit(branch.body, False)
            return
        left = self._left(piece, conditions)
        if left is None:
            return
        if not left:
            self.edits.append(Edit(piece.start, piece.end))
        elif left[0][1]:
            (branch, _) = left[0]
            self.edits += [Edit(piece.start, branch.tag.end), Edit(_next(piece, branch).start, piece.end)]
            self.visit(branch.body, is_sure)
        else:
            self._chain(piece, left)

    def _left(self, piece: Conditional, conditions: list[str]) -> list[tuple[Branch, bool]] | None:
        """The branches that a full build may take, each with whether it takes it. None if one of the conditions cannot stay."""
        found = []
        for branch, condition in zip(piece.branches, conditions, strict=True):
            truth = True if branch.tag.word == "else" else self.world.truth(condition)
            if truth is None and (asks_flag(condition) or THIS in branch.tag.names or set(self.known) & branch.tag.names):
                self._stop(
                    branch.tag,
                    f"whether `{condition}` holds in a full build depends on more than the kind of the run",
                    "write a condition that does not ask for the kind of the run",
                )
                return None
            if truth is None and INCREMENTAL in branch.tag.names:
                line = line_of(self.text, branch.tag.start)
                self.notes.append(f"line {line}: `{condition}` stays: is_incremental() is false in an idivm model")
            if truth is not False:
                found.append((branch, truth is True))
            if truth:
                break
        return found

    def _chain(self, piece: Conditional, left: list[tuple[Branch, bool]]) -> None:
        """Keep some branches. The first one left begins with `if`, and one that is always taken with `else`."""
        kept = [branch for branch, _ in left]
        for branch in piece.branches:
            if branch not in kept:
                # the first tag's `{%` or `{%-` goes on with the next one's content
                first, then = branch.tag, _next(piece, branch)
                self.edits.append(Edit(first.start + _opening(self.text, first), then.start + _opening(self.text, then)))
        for number, (branch, is_true) in enumerate(left):
            word = branch.tag.tokens[0]
            if is_true and branch.tag.word != "else":
                self.edits.append(Edit(word.start, branch.tag.tokens[-1].end, "else"))
            elif number == 0 and branch.tag.word == "elif":
                self.edits.append(Edit(word.start, word.end, "if"))
            self.visit(branch.body, False)

    def _set(self, tag: Tag, is_sure: bool) -> None:
        """Remember a variable that says whether the run is incremental."""
        name, value = _assigned(tag, self.text)
        if name and is_sure and depends(value, self.known) and (truth := self.world.truth(value)) is not None:
            self.known[name] = truth
        elif name in self.known:
            del self.known[name]

    def _checked(self, tag: Tag) -> None:
        chosen, value = _chosen(tag, self.text, self.world), _value(tag)
        if chosen is not None:
            self.edits.append(chosen)
        elif value and uncalled(code(value, self.text)):
            self._stop(tag, f"`{INCREMENTAL}` is not called", f"write `{INCREMENTAL}()`")

    def cut_unused(self, pieces: tuple[Piece, ...]) -> None:
        """Remove variables that depend on the model's own rows, or on the kind of the run, if nothing left uses them, and
        conditionals that are left without content. What then still reads the model's own rows cannot stay."""
        own = {THIS, INCREMENTAL, *self._own(pieces), *self.known}
        while True:
            left = [each for each in tags(pieces) if not self._is_cut(each.start, each.end)]
            unused = [
                each
                for each in parts(pieces)
                if not self._is_cut(each.start, each.end) and (self._is_unused_set(each, left, own) or self._is_empty(each))
            ]
            if not unused:
                break
            self.edits += [Edit(each.start, each.end) for each in unused]
        for tag in left:
            names = self._names_left(tag)
            if THIS in names and not _is_in_comment(self.text, tag.start):
                self._stop(
                    tag,
                    "the model reads its own rows ({{ this }}) outside of a block for incremental runs",
                    "move what reads them into `{% if is_incremental() %} … {% endif %}`, or remove it",
                )
            elif INCREMENTAL in names and tag.word not in ("if", "elif"):
                self.notes.append(f"line {line_of(self.text, tag.start)}: is_incremental() stays: it is false in an idivm model")

    def _is_unused_set(self, piece: Piece, left: list[Tag], own: Collection[str]) -> bool:
        tag = piece.tag if isinstance(piece, Block) else piece
        if not isinstance(tag, Tag) or tag.word != "set":
            return False
        name, _ = _assigned(tag, self.text)
        inside = (tag, *tags(piece.body)) if isinstance(piece, Block) else (tag,)
        names = frozenset(name for each in inside for name in self._names_left(each))
        others = (
            each for each in left if each not in inside and not (each.word == "set" and _assigned(each, self.text)[0] == name)
        )
        return (
            name is not None
            and bool((names - {name}) & set(own) or name in self.known)
            and all(name not in self._names_left(each) for each in others)
        )

    def _own(self, pieces: tuple[Piece, ...]) -> frozenset[str]:
        """The variables that are computed from the model's own rows."""
        found, before = frozenset[str](), None
        while found != before:
            before = found
            for piece in parts(pieces):
                tag = piece.tag if isinstance(piece, Block) else piece
                if isinstance(tag, Tag) and tag.word == "set":
                    name, _ = _assigned(tag, self.text)
                    inside = (tag, *tags(piece.body)) if isinstance(piece, Block) else (tag,)
                    if name and any(each.names & {THIS, *(found - {name})} for each in inside):
                        found |= {name}
        return found

    def _is_empty(self, piece: Piece) -> bool:
        """Whether all that a conditional or loop contained was cut out."""
        if not isinstance(piece, Conditional | Block) or (isinstance(piece, Block) and piece.tag.word not in ("for", "with")):
            return False
        bodies = [branch.body for branch in piece.branches] if isinstance(piece, Conditional) else [piece.body]
        inner = [each for body in bodies for each in body]
        if not any(self._is_cut(each.start, each.end) for each in inner):
            return False
        return all(
            self._is_cut(each.start, each.end) or (isinstance(each, Text) and not self.text[each.start : each.end].strip())
            for each in inner
        )

    def _names_left(self, tag: Tag) -> frozenset[str]:
        """What a tag names in the parts of it that stay."""
        cut = {each for each in tag.tokens if any(edit.start <= each.start and each.end <= edit.end for edit in self.edits)}
        return frozenset(each.text for each in named(tag.tokens) if each not in cut)

    def _is_cut(self, start: int, end: int) -> bool:
        return any(each.start <= start and end <= each.end and not each.text for each in self.edits)

    def _stop(self, tag: Tag, problem: str, do: str) -> None:
        found = Obstacle(line_of(self.text, tag.start), problem, do)
        if found not in self.obstacles:
            self.obstacles.append(found)


def _next(piece: Conditional, branch: Branch) -> Tag:
    """The tag that ends a branch."""
    place = piece.branches.index(branch) + 1
    return piece.branches[place].tag if place < len(piece.branches) else piece.close


def _opening(text: str, tag: Tag) -> int:
    """The length of `{%` or `{%-`."""
    return 3 if text[tag.start + 2] in "-+" else 2


def _assigned(tag: Tag, text: str) -> tuple[str | None, str]:
    """The variable that a `set` sets, and the text of its value; None for several variables, and for an attribute of one."""
    tokens = tag.tokens[1:]
    if not tokens or tokens[0].kind != "name" or (len(tokens) > 1 and tokens[1].text in (",", ".")):
        return None, ""
    return tokens[0].text, code(_value(tag), text)


def _value(tag: Tag) -> tuple[Token, ...]:
    """The expression in a tag."""
    if tag.word == "set":
        place = next((number for number, each in enumerate(tag.tokens) if each.text == "=" and each.depth == 0), None)
        return () if place is None else tag.tokens[place + 1 :]
    return tag.tokens[1:] if tag.word in ("if", "elif", "do") else () if tag.word else tag.tokens


def _chosen(tag: Tag, text: str, world: World) -> Edit | None:
    """The edit of `{{ a if is_incremental() else b }}` to its part for a full build."""
    tokens = tag.tokens
    if tag.word:
        return None
    at_top = [each for each in tokens if each.depth == 0 and each.kind == "name" and each.text in ("if", "else")]
    if [each.text for each in at_top] not in (["if"], ["if", "else"]):
        return None
    test = tuple(each for each in tokens if each.start > at_top[0].start and (len(at_top) < 2 or each.start < at_top[1].start))
    condition = code(test, text)
    truth = world.truth(condition) if depends(condition, world.known) else None
    if truth is None:
        return None
    if truth:
        before = [each for each in tokens if each.start < at_top[0].start]
        return Edit(before[-1].end, tokens[-1].end) if before else None
    if len(at_top) < 2:
        return Edit(tag.start, tag.end)
    return Edit(tokens[0].start, next(each.start for each in tokens if each.start > at_top[1].start))


def _is_in_comment(text: str, place: int) -> bool:
    """Whether a `--` comment of SQL begins before this place in its line."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    before, found, _ = line.partition("--")
    return bool(found) and before.count("'") % 2 == 0 and before.count('"') % 2 == 0
