"""Refusals: the constructs that a model's SQL may not contain, each with its code and place.

The tree is walked once. A construct on no list is refused as well (IDIVM-228): nothing passes unexamined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from sqlglot import TokenType, exp

from dbt_idivm.algebra.aggregates import is_completable, is_settled, whole
from dbt_idivm.algebra.expressions import DIALECT, is_qualified
from dbt_idivm.algebra.written_time import is_clock
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend import functions, generators, grouping_sets, limit, pivot, time_windows, user_functions, window
from dbt_idivm.frontend.aggregate_calls import aggregate_shape, filtered, within_group
from dbt_idivm.frontend.dialect import tokens_of
from dbt_idivm.frontend.invalid import arguments, branches, double_name, symmetric
from dbt_idivm.frontend.lateral import is_joined
from dbt_idivm.frontend.resolve import is_over_window
from dbt_idivm.frontend.text import Text
from dbt_idivm.frontend.values import constant_rows
from dbt_idivm.operators.aggregate import FUNCTIONS

Check = Callable[[exp.Expr, Text], Finding | None]


def refusals(tree: exp.Expr, text: Text) -> Iterator[Finding]:
    """The findings about `tree`. Nothing inside a refused expression is examined."""
    if isinstance(tree, exp.Literal | exp.Identifier):
        return  # shortcut: most nodes are literals or identifiers, which are never refused
    found = refusal_of(tree, text)
    if found is not None:
        yield found
        if not isinstance(tree, exp.Query | exp.Join):
            return
    for child in tree.iter_expressions():
        yield from refusals(child, text)


def refusal_of(node: exp.Expr, text: Text) -> Finding | None:
    """Why this node is refused, regardless of its children; None if it is not."""
    return next((each for check in CHECKS if (each := check(node, text)) is not None), None)


def join(node: exp.Expr, text: Text) -> Finding | None:
    if not isinstance(node, exp.Join):
        return None
    words = " ".join(word for word in (node.method, node.side, node.kind, "JOIN") if word)
    if node.kind in ("SEMI", "ANTI"):
        known = node.side in ("", "LEFT") and not node.method
        return None if known else finding(229, text.place(node.this, node.side or node.kind), what=words)
    if isinstance(node.this, exp.Lateral):
        # Spark evaluates an outer one as a join with the groups of the generator's input, and loses rows in chains of them
        words += " LATERAL (use LATERAL VIEW OUTER)"
        plain = not (node.method or node.side or node.args.get("using"))
        return None if plain or not generators.generator(node.this.this) else finding(228, text.place(node.this), what=words)
    return None if node.method in ("", "NATURAL") else finding(228, text.place(node.this, "JOIN"), what=words)


def ordering(node: exp.Expr, text: Text) -> Finding | None:
    """ORDER BY inside a function."""
    if not isinstance(node, exp.Order) or isinstance(node.parent, exp.Window | exp.WithinGroup | exp.Query):
        return None
    return finding(228, text.place(node), what=f"{type(node).__name__}: {text.source(node)}")


def recursion(node: exp.Expr, text: Text) -> Finding | None:
    if not isinstance(node, exp.With) or not node.recursive:
        return None
    names = ", ".join(cte.alias for cte in node.expressions)
    return finding(214, text.place(node.expressions[0].args["alias"], "RECURSIVE"), name=names)


def set_operation(node: exp.Expr, text: Text) -> Finding | None:
    if isinstance(node, exp.Union) and node.args.get("by_name"):
        return finding(228, text.place(node.expression, "UNION"), what="UNION BY NAME")
    return None


def grouping(node: exp.Expr, text: Text) -> Finding | None:
    """Grouping sets that Spark does not accept, or too many of them."""
    if not isinstance(node, exp.Group) or not grouping_sets.has_sets(node):
        return None
    wrong = grouping_sets.problem(node)
    if wrong is not None:
        return finding(229, text.place(node, "GROUP"), what=wrong)
    most = grouping_sets.MOST_SETS
    return finding(210, text.place(node, "GROUP"), most=most) if len(grouping_sets.sets_of(node)) > most else None


def lateral(node: exp.Expr, text: Text) -> Finding | None:
    if not isinstance(node, exp.Lateral) or generators.generator(node.this):
        return None
    if isinstance(node.this, exp.Subquery):
        return None if is_joined(node) else finding(208, text.place(node, "LATERAL"), what="LATERAL")
    what = f"LATERAL VIEW {text.source(node.this)}" if node.args.get("view") else f"LATERAL {text.source(node.this)}"
    return finding(211, text.place(node, "LATERAL"), what=what)


def sample(node: exp.Expr, text: Text) -> Finding | None:
    return finding(213, text.place(node, "TABLESAMPLE")) if isinstance(node, exp.TableSample) else None


def time_travel(node: exp.Expr, text: Text) -> Finding | None:
    if not isinstance(node, exp.Table):
        return None
    alias = node.args.get("alias")
    at_version = isinstance(alias, exp.TableAlias) and isinstance(alias.this, exp.Parameter)
    if at_version or node.args.get("version") or node.args.get("when"):
        return finding(215, text.place(node), table=".".join(part.name for part in node.parts))
    return None


def subquery(node: exp.Expr, text: Text) -> Finding | None:
    """ANY and ALL over a query. Other subqueries are refused where they are not expected."""
    if isinstance(node, exp.Any | exp.All) and isinstance(node.this, exp.Query | exp.Paren):
        word = type(node).__name__.upper()
        if isinstance(node.parent, exp.Like | exp.ILike) and not isinstance(node.this.unnest(), exp.Query):
            return None  # s LIKE ANY ('a%')
        if not isinstance(node.this.unnest(), exp.Query):  # an aggregate of conditions
            return finding(216, text.place(node), function=f"{word.lower()}({text.source(node.this)})")
        return finding(208, text.place(node, word), what=word)
    return None


def function(node: exp.Expr, text: Text) -> Finding | None:
    """A call of a function that, under the name that Spark gets, is not on the list of harmless ones."""
    name = user_functions.called(node)
    if name is not None and not user_functions.is_built_in(name):
        return user_functions.refused(node, name, text)
    if isinstance(node, exp.Dot) and not isinstance(node.expression, exp.Identifier):
        return finding(226, text.place(node), function=text.source(node))
    if not isinstance(node, exp.Func) or isinstance(node, exp.Connector) or node.arg_key == "ifs" or is_qualified(node):
        return None  # "ifs": a branch of CASE is an IF without a value of its own
    if is_clock(node):
        return None  # refused by how it is used (`written_times.py`)
    for name in own_functions(node):
        found = _named(name, node, text)
        if found is not None:
            return found
    return None


def _named(name: str, node: exp.Expr, text: Text) -> Finding | None:
    refused = _refused(name, node)
    if refused is None:
        return None
    code, detail, behind = refused
    more = {"reason": "for this function, or at this place, no order of them is kept"} if code == 207 else {}
    return finding(code, text.place(node), **{detail: f"{text.source(node)}{behind}"}, **more)


def _refused(name: str, node: exp.Expr) -> tuple[int, str, str] | None:
    """(code, name of the detail that has the text of the call, text to append) if a call is refused; else None."""
    if name in functions.OF_WINDOWS and is_over_window(node) and not isinstance(node, exp.Anonymous):
        return None
    if isinstance(node, exp.AggFunc) and (name in functions.OF_GROUPS or (name in functions.ORDERED and is_completable(node))):
        if not is_over_window(whole(node)):
            return None
        if name in functions.OF_GROUPS or is_settled(node):
            return 216, "function", " OVER"
    if any(
        name in known
        for known in (functions.SCALAR, FUNCTIONS, functions.OF_SETS, functions.OF_TIMES, functions.SUGAR, generators.NAMES)
    ):
        return None
    if name in functions.OF_WINDOWS and not isinstance(node, exp.Anonymous) and name not in functions.ORDERED:
        return 229, "what", " without OVER"
    if name in functions.AGGREGATE:
        return 216, "function", ""
    if name in functions.GENERATOR:
        return 211, "what", ""
    for code, names in ((204, functions.RANDOM), (206, functions.VOLATILE), (207, functions.ORDERED)):
        if name in names:
            return code, "function", ""
    return 226, "function", ""


def own_functions(node: exp.Expr) -> tuple[str, ...]:
    """The lower-case names of the functions that Spark will see for `node` itself, without those of its arguments."""
    names = Counter(_functions(node.sql(DIALECT)))
    for child in node.iter_expressions():
        names -= Counter(_functions(child.sql(DIALECT)))
    return tuple(names)


def _functions(sql: str) -> Iterator[str]:
    """The names before opening brackets, and bare words such as CURRENT_DATE; `?.name` for a qualified name."""
    tokens = tokens_of(sql)
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        name = token.text.lower()
        if token.token_type in (TokenType.STRING, TokenType.NUMBER) or name in functions.SYNTAX:
            continue
        if after is not None and after.token_type == TokenType.L_PAREN:
            qualified = before is not None and before.token_type == TokenType.DOT
            yield f"?.{name}" if qualified else name
        elif token.token_type != TokenType.IDENTIFIER and name in functions.VOLATILE and token.text.isupper():
            yield name


def table_function(node: exp.Expr, text: Text) -> Finding | None:
    """A function in FROM that is not a table function."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Func):
        return None
    names = set(own_functions(node.this))
    aggregates = functions.AGGREGATE | functions.OF_GROUPS | functions.ORDERED | FUNCTIONS.keys()
    known = names & (functions.SCALAR | functions.VOLATILE | aggregates)
    return finding(229, text.place(node.this), what=f"{text.source(node.this)} in FROM") if known else None


