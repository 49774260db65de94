"""A model's file as a tree of its Jinja: texts, outputs, tags, conditionals and other blocks, each with its place in the file.

jinja2's own lexer finds the tags. Texts are what is between them, so whoever cuts parts out keeps the rest byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jinja2 import Environment, TemplateSyntaxError

# The extensions that dbt has. The lexer would otherwise drop the end of the last line.
JINJA = Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"], keep_trailing_newline=True)
_PAIRED = ("for", "call", "filter", "macro", "with", "autoescape", "block", "test", "materialization", "snapshot", "docs")
_BEGIN = ("block_begin", "variable_begin", "comment_begin", "raw_begin")
_OPENING, _CLOSING = "([{", ")]}"


class TemplateError(Exception):
    """The text is no template. `line`: where, from 1; `problem`: what is wrong, in words."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line, self.problem = line, problem


@dataclass(frozen=True)
class Token:
    """A token of an expression, with its place in the file. `depth`: the number of brackets around it."""

    kind: str
    text: str
    start: int
    depth: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True)
class Text:
    """Text outside of Jinja; also a comment of Jinja (`is_comment`) and a {% raw %} block, which has none inside."""

    start: int
    end: int
    is_comment: bool = False


@dataclass(frozen=True)
class Tag:
    """`{{ … }}` (`word` is "") or a `{% word … %}` that stands alone. `tokens`: what is inside, without blanks."""

    start: int
    end: int
    word: str
    tokens: tuple[Token, ...]

    @property
    def names(self) -> frozenset[str]:
        """The variables and functions that it names: not the attributes of others, and not the names of arguments."""
        return frozenset(each.text for each in named(self.tokens))


@dataclass(frozen=True)
class Branch:
    """`if`, `elif` or `else` with what follows it. `tag.tokens` begin with the word."""

    tag: Tag
    body: tuple[Piece, ...]


@dataclass(frozen=True)
class Conditional:
    """`{% if %} … {% endif %}`."""

    branches: tuple[Branch, ...]
    close: Tag

    @property
    def start(self) -> int:
        return self.branches[0].tag.start

    @property
    def end(self) -> int:
        return self.close.end


@dataclass(frozen=True)
class Block:
    """Another tag with an end: `for`, `call`, `set x` without a value."""

    tag: Tag
    body: tuple[Piece, ...]
    close: Tag

    @property
    def start(self) -> int:
        return self.tag.start

    @property
    def end(self) -> int:
        return self.close.end


Piece = Text | Tag | Conditional | Block


def parts(pieces: tuple[Piece, ...]) -> Iterator[Piece]:
    """All pieces, also those inside others, in the order of the text."""
    for piece in pieces:
        yield piece
        if isinstance(piece, Block):
            yield from parts(piece.body)
        elif isinstance(piece, Conditional):
            for branch in piece.branches:
                yield from parts(branch.body)


def tags(pieces: tuple[Piece, ...]) -> Iterator[Tag]:
    """The outputs and tags among them, opening tags included."""
    for piece in parts(pieces):
        if isinstance(piece, Tag):
            yield piece
        elif isinstance(piece, Block):
            yield piece.tag
        elif isinstance(piece, Conditional):
            yield from (branch.tag for branch in piece.branches)


def code(tokens: tuple[Token, ...], text: str) -> str:
    """The text of an expression, as it is written."""
    return text[tokens[0].start : tokens[-1].end] if tokens else ""


def line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def template(text: str) -> tuple[Piece, ...]:
    """The tree of a text whose lines end in \\n. Raises TemplateError."""
    return _Reader(text).read()


def named(tokens: tuple[Token, ...]) -> Iterator[Token]:
    """The tokens that name variables and functions."""
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else None
        after = tokens[number + 1] if number + 1 < len(tokens) else None
        is_argument = token.depth > 0 and after is not None and after.text == "="
        if token.kind == "name" and not (before is not None and before.text in (".", "|")) and not is_argument:
            yield token


class _Reader:
    """One pass over the tags of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.flat = list(self._flat())
        self.at = 0

    def read(self) -> tuple[Piece, ...]:
        body, end = self._body(())
        assert end is None
        return body

    def _body(self, ends: tuple[str, ...], loop: bool = False) -> tuple[tuple[Piece, ...], Tag | None]:
        """The pieces up to a tag with one of the words `ends`, and that tag. `else` of a loop is a piece of it."""
        found: list[Piece] = []
        while self.at < len(self.flat):
            piece = self.flat[self.at]
            self.at += 1
            if isinstance(piece, Text) or not piece.word:
                found.append(piece)
            elif piece.word in ends:
                return tuple(found), piece
            elif piece.word == "if":
                found.append(self._conditional(piece))
            elif piece.word in _PAIRED or _is_long_set(piece):
                body, close = self._body((f"end{piece.word}",), loop=piece.word == "for")
                found.append(Block(piece, body, self._closed(close, piece)))
            elif piece.word == "else" and loop:
                found.append(piece)
            elif piece.word.startswith("end") or piece.word in ("else", "elif"):
                raise TemplateError(line_of(self.text, piece.start), f"`{piece.word}` ends or continues nothing")
            else:
                found.append(piece)
        return tuple(found), None

    def _conditional(self, opening: Tag) -> Conditional:
        branches, tag = [], opening
        while True:
            body, end = self._body(("endif",) if tag.word == "else" else ("elif", "else", "endif"))
            branches.append(Branch(tag, body))
            tag = self._closed(end, opening)
            if tag.word == "endif":
                return Conditional(tuple(branches), tag)

    def _closed(self, close: Tag | None, opening: Tag) -> Tag:
        if close is None:
            raise TemplateError(line_of(self.text, opening.start), f"`{opening.word}` has no end")
        return close

    def _flat(self) -> Iterator[Text | Tag]:
        """Texts and tags, one after the other."""
        last, inside, begin = 0, list[Token](), ""
        start = 0
        for kind, value, place in self._lexed():
            if kind in _BEGIN:
                if place > last:
                    yield Text(last, place)
                start, begin, inside = place, kind, []
            elif kind in ("block_end", "variable_end", "comment_end", "raw_end"):
                last = place + len(value.rstrip())
                if kind in ("comment_end", "raw_end"):
                    yield Text(start, last, is_comment=kind == "comment_end")
                else:
                    tokens = tuple(inside)
                    yield Tag(start, last, tokens[0].text if begin == "block_begin" and tokens else "", tokens)
                begin = ""
            elif begin in ("block_begin", "variable_begin") and kind != "whitespace":
                depth = inside[-1].depth if inside else 0
                if inside and inside[-1].text in _OPENING:
                    depth += 1
                inside.append(Token(kind, value, place, depth - (value in _CLOSING)))
        if last < len(self.text):
            yield Text(last, len(self.text))

    def _lexed(self) -> Iterator[tuple[str, str, int]]:
        """The lexer's tokens, each with its place. The lexer drops blanks before `{%-`."""
        place = 0
        try:
            for _, kind, value in JINJA.lex(self.text):
                while not self.text.startswith(value, place):
                    if not self.text[place : place + 1].isspace():
                        raise TemplateError(line_of(self.text, place), "its Jinja is not read as it is written")
                    place += 1
                yield kind, value, place
                place += len(value)
        except TemplateSyntaxError as error:
            raise TemplateError(error.lineno, str(error.message)) from error


def _is_long_set(tag: Tag) -> bool:
    """`{% set x %} … {% endset %}`: the value is between the tags."""
    return tag.word == "set" and not any(each.text == "=" and each.depth == 0 for each in tag.tokens)
