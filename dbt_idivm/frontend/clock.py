"""Texts that Spark evaluates by the clock: an expression over one of them is not maintained (ADR 0011).

If a constant text is converted to a date or timestamp, Spark reads 'now', 'today', 'yesterday' and 'tomorrow' relative to the
clock. If any text that holds only a time of day is converted to a TIMESTAMP, Spark adds the current date. 'epoch' has the same
value at any time, but, like these words, only where the constant itself is converted: as the value of a column it is not a time.
The conversion may be implicit: `d > 'today'`, CASE and functions of dates convert too. A text with a format (`to_timestamp(s,
'HH:mm')`) has the same value at any time.

If a type is unknown, or a constant is computed, the worst case is assumed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from sqlglot import exp

from dbt_idivm.algebra.expressions import DIALECT, as_written, attributes, call_name, column, is_qualified, substitute
from dbt_idivm.algebra.guards import guarded_text
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import alternatives, infer_type, inferred, type_of
from dbt_idivm.context import UserFunction
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend import functions, user_functions
from dbt_idivm.frontend.families import (
    ADDING,
    TIMES,
    UNKNOWN,
    Family,
    Types,
    families,
    is_interval,
    is_scalar,
    is_variable,
    keys_of,
    of_type,
)
from dbt_idivm.frontend.lambdas import with_typed_variables
from dbt_idivm.frontend.refuse import own_functions
from dbt_idivm.frontend.text import Text
from dbt_idivm.frontend.types import COMPARISONS

Functions = Mapping[str, UserFunction]
Conversion = tuple[exp.Expr, frozenset[Family]]  # (operand, target families); with "text" if parts of it become times

_CLOCK_WORD = re.compile(r"\s*((now|today|tomorrow|yesterday)(?![a-z])|t|\d+\s*:)", re.IGNORECASE)
_IN_COLUMN = re.compile(rf"{_CLOCK_WORD.pattern}|\s*epoch(?![a-z])", re.IGNORECASE)  # read differently if the plan inserts it
_SCHEMA = re.compile(r"timestamp(?!_ntz)", re.IGNORECASE)
_SHOWN = 60  # characters

_WITHOUT_FORMAT: Mapping[str, Family] = {
    **dict.fromkeys(functions.PARSE_TIMESTAMP, "timestamp"),
    **dict.fromkeys(functions.PARSE_DATE, "date"),
}
_CONVERTING = functions.OF_TIMESTAMP.union(
    functions.OF_TIMESTAMP_AND_ZONE,
    functions.OF_DATE,
    functions.OF_DATE_OR_UNIT,
    _WITHOUT_FORMAT,
    functions.BY_SCHEMA,
    functions.UNIFYING,
    ("concat",),
)


def clock_texts(root: Operator, text: Text, known: Functions) -> Iterator[Finding]:
    """IDIVM-230 for each expression of the plan whose value may depend on the time of its evaluation.

    `known`: the user's functions. A constant that a subquery names counts wherever the name is
    used, because the plan may insert it there.
    """
    for shown, operand in _clock_dependent(root, known):
        words = operand.name if isinstance(operand, exp.Literal) else None
        token = next((token for token in text.tokens if words is not None and token.text == words), None)
        yield finding(230, text.place_at(token.start, token.end + 1) if token else None, expression=_cut(as_written(shown)))


def _cut(source: str) -> str:
    return source if len(source) <= _SHOWN else f"{source[:_SHOWN]}…"


def _clock_dependent(root: Operator, users: Functions) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Pairs (expression that depends on the clock, operand that causes it)."""
    constants: dict[str, exp.Expr] = {}  # attribute → its constant value, if Spark may evaluate that by the clock
    for each in operators(root):
        types = inferred({name: kind for child in each.inputs for name, kind in child.types.items()})
        for expression in each.expressions:
            names = attributes(expression)
            words = _CLOCK_WORD
            if not constants.keys().isdisjoint(names):
                words = _IN_COLUMN
                expression = substitute(expression, {name: constants.get(name, column(name)) for name in names})
            whole, variables = with_typed_variables(expression, types)
            known = inferred({**types, **variables})
            for node in whole.walk():
                if isinstance(node, exp.Literal):
                    continue  # shortcut: most nodes of a long IN are literals
                found = (
                    operand
                    for operand, becomes in _conversions(node, known, users)
                    if _depends_on_clock(operand, becomes, known, words)
                )
                cause = next(found, None)
                if cause is not None:
                    yield node, cause
        constants.update((name, made) for name, made in each.defined if _reads_the_clock(made, types, _IN_COLUMN))
        for output, sources in each.united:
            operands = [constants.get(name, column(name)) for name in sources if name is not None]
            # if types are unknown, the engine is asked for them, and conversions become casts below ∪
            if not any(infer_type(operand, types).this in UNKNOWN for operand in operands):
                unified = _unified(operands, types)
                yield from (
                    (operand, operand) for operand, becomes in unified if _depends_on_clock(operand, becomes, types, _IN_COLUMN)
                )
            constants.update((output, operand) for operand in operands if _reads_the_clock(operand, types, _IN_COLUMN))