def rewritten(node: exp.Expr, text: Text) -> Finding | None:
    """Constructs that sqlglot prints with another meaning in Spark: TIME becomes TIMESTAMP."""
    if isinstance(node, exp.DataType) and node.this in (exp.DataType.Type.TIME, exp.DataType.Type.TIMETZ):
        return finding(228, text.place(node), what="type TIME")
    return None


def doubled_quote(node: exp.Expr, text: Text) -> Finding | None:
    """A doubled quote: since Spark 4, 'it''s' is one string with a quote; for sqlglot and
    earlier versions it is two adjacent strings.
    """
    if not isinstance(node, exp.Query) or node.parent is not None:
        return None
    strings = [token for token in text.tokens if token.token_type in (TokenType.STRING, TokenType.RAW_STRING)]
    for first, second in pairwise(strings):
        if first.end + 1 == second.start:
            place = text.place_at(first.start, second.end + 1)
            return finding(228, place, what="a doubled quote in a string (escape the quote with a backslash)")
    return None


def inner_star(node: exp.Expr, text: Text) -> Finding | None:
    """A star outside of a select list and count(*)."""
    if not isinstance(node, exp.Star) or isinstance(node.parent, exp.Select | exp.Count):
        return None
    inside = node.parent.parent if isinstance(node.parent, exp.Column) else node.parent
    return None if isinstance(inside, exp.Select) else finding(228, text.place(node), what="a star in an expression")


