"""The SQL of an incremental run as far as the model's text shows it, for questions about its form. It is never run.

Inputs are tables of their own, and so are the model's rows. Other outputs of Jinja are names: nothing is known of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_idivm.algebra.expressions import DIALECT
from dbt_idivm.deep import deep_recursion
from dbt_idivm.frontend.dialect import parse
from dbt_idivm.tools.adopt.conditions import THIS, World
from dbt_idivm.tools.adopt.template import Block, Conditional, Piece, Tag, Text, code

OWN_ROWS, INPUT, OTHER = "idivm_own_rows", "idivm_input_", "idivm_other_"
_CALLS = ("ref", "source")
# Words without which a part that may be missing changes nothing that is asked about
_CLAUSES = re.compile(r"\b(where|and|or|join|from|group|over|qualify|having|union)\b", re.IGNORECASE)


class _Unsure(Exception):
    """The text of a run depends on something that is not known here."""


@dataclass(frozen=True)
class Pseudo:
    """`query`: an incremental run, over tables INPUT…, whose names in the model are `inputs`. `always`: the conditions of a full
    build, as SQL."""

    query: exp.Query
    inputs: Mapping[str, str]
    always: frozenset[str]


@deep_recursion()
def incremental_query(text: str, pieces: tuple[Piece, ...]) -> Pseudo | None:
    """What an incremental run selects; None if its text depends on something that is not known."""
    inputs: dict[str, str] = {}
    others: dict[str, str] = {}
    try:
        full, query = (_query(_Writer(text, is_incremental, inputs, others).written(pieces)) for is_incremental in (False, True))
    except (_Unsure, SqlglotError, RecursionError):
        return None
    always = frozenset(sql_of(each) for select in full.find_all(exp.Select) for each in conditions(select))
    return Pseudo(query, {table: name for name, table in inputs.items()}, always)


def _query(sql: str) -> exp.Query:
    trees = parse(sql)
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise _Unsure
    return trees[0]


def conditions(select: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions of a SELECT that all have to hold, and those of its joins."""
    yield from where(select)
    for clause in ("having", "qualify"):
        if (found := select.args.get(clause)) is not None:
            yield from operands(found.this)
    for join in select.args.get("joins") or ():
        if (on := join.args.get("on")) is not None:
            yield from operands(on)


def where(select: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions in WHERE that all have to hold."""
    if (found := select.args.get("where")) is not None:
        yield from operands(found.this)


def operands(node: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that all hold where this one does."""
    if isinstance(node, exp.And):
        yield from operands(node.left)
        yield from operands(node.right)
    elif isinstance(node, exp.Paren):
        yield from operands(node.this)
    else:
        yield node


def sql_of(node: exp.Expr) -> str:
    return str(node.sql(dialect=DIALECT))


@dataclass
class _Writer:
    """Writes the SQL of one run. `inputs`: name in the model → table; `others`: text of an output → its name. Both are shared by
    the writers of one model, so that equal parts have equal texts."""

    text: str
    is_incremental: bool
    inputs: dict[str, str]
    others: dict[str, str]
    known: dict[str, bool] = field(default_factory=lambda: {"loop": True})
    texts: dict[str, str] = field(default_factory=dict)  # variable → its text, if that is a constant

    def written(self, pieces: tuple[Piece, ...]) -> str:
        return "".join(self._piece(piece) for piece in pieces)

    def _piece(self, piece: Piece) -> str:
        if isinstance(piece, Text):
            return "" if piece.is_comment else self.text[piece.start : piece.end]
        if isinstance(piece, Conditional):
            return self._conditional(piece)
        if isinstance(piece, Block):
            if piece.tag.word == "for":
                return self.written(piece.body)
            return "" if piece.tag.word in ("set", "macro") else self._other(piece.tag)
        if piece.word == "set":
            self._set(piece)
        return "" if piece.word else self._output(piece)

    def _conditional(self, piece: Conditional) -> str:
        world = World(self.is_incremental, self.known)
        for branch in piece.branches:
            truth = True if branch.tag.word == "else" else world.truth(code(branch.tag.tokens[1:], self.text))
            if truth:
                return self.written(branch.body)
            if truth is None and _CLAUSES.search(self.text[branch.tag.end : piece.end]):
                raise _Unsure
        return ""

    def _set(self, tag: Tag) -> None:
        tokens = tag.tokens[1:]
        if len(tokens) < 3 or tokens[1].text != "=":
            return
        name, value = tokens[0].text, tokens[2:]
        truth = World(self.is_incremental, self.known).truth(code(value, self.text))
        if len(value) == 1 and value[0].kind in ("string", "integer", "float"):
            self.texts[name] = value[0].text.strip("'\"")
        elif truth is not None:
            self.known[name] = truth

    def _output(self, tag: Tag) -> str:
        words = [each.text for each in tag.tokens]
        if words[:2] == ["config", "("]:
            return ""
        if words == [THIS]:
            return OWN_ROWS
        if len(words) == 1 and words[0] in self.texts:
            return self.texts[words[0]]
        if len(words) > 3 and words[0] in _CALLS and words[1] == "(" and words[-1] == ")":
            given = [each for each in tag.tokens[2:-1] if each.kind == "string"]
            if len(given) == sum(each.text == "," for each in tag.tokens[2:-1]) + 1:
                names = [each.text.strip("'\"") for each in given]
                name = ".".join(names) if words[0] == "source" else names[-1]
                return self.inputs.setdefault(name, f"{INPUT}{len(self.inputs)}")
        return self._other(tag)

    def _other(self, tag: Tag) -> str:
        return self.others.setdefault(code(tag.tokens, self.text), f"{OTHER}{len(self.others)}")