def _conversions(node: exp.Expr, types: Types, users: Functions) -> Iterator[Conversion]:
    """The operands of `node` that it may convert, each with the families of the target type."""
    name = user_functions.called(node)
    if isinstance(node, exp.Cast):
        inner = user_functions.called(node.this)
        if inner is not None and user_functions.returned(inner, users) == node.to:
            return
        yield node.this, of_type(node.to) & TIMES
    elif isinstance(node, (*COMPARISONS, *ADDING)):
        sides = [node.this.unnest(), node.expression.unnest()]
        pairs = zip(*(s.expressions for s in sides), strict=False) if all(isinstance(s, exp.Tuple) for s in sides) else [sides]
        for pair in pairs:
            yield from _unified(list(pair), types)
    elif isinstance(node, exp.DPipe):
        if not any(is_scalar(each, types) for each in (node.this, node.expression)):
            yield from _unified([node.this, node.expression], types)
    elif isinstance(node, exp.Bracket):
        yield from ((each, keys_of(node.this, types) & TIMES) for each in node.expressions)
    elif isinstance(node, exp.Lag | exp.Lead) and node.args.get("default") is not None:
        yield from _unified([node.this, node.args["default"]], types)
    elif isinstance(node, exp.Between):
        yield from _unified([node.this, node.args["low"], node.args["high"]], types)
    elif isinstance(node, exp.In):
        tested = node.this.unnest()
        rows = [tested, *(each.unnest() for each in node.expressions)]
        for operands in zip(*(row.expressions for row in rows), strict=False) if isinstance(tested, exp.Tuple) else [rows]:
            yield from _unified(list(operands), types)
    elif isinstance(node, exp.Case):
        yield from _unified(alternatives(node), types)
        if node.this is not None:
            yield from _unified([node.this, *(branch.this for branch in node.args["ifs"])], types)
    elif name is not None and name in users:
        yield from _by_user_function(node, users[name])
    elif isinstance(node, exp.Func) and not isinstance(node, exp.Connector) and not is_qualified(node):
        yield from _by_function(node, types)


def _by_user_function(node: exp.Expr, function: UserFunction) -> Iterator[Conversion]:
    """The conversions of a call of a user's function: operands are converted to its parameter types.

    If these are unknown, constants may become times; for other texts we rely on the user's declaration.
    """
    operands = (node.expression if isinstance(node, exp.Dot) else node).expressions
    if function.parameters is None:
        yield from _all_become("date", operands)
        return
    for operand, kind in zip(operands, function.parameters, strict=False):
        yield operand, of_type(type_of(kind)) & TIMES


def _by_function(node: exp.Func, types: Types) -> Iterator[Conversion]:
    """The conversions of a call of a built-in function."""
    if isinstance(node, exp.If | exp.Nvl2):
        yield from _unified(alternatives(node), types)
        return
    for name in own_functions(node):
        if name not in _CONVERTING:
            continue
        operands = [_written(each) for each in node.iter_expressions() if not isinstance(each, exp.Var | exp.DataType)]
        if name in functions.OF_TIMESTAMP_AND_ZONE:
            yield from _all_become("timestamp", operands[:1])
        elif name in functions.OF_TIMESTAMP:
            yield from _all_become("timestamp", operands)
        elif name in functions.OF_DATE:
            yield from _all_become("date", operands)
        elif name in functions.OF_DATE_OR_UNIT:
            yield from _all_become("timestamp" if _has_unit(node) else "date", operands)
        elif name in _WITHOUT_FORMAT and len(operands) == 1:
            yield from _all_become(_WITHOUT_FORMAT[name], operands)
        elif name in functions.BY_SCHEMA and _may_name_timestamps(name, operands):
            yield operands[0], frozenset({"text", "timestamp"})
        elif name in functions.UNIFYING or (name == "concat" and not any(is_scalar(each, types) for each in operands)):
            yield from _unified(operands, types)