def unknown(node: exp.Expr, text: Text) -> Finding | None:
    """A node or clause that is on no list."""
    if isinstance(node, exp.Star) and any(node.args.get(key) for key in ("replace", "rename", "ilike")):
        return finding(228, text.place(node), what=node.sql(DIALECT))
    if isinstance(node, exp.Distinct) and node.args.get("on"):
        return finding(228, text.place(node), what="DISTINCT ON")
    if isinstance(node, exp.Query):
        for key in node.args:
            if node.args[key] and key not in _CLAUSES:
                return finding(228, text.place(node), what=f"clause {key.strip('_').replace('_', ' ').upper()}")
    if isinstance(node, exp.Func) or type(node) in _KNOWN:
        return None
    return finding(228, text.place(node), what=f"{type(node).__name__}: {text.source(node)}")


_CLAUSES = frozenset(
    {
        "with_",
        "expressions",
        "from_",
        "joins",
        "where",
        "group",
        "having",
        "distinct",
        "this",
        "expression",
        "alias",
        "laterals",
        "order",
        "limit",
        "offset",
        "qualify",
        "windows",
        "pivots",
        "sample",
        "kind",
    }
)
_KNOWN: frozenset[type[exp.Expr]] = frozenset(
    {
        # queries
        exp.Select,
        exp.Union,
        exp.Intersect,
        exp.Except,
        exp.Subquery,
        exp.With,
        exp.CTE,
        exp.From,
        exp.Join,
        exp.Table,
        exp.Values,
        exp.TableAlias,
        exp.Aliases,
        exp.Lateral,
        exp.Pivot,
        exp.PivotAlias,
        exp.Where,
        exp.Group,
        exp.Having,
        exp.Filter,
        exp.Rollup,
        exp.Cube,
        exp.GroupingSets,
        exp.Distinct,
        exp.Star,
        exp.Alias,
        exp.Limit,
        exp.Offset,
        # names and values
        exp.Column,
        exp.Identifier,
        exp.Literal,
        exp.Null,
        exp.Boolean,
        exp.Var,
        exp.DataType,
        exp.DataTypeParam,
        exp.ColumnDef,
        exp.Interval,
        exp.IntervalSpan,
        exp.Tuple,
        exp.PropertyEQ,
        exp.Lambda,
        # operators
        exp.Paren,
        exp.Not,
        exp.Neg,
        exp.BitwiseNot,
        exp.Add,
        exp.Sub,
        exp.Mul,
        exp.Div,
        exp.IntDiv,
        exp.Mod,
        exp.DPipe,
        exp.BitwiseAnd,
        exp.BitwiseOr,
        exp.BitwiseXor,
        exp.BitwiseLeftShift,
        exp.BitwiseRightShift,
        exp.And,
        exp.Or,
        exp.EQ,
        exp.NEQ,
        exp.NullSafeEQ,
        exp.NullSafeNEQ,
        exp.GT,
        exp.GTE,
        exp.LT,
        exp.LTE,
        exp.Is,
        exp.Between,
        exp.In,
        exp.Like,
        exp.ILike,
        exp.Escape,
        exp.Any,
        exp.All,
        exp.Dot,
        exp.Bracket,
        exp.HexString,
        # windows
        exp.Window,
        exp.WindowSpec,
        exp.WithinGroup,
        exp.Order,
        exp.Ordered,
        exp.IgnoreNulls,
        exp.RespectNulls,
    }
)

CHECKS: tuple[Check, ...] = (
    join,
    window.refused,
    generators.misplaced,
    time_windows.misplaced,
    ordering,
    limit.refused,
    recursion,
    double_name,
    branches,
    set_operation,
    grouping,
    lateral,
    pivot.refused,
    sample,
    time_travel,
    constant_rows,
    subquery,
    filtered,
    aggregate_shape,
    within_group,
    arguments,
    table_function,
    symmetric,
    rewritten,
    function,
    doubled_quote,
    inner_star,
    unknown,
)
