"""Parsing Spark SQL such that every function is printed again as the user wrote it.

sqlglot's own parser normalises functions across dialects and prints some as other functions: log10(x) as LOG(10, x), which
differs in the last digit; date_trunc(unit, t) with a column `unit` as DATE_TRUNC('UNIT', t). Here a function becomes a typed node
only if its text stays the same; otherwise it is a call by name.

To achieve this, function names are prefixed with a mark before parsing, so that sqlglot does not know them, and the typed nodes
are built afterwards. We do not subclass the parser, because sqlglot's compiled build, which is used wherever it is installed,
does not allow that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import ErrorLevel, Token, TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError

from dbt_idivm.algebra.aggregates import LISTS
from dbt_idivm.frontend import functions
from dbt_idivm.frontend.precedence import bind_as_spark, with_unsigned_shifts

Builder = Callable[..., exp.Expr]

# Synonyms of the same function, and forms with their own syntax that are printed in full.
_SAME = frozenset(
    {
        "NVL",
        "IFNULL",
        "MEAN",
        "INT",
        "BIGINT",
        "SMALLINT",
        "TINYINT",
        "DOUBLE",
        "FLOAT",
        "STRING",
        "BOOLEAN",
        "DATE",
        "TIMESTAMP",
        "BINARY",
        "DECIMAL",
        "CEILING",
        "LCASE",
        "UCASE",
        "POW",
        "EVERY",
        "STD",
        "VAR_SAMP",
        "ANY",
        "SOME",
    }
)
# f(unit, x, y): the unit is a keyword, not a column.
_UNIT_FIRST = frozenset({"DATEADD", "DATE_ADD", "DATEDIFF", "DATE_DIFF", "TIMESTAMPADD", "TIMESTAMPDIFF"})
# sqlglot parses these as more than a call: the path in get_json_object becomes a separate tree.
_BY_NAME = frozenset({"GET_JSON_OBJECT"})
# Aggregates that stay calls by name. Most have sqlglot nodes, but some of these print another function, lose an argument or
# refuse DISTINCT.
_AGGREGATES = frozenset(name.upper() for name in (*functions.OF_GROUPS, *LISTS, "array_agg"))
# Parsed by sqlglot itself: their arguments are more than a list of expressions.
_OWN_SYNTAX = frozenset(
    {
        "CAST",
        "TRY_CAST",
        "EXTRACT",
        "TRIM",
        "OVERLAY",
        "POSITION",
        "SUBSTRING",
        "SUBSTR",
        "PERCENTILE_APPROX",
        "APPROX_PERCENTILE",
        "MAX_BY",
        "MIN_BY",
        "STRUCT",
    }
)

_PARSER: Any = Spark.parser_class
_BUILDERS: dict[str, Builder] = {
    **dict.fromkeys(_UNIT_FIRST, exp.Anonymous.from_arg_list),
    **_PARSER.FUNCTIONS,
    **dict.fromkeys(_BY_NAME, exp.Anonymous.from_arg_list),
    "WINDOW": exp.Anonymous.from_arg_list,  # the time window; sqlglot expects the clause
    "MEAN": exp.Avg.from_arg_list,
    "EVERY": exp.LogicalAnd.from_arg_list,
    "ANY": exp.LogicalOr.from_arg_list,
    "SOME": exp.LogicalOr.from_arg_list,
    "STD": exp.Stddev.from_arg_list,
}
_MARKED = frozenset({*_BUILDERS, *_PARSER.FUNCTION_PARSERS, *_AGGREGATES}) - _OWN_SYNTAX
# f(x, TRUE) is f(x) IGNORE NULLS, and f(x, FALSE) is f(x)
_WITHOUT_NULLS: dict[str, type[exp.AggFunc]] = {
    "ANY_VALUE": exp.AnyValue,
    "FIRST": exp.First,
    "LAST": exp.Last,
    "FIRST_VALUE": exp.FirstValue,
    "LAST_VALUE": exp.LastValue,
}
# No comma may precede a token of _AFTER_LIST, or follow a token of _BEFORE_LIST.
_AFTER_LIST = frozenset(
    {
        TokenType.COMMA,
        TokenType.R_PAREN,
        TokenType.R_BRACKET,
        TokenType.FROM,
        TokenType.WHERE,
        TokenType.HAVING,
        TokenType.GROUP_BY,
        TokenType.ORDER_BY,
        TokenType.SEMICOLON,
    }
)
# Tokens before ANY and SOME that make these keywords of a comparison instead of aggregates.
_COMPARED = frozenset(
    {
        TokenType.EQ,
        TokenType.NEQ,
        TokenType.LT,
        TokenType.LTE,
        TokenType.GT,
        TokenType.GTE,
        TokenType.NULLSAFE_EQ,
        TokenType.LIKE,
        TokenType.ILIKE,
        TokenType.RLIKE,
    }
)
_BEFORE_LIST = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.SELECT, TokenType.FROM})


def tokens_of(sql: str) -> list[Token]:
    """The tokens of a text. Raises `sqlglot.errors.TokenError`."""
    return Spark().tokenize(sql)


def code_of(sql: str) -> str:
    """The SQL without comments and layout: its tokens as written, because printing a tree may make different texts equal.

    Raises `sqlglot.errors.TokenError`.
    """
    return " ".join(sql[token.start : token.end + 1] for token in tokens_of(sql))


def parse(sql: str) -> list[exp.Expr]:
    """The statements of a text. Raises `sqlglot.errors.ParseError` and `TokenError`."""
    mark = next(char for char in map(chr, range(0xE000, 0xF900)) if char not in sql)  # a private-use character
    tokens = _with_hex_strings(tokens_of(sql))
    _refuse_commas(tokens)
    for token, after, then in zip(tokens, (*tokens[1:], None), (*tokens[2:], None, None), strict=False):
        if token.token_type == TokenType.WINDOW and not _is_clause(after, then):
            token.token_type = TokenType.VAR
    for before, token, after in zip((None, *tokens), tokens, tokens[1:], strict=False):
        qualified = before is not None and before.token_type == TokenType.DOT
        compared = before is not None and before.token_type in _COMPARED and token.text.upper() in ("ANY", "SOME")
        if after.token_type == TokenType.L_PAREN and token.text.upper() in _MARKED and not qualified and not compared:
            token.text, token.token_type = mark + token.text, _name(token)
        if before is not None and before.token_type == TokenType.SELECT and _is_column_all(token, after):
            token.token_type = TokenType.VAR
    return [_without(mark, tree) for tree in Spark().parser().parse(with_unsigned_shifts(tokens), sql) if tree is not None]


def _is_clause(after: Token | None, then: Token | None) -> bool:
    """Whether WINDOW, followed by these two tokens, is the clause WINDOW name AS …, and not the function or a column."""
    named = after is not None and after.token_type not in (TokenType.L_PAREN, TokenType.ALIAS, TokenType.DOT, TokenType.COMMA)
    return named and then is not None and then.token_type == TokenType.ALIAS


def _name(token: Token) -> TokenType:
    """The type of a token that is a function name. ANY and SOME are otherwise keywords of comparisons."""
    return TokenType.VAR if token.token_type in (TokenType.ANY, TokenType.SOME) else token.token_type


def _with_hex_strings(tokens: list[Token]) -> list[Token]:
    """The tokens with X 'FF' merged into one, as in Spark. X'FF' is one token already."""
    found: list[Token] = []
    for token in tokens:
        before = found[-1] if found else None
        if (
            before is not None
            and token.token_type == TokenType.STRING
            and before.token_type == TokenType.VAR
            and before.text.upper() == "X"
        ):
            token.token_type = TokenType.HEX_STRING
            found.pop()
        found.append(token)
    return found


def _is_column_all(token: Token, after: Token) -> bool:
    """Whether ALL after SELECT is a column: it is, if nothing to select follows."""
    return token.token_type == TokenType.ALL and after.token_type in (TokenType.COMMA, TokenType.FROM, TokenType.ALIAS)


def _refuse_commas(tokens: Sequence[Token]) -> None:
    """Raise ParseError for syntax that sqlglot accepts but Spark does not: a comma with nothing before or after it, and `??`."""
    for token, after in zip(tokens, (*tokens[1:], None), strict=False):
        loose = token.token_type == TokenType.COMMA and (after is None or after.token_type in _AFTER_LIST)
        empty = token.token_type in _BEFORE_LIST and after is not None and after.token_type == TokenType.COMMA
        if loose or empty or token.token_type == TokenType.DQMARK:
            wrong = after if empty and after is not None else token
            raise ParseError.new(f"unexpected {wrong.text}", line=wrong.line, col=wrong.col, highlight=wrong.text)


def _without(mark: str, tree: exp.Expr) -> exp.Expr:
    """The tree with marked calls replaced by functions. Other marked names, such as t in `AS t (a, b)`, only lose the mark."""
    tree = bind_as_spark(tree)
    _bind_variables(tree)
    for raw in list(tree.find_all(exp.RawString)):
        text = exp.Literal.string(raw.name)
        text.meta.update(raw.meta)
        raw.replace(text)
    nodes = list(tree.walk())
    calls = [node for node in nodes if isinstance(node, exp.Anonymous) and node.name.startswith(mark)]
    for node in nodes:
        if isinstance(node.this, str) and node.this.startswith(mark):
            node.set("this", node.this.removeprefix(mark))
    for call in reversed(calls):  # arguments first
        call.replace(_function(call))
    return _with_queries_of_values(tree)


def _bind_variables(tree: exp.Expr) -> None:
    """Turn columns into lambda variables if they differ from a variable of an enclosing lambda only in case.

    sqlglot does that only for names in the same case. Wrong without it: in exists(parts, E -> e > 1) over a table
    with a column `e`, e would be the column.
    """
    for function in list(tree.find_all(exp.Lambda)):
        names = {each.name.lower() for each in function.expressions}
        for node in list(function.this.find_all(exp.Column)):
            if node.parts[0].name.lower() in names:
                node.replace(node.to_dot() if len(node.parts) > 1 else node.this)


def _with_queries_of_values(tree: exp.Expr) -> exp.Expr:
    """Wrap VALUES in a SELECT where Spark expects a query but sqlglot makes none: as the
    whole text, in brackets, or in IN and EXISTS.

    Spark has the last word: after IN it reads `(VALUES (1))` as a function call, and `(VALUES 1)` as a query.
    """
    for node in list(tree.find_all(exp.Values)):
        above = node.parent
        if isinstance(above, exp.In) and above.expressions == [node]:
            above.set("query", exp.Subquery(this=_select(node)))
            above.set("expressions", None)
        elif isinstance(above, exp.Exists | exp.Subquery):
            above.set("this", _select(node))
    return _select(tree) if isinstance(tree, exp.Values) else tree


def _select(rows: exp.Values) -> exp.Select:
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=rows.copy()))


def _function(call: exp.Anonymous) -> exp.Expr:
    """sqlglot's typed node for a call, or the call by name if the node would be printed differently. Raises ParseError."""
    name, args = call.name.upper(), call.expressions
    kind = exp.AnonymousAggFunc if name in _AGGREGATES else exp.Anonymous
    plain = kind(this=call.name.lower(), expressions=[arg.copy() for arg in args])
    if call.name.lower() not in functions.BUILT_IN:  # a user's function, whose name may be a function in another engine
        plain.set("this", call.this)
        plain.meta.update(call.meta)
        plain.add_comments(call.comments)
        return plain
    if name in _WITHOUT_NULLS and len(args) == 2 and isinstance(args[1], exp.Boolean):
        function = _WITHOUT_NULLS[name](this=args[0].copy())
        return exp.IgnoreNulls(this=function) if args[1].this else function
    if name in _UNIT_FIRST and len(args) == 3:
        plain.expressions[0].replace(exp.Var(this=args[0].name.upper()))
    try:
        node = plain if name in _AGGREGATES else _built(_BUILDERS[name], args)
        found = node if name in _SAME or _text(node) == _text(plain) else plain
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # the arguments do not fit the node
        found = plain
    wrong = ["Expected )"] if any(isinstance(arg, exp.Alias) for arg in args) else found.error_messages(args)
    if wrong:
        raise ParseError.new(wrong[0], line=call.meta.get("line"), col=call.meta.get("col"), highlight=call.name)
    found.meta.update(call.meta)
    found.add_comments(call.comments)
    return found


def _built(builder: Builder, args: Sequence[exp.Expr]) -> exp.Expr:
    """The node that a builder makes. A builder may require the dialect as an argument; sqlglot finds out in the same way."""
    try:
        return builder(args)
    except TypeError:
        return builder(args, dialect=Spark())


def _text(node: exp.Expr) -> str:
    return node.sql(Spark, unsupported_level=ErrorLevel.IGNORE)
