"""One SQL text: its tree, and the mapping from nodes of the tree back to the user's text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError, TokenError

from dbt_idivm.algebra.expressions import DIALECT
from dbt_idivm.cached import cached_property
from dbt_idivm.errors import Finding, Place, finding
from dbt_idivm.frontend.dialect import parse, tokens_of
from dbt_idivm.frontend.nesting import too_deep
from dbt_idivm.relation_name import name_parts

_OTHER_NAMES: dict[type[exp.Expr], tuple[str, ...]] = {exp.ApproxQuantile: ("APPROX_PERCENTILE",)}
Span = tuple[int, int]  # (first character, one past the last)


@dataclass(frozen=True)
class Text:
    """The SQL of the model, or of the plain SQL view named `view`. `listed`: the user's deterministic functions."""

    sql: str
    view: str | None = None
    listed: frozenset[str] = frozenset()

    @property
    def functions(self) -> frozenset[str]:
        """The listed functions that may be called here. In a view, names without a schema depend
        on the schema where the view was created.
        """
        return frozenset(name for name in self.listed if self.view is None or len(name_parts(name)) > 1)

    def parse(self) -> exp.Query | Finding:
        """The text as one query, or a finding if it is not one."""
        try:
            deepest = too_deep(self.tokens)
            if deepest is not None:
                return finding(231, self.place_at(deepest.start, deepest.end + 1))
            trees = parse(self.sql)
        except ParseError as error:
            return self._parse_failure(error)
        except TokenError as error:
            return finding(220, self._line_place(1), message=str(error).splitlines()[0])
        if len(trees) != 1:
            return finding(220, self._line_place(1), message=f"{len(trees)} statements instead of one")
        tree = trees[0]
        if isinstance(tree, exp.Query):
            return tree
        return finding(220, self._line_place(1), message="it is not a query")

    def place(self, node: exp.Expr, *words: str) -> Place | None:
        """The place of `node` in the text. With `words`, it starts at the nearest of these keywords before the node."""
        span = self.span(node) or self._word(node, words)
        if span is None:
            return self.place(node.parent, *words) if node.parent else None
        if words:
            span = (self._reach_back(span[0], words), span[1])
        return self.place_at(*span)

    def place_at(self, start: int, end: int) -> Place:
        """The first line of the span as a place."""
        line = self.sql.count("\n", 0, start)
        begin = self.sql.rfind("\n", 0, start) + 1
        text = self.sql[begin:].split("\n", 1)[0].rstrip("\r")
        width = min(end - begin, len(text))
        return Place(line + 1, text.expandtabs(1), start - begin, max(width, start - begin + 1), self.view)

    def span(self, node: exp.Expr) -> Span | None:
        """From the first to the last positioned descendant, including the bracket that
        closes a call; None if there are no positions.
        """
        found = [part for part in node.walk() if "start" in part.meta]
        if not found:
            return None
        start = min(part.meta["start"] for part in found)
        end = max(part.meta["end"] + 1 for part in found)
        if isinstance(node, exp.Func) and "start" not in node.meta:
            start = self._start_of_call(node, start)
        return start, self._close(start, end)

    def _start_of_call(self, node: exp.Func, start: int) -> int:
        """The start of a call whose own position is unknown. `start`: where its first argument starts."""
        number = self._number_at(start)
        before = self.tokens[max(0, number - 2) : number]
        names = {*node.sql_names(), node.sql(DIALECT).partition("(")[0], *_OTHER_NAMES.get(type(node), ())}
        if len(before) == 2 and before[1].token_type == TokenType.L_PAREN and before[0].text.upper() in names:
            return before[0].start
        return start

    def source(self, node: exp.Expr) -> str:
        """The user's text for `node`, on one line."""
        span = self.span(node)
        return " ".join(self.sql[slice(*span)].split()) if span else node.sql(DIALECT)

    @cached_property
    def tokens(self) -> list[Token]:
        return tokens_of(self.sql)

    @cached_property
    def _starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    def _number_at(self, start: int) -> int:
        """The index of the first token that starts at this character or after it."""
        return bisect_left(self._starts, start)

    def _close(self, start: int, end: int) -> int:
        """`end`, moved past closing brackets that directly follow and that match brackets opened after `start`."""
        depth = 0
        for token in islice(self.tokens, self._number_at(start), None):
            opens = token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET)
            closes = token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET)
            if token.start >= end and not (opens and token.start <= end) and not (closes and depth > 0):
                break
            depth += opens - closes
            end = max(end, token.end + 1) if depth >= 0 else end
        return end

    def _reach_back(self, start: int, words: tuple[str, ...]) -> int:
        near = [t.start for t in self.tokens if t.start <= start and t.text.upper() in words]
        return near[-1] if near else start

    def _word(self, node: exp.Expr, words: tuple[str, ...]) -> Span | None:
        """The span of a node without positions: its keyword, or the name by which it is written (CURRENT_USER)."""
        wanted = words or (node.sql(DIALECT).split("(")[0].upper(),)
        found = [token for token in self.tokens if token.text.upper() in wanted]
        return (found[-1].start, found[-1].end + 1) if found else None

    def _line_place(self, number: int) -> Place:
        lines = self.sql.split("\n")
        first = next((i for i, line in enumerate(lines) if line.strip()), 0) if number == 1 else number - 1
        line = lines[min(first, len(lines) - 1)]
        indent = len(line) - len(line.lstrip())
        return Place(first + 1, line, indent, len(line.rstrip()), self.view)

    def _parse_failure(self, error: ParseError) -> Finding:
        detail = error.errors[0] if error.errors else {}
        message = str(detail.get("description") or error).split(" but got <")[0].rstrip(".")
        line, end, word = detail.get("line"), detail.get("col"), str(detail.get("highlight") or "")
        if not line:
            return finding(220, self._line_place(1), message=message)
        text = self.sql.split("\n")[line - 1]
        end = int(end or len(text))
        return finding(220, Place(line, text, max(0, end - len(word)), end, self.view), message=message)


def statements(sql: str) -> Iterator[str]:
    """The statements of a text, unchanged, without the semicolons between them. Raises TokenError."""
    tokens: list[Token] = []
    for token in (*tokens_of(sql), None):
        if token is not None and token.token_type != TokenType.SEMICOLON:
            tokens.append(token)
        elif tokens:
            yield sql[tokens[0].start : tokens[-1].end + 1]
            tokens = []
