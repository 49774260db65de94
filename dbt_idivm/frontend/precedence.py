"""Operator precedence as in Spark: sqlglot gives all bitwise operators, shifts and || the same precedence, and has no >>>.

    a | b & c       a | (b & c)         not (a | b) & c
    a || b + c      (a || b) + c        not a || (b + c)
    a = b < c       (a = b) < c         not a = (b < c)
    a = b IN (1)    (a = b) IN (1)      not a = (b IN (1))

Printing hides the difference, because the text is the same. But comparing or evaluating the tree would be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError

# Spark's grammar (valueExpression): higher levels bind tighter, operators of one level are left-associative. At this stage
# COALESCE represents >>>, because calls have not become functions yet.
_LEVELS: dict[type[exp.Expr], int] = {
    **dict.fromkeys((exp.Mul, exp.Div, exp.IntDiv, exp.Mod), 7),
    **dict.fromkeys((exp.Add, exp.Sub, exp.DPipe), 6),
    **dict.fromkeys((exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.Coalesce), 5),
    exp.BitwiseAnd: 4,
    exp.BitwiseXor: 3,
    exp.BitwiseOr: 2,
    **dict.fromkeys((exp.EQ, exp.NullSafeEQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), 1),
}
# A predicate follows a whole value expression, at most once: only NOT, AND and OR bind more loosely.
_PREDICATES = (exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.NullSafeNEQ)


def with_unsigned_shifts(tokens: list[Token]) -> list[Token]:
    """The tokens with `??` in place of `>>>`: not an operator in Spark SQL, and sqlglot
    parses it at the level of the other shifts.
    """
    found: list[Token] = []
    for token in tokens:
        found.append(token)
        last = found[-3:]
        if len(last) == 3 and all(t.token_type == TokenType.GT for t in last) and last[2].start == last[0].start + 2:
            last[0].token_type = TokenType.DQMARK
            del found[-2:]
    return found


def bind_as_spark(tree: exp.Expr) -> exp.Expr:
    """`tree`, changed in place, with each chain of operators without brackets regrouped by Spark's precedence.

    Raises ParseError for an operator after a predicate: Spark includes it in the predicate's last operand, or refuses it.
    """
    for node in [node for node in tree.walk() if _is_operation(node) and not _is_inside_chain(node)]:
        parts = list(_parts(node))
        bound = _bound(parts) if _may_differ(parts) else node
        if bound is not node:
            tree = bound if node is tree else tree
            node.replace(bound)
    return tree


def _is_operation(node: exp.Expr) -> bool:
    return type(node) in _LEVELS or _is_predicate(node)


def _is_predicate(node: exp.Expr) -> bool:
    """Whether this is a predicate, including the NOT or ESCAPE that belongs to it."""
    inner = node
    while isinstance(inner, exp.Not | exp.Escape):
        inner = inner.this
    negated = not isinstance(node, exp.Not) or isinstance(node.parent, (*_LEVELS, *_PREDICATES))
    return isinstance(inner, _PREDICATES) and negated


def _is_inside_chain(node: exp.Expr) -> bool:
    """Whether the node belongs to a chain above it: as an operand of an operator, or as the subject of a predicate."""
    above = node.parent
    return above is not None and _is_operation(above) and (type(above) in _LEVELS or node.arg_key == "this")


def _parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The chain in the order of the text: operands, and each operation at the position of its sign."""
    behind: list[exp.Expr] = []
    while _is_operation(node):
        behind.append(node)
        node = _subject(node)
    yield node
    for operation in reversed(behind):
        yield operation
        if type(operation) in _LEVELS:
            yield from _parts(_right(operation))


def _subject(operation: exp.Expr) -> exp.Expr:
    """The left operand."""
    while isinstance(operation, exp.Not | exp.Escape):
        operation = operation.this
    found: exp.Expr = operation.this
    return found


def _right(operation: exp.Expr) -> exp.Expr:
    """The right operand. Raises ParseError for `>>>` without one."""
    operands = operation.expressions if isinstance(operation, exp.Coalesce) else [operation.args["expression"]]
    if not operands:
        raise ParseError.new(">>> without a right operand")
    found: exp.Expr = operands[0]
    return found


def _may_differ(parts: list[exp.Expr]) -> bool:
    """Whether regrouping may change the chain: it has several levels, `>>>`, or operators that sqlglot binds from the right."""
    operations = [part for part in parts if _is_operation(part)]
    from_right = any(type(_right(part)) in _LEVELS for part in operations if type(part) in _LEVELS)
    unsigned = any(isinstance(part, exp.Coalesce) for part in operations)
    return from_right or unsigned or len({_LEVELS.get(type(part), 0) for part in operations}) > 1


def _bound(parts: list[exp.Expr]) -> exp.Expr:
    predicates = [part for part in parts if _is_predicate(part)]
    if not predicates:
        return _by_level(parts)
    if predicates != parts[-1:]:
        raise ParseError("an operator follows IS, IN, BETWEEN or LIKE: add brackets to show which operands belong together")
    return _over(predicates[0], _by_level(parts[:-1]))


def _by_level(parts: list[exp.Expr]) -> exp.Expr:
    """Combine alternating operands and operators into one expression."""
    operands, pending = [parts[0]], list[exp.Expr]()
    for operator, operand in zip(parts[1::2], parts[2::2], strict=True):
        while pending and _LEVELS[type(pending[-1])] >= _LEVELS[type(operator)]:
            _reduce(operands, pending)
        pending.append(operator)
        operands.append(operand)
    while pending:
        _reduce(operands, pending)
    return operands[0]


def _reduce(operands: list[exp.Expr], pending: list[exp.Expr]) -> None:
    right, left, operator = operands.pop(), operands.pop(), pending.pop()
    if isinstance(operator, exp.Coalesce):
        operands.append(exp.Anonymous(this="shiftrightunsigned", expressions=[left, right]))
    else:
        operands.append(_like(operator, this=left, expression=right))


def _over(predicate: exp.Expr, subject: exp.Expr) -> exp.Expr:
    """The predicate with another subject."""
    below = predicate.this if isinstance(predicate, exp.Not | exp.Escape) else None
    return _like(predicate, this=subject if below is None else _over(below, subject))


def _like(node: exp.Expr, **changed: exp.Expr) -> exp.Expr:
    made = node.__class__(**{**node.args, **changed})
    made.meta.update(node.meta)
    return made