def _may_name_timestamps(function: str, operands: Sequence[exp.Expr]) -> bool:
    """Whether the schema or type by which a text is parsed may contain a TIMESTAMP.

    A computed schema may contain anything, but schema_of_json finds timestamps only if an option says so.
    """
    if any(_SCHEMA.search(each.name) for operand in operands for each in operand.find_all(exp.Literal)):
        return True
    for schema in operands[2 if function.endswith("variant_get") else 1 :][:1]:
        inferred = call_name(schema) == "schema_of_json" and len(schema.expressions) == 1
        return not isinstance(schema.unnest(), exp.Literal) and not inferred
    return False


def _written(operand: exp.Expr) -> exp.Expr:
    """The argument of a call, without conversions that sqlglot adds to the tree and does not print."""
    parent, inner = operand.parent, list(operand.iter_expressions())
    if not isinstance(operand, exp.Func) or len(inner) != 1 or parent is None or operand.arg_key is None:
        return operand
    without = parent.copy()
    place = without.args[operand.arg_key]
    argument = place if operand.index is None else place[operand.index]
    argument.replace(inner[0].copy())
    return _written(inner[0]) if without.sql(DIALECT) == parent.sql(DIALECT) else operand


def _all_become(family: Family, operands: Sequence[exp.Expr]) -> Iterator[Conversion]:
    for operand in operands:
        yield operand, frozenset({family})


def _has_unit(node: exp.Func) -> bool:
    return node.args.get("unit") is not None or len(node.expressions) == 3


def _unified(operands: Sequence[exp.Expr], types: Types) -> Iterator[Conversion]:
    """The conversions of operands to a common type: each to the type of another operand. An interval is added to a TIMESTAMP."""
    stored = all(isinstance(each, exp.Column) for each in operands)
    if stored and len({infer_type(each, types) for each in operands}) == 1:
        return
    found = [families(each, types) for each in operands]
    interval = any(is_interval(each, types) for each in operands)
    having = Counter(chain.from_iterable(found))  # family → the number of operands that have it
    for operand, own in zip(operands, found, strict=True):
        others = frozenset(family for family in TIMES if having[family] > (family in own))
        yield operand, others | (frozenset({"timestamp"}) if interval else frozenset())


def _depends_on_clock(operand: exp.Expr, becomes: frozenset[Family], types: Types, words: re.Pattern[str]) -> bool:
    """Whether the operand may be a text that Spark evaluates by the clock when it is converted to one of these families."""
    if not becomes or guarded_text(operand) is not None:
        return False
    if _is_constant(operand) and "text" not in becomes:
        return _reads_the_clock(operand, types, words)
    return "timestamp" in becomes and "text" in families(operand, types)


def _reads_the_clock(operand: exp.Expr, types: Types, words: re.Pattern[str]) -> bool:
    """Whether the operand is a constant text that begins with one of `words`, which Spark
    may read when it is converted to a time.
    """
    if not _is_constant(operand):
        return False
    folded = _folded(operand)
    return (folded is None or words.match(folded) is not None) and "text" in families(operand, types)


def _is_constant(operand: exp.Expr) -> bool:
    """Whether the operand contains neither a column nor a variable of a lambda."""
    return not any(isinstance(node, exp.Column) or is_variable(node) for node in operand.walk())


def _folded(operand: exp.Expr) -> str | None:
    """The text of a constant; None if it is anything but a concatenation of literals."""
    operand = operand.unnest()
    if isinstance(operand, exp.Literal):
        return operand.name
    parts = (
        operand.expressions
        if isinstance(operand, exp.Concat)
        else ([operand.this, operand.expression] if isinstance(operand, exp.DPipe) else None)
    )
    texts = [_folded(each) for each in parts or (None,) if each is not None]
    return None if parts is None or None in texts else "".join(each for each in texts if each is not None)
