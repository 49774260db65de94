"""How deeply brackets, CASEs and prefixes may nest, checked before a text is parsed (`deep.py`)."""

from __future__ import annotations

from sqlglot import Token, TokenType

# It is checked before any recursion, because sqlglot's compiled build would crash the process where its Python parser would raise
# RecursionError.
DEEPEST = 200

_OPENS = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE})
_CLOSES = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END})
_PREFIXES = frozenset({TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE})


def too_deep(tokens: list[Token]) -> Token | None:
    """The first token that is nested too deeply; None if there is none."""
    depth = prefixes = 0
    for token in tokens:
        prefixes = prefixes + 1 if token.token_type in _PREFIXES else 0
        depth = max(0, depth + (token.token_type in _OPENS) - (token.token_type in _CLOSES))
        if depth + prefixes > DEEPEST:
            return token
    return None
