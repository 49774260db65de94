"""The grouping sets of a GROUP BY clause, as the user's expressions.

GROUP BY ROLLUP (a, (b, c))             (a, b, c), (a), ()
GROUP BY a, b WITH CUBE                 (a, b), (a), (b), ()
GROUP BY a, ROLLUP (b), CUBE (c)        (a, b, c), (a, b), (a, c), (a)
GROUP BY GROUPING SETS ((a), ROLLUP (b, c))
GROUP BY a, b GROUPING SETS ((a), (b))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, islice, product
from typing import TypeVar

from sqlglot import exp

Set = tuple[exp.Expr, ...]
_T = TypeVar("_T")

MOST_SETS = 32
_ANALYTICS = (exp.Rollup, exp.Cube, exp.GroupingSets)
_AFTER = ("rollup", "cube", "grouping_sets")  # args of a clause that follow its expressions


def has_sets(clause: exp.Expr | None) -> bool:
    """Whether a GROUP BY clause contains ROLLUP, CUBE or GROUPING SETS."""
    if clause is None:
        return False
    return any(clause.args.get(key) for key in _AFTER) or any(isinstance(each, _ANALYTICS) for each in clause.expressions)


def sets_of(clause: exp.Expr) -> tuple[Set, ...]:
    """The grouping sets. If there are more than `MOST_SETS`, only the first `MOST_SETS` + 1."""
    written = _written(clause)
    after = _after(clause)
    if after:
        return tuple(_first(_sets(after[0], after[0].expressions or written)))
    parts = [list(_first(_sets(each, each.expressions))) for each in written]
    return tuple(tuple(chain(*each)) for each in _first(product(*parts)))


def grouped_by(clause: exp.Expr) -> Iterator[exp.Expr]:
    """All expressions of the clause in the order of grouping_id. They may repeat."""
    for each in (*_written(clause), *_after(clause)):
        yield from _members(each)


def problem(clause: exp.Expr) -> str | None:
    """A description of what Spark does not accept in the clause; None if it accepts it."""
    after = _after(clause)
    if len(after) > 1 or (after and any(isinstance(each, _ANALYTICS) for each in clause.expressions)):
        return "ROLLUP, CUBE or GROUPING SETS twice, not as items of one list"
    for each in chain(after, clause.expressions):
        for node in each.find_all(*_ANALYTICS):
            inside = isinstance(node.parent, _ANALYTICS)
            if inside and not isinstance(node.parent, exp.GroupingSets):
                return f"{_word(node)} inside {_word(node.parent)}"
            if not node.expressions and node not in after:
                return f"{_word(node)} of nothing"
            if not isinstance(node, exp.GroupingSets) and any(_is_empty(part) for part in node.expressions):
                return f"an empty set in {_word(node)}"
    return None


def _written(clause: exp.Expr) -> list[exp.Expr]:
    """The expressions of the clause. Next to grouping sets, ALL is a column name."""
    return [*([exp.column("all")] if clause.args.get("all") else []), *clause.expressions]


def _after(clause: exp.Expr) -> list[exp.Expr]:
    return [each for key in _AFTER for each in clause.args.get(key) or ()]


def _sets(node: exp.Expr, expressions: Sequence[exp.Expr]) -> Iterator[Set]:
    """The sets of one item of the clause, given its expressions."""
    parts, lengths = [_set(each) for each in expressions], range(len(expressions), -1, -1)
    if isinstance(node, exp.Rollup):
        yield from (tuple(chain(*parts[:length])) for length in lengths)
    elif isinstance(node, exp.Cube):
        yield from (tuple(chain(*chosen)) for length in lengths for chosen in combinations(parts, length))
    elif isinstance(node, exp.GroupingSets):
        for each, part in zip(expressions, parts, strict=True):
            yield from _sets(each, each.expressions) if isinstance(each, _ANALYTICS) else (part,)
    else:
        yield (node,)


def _set(node: exp.Expr) -> Set:
    """The expressions of (a, b), (a) or a."""
    return tuple(node.expressions) if isinstance(node, exp.Tuple) else (node,)


def _members(node: exp.Expr) -> Iterator[exp.Expr]:
    if not isinstance(node, _ANALYTICS):
        yield node
        return
    for part in node.expressions:
        yield from _members(part) if isinstance(part, _ANALYTICS) else _set(part)


def _first(sets: Iterable[_T]) -> Iterator[_T]:
    return islice(sets, MOST_SETS + 1)


def _is_empty(node: exp.Expr) -> bool:
    return isinstance(node, exp.Tuple) and not node.expressions


def _word(node: exp.Expr) -> str:
    return "GROUPING SETS" if isinstance(node, exp.GroupingSets) else type(node).__name__.upper()
