"""Whether two operators have the same rows, and how the attributes of one are defined over those of the other.

View matching asks this about the operators that a graph is built on: both read the same tables in the same way, but may differ in
names, in the columns that they output, and in the form of their inputs. Operators that are not recognised as equal count as
different.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from sqlglot import exp

from dbt_idivm.adaptation.derive import Held, mapped, of_old, translated, was
from dbt_idivm.algebra.answers import BinaryOperator
from dbt_idivm.algebra.expression_text import text_of
from dbt_idivm.algebra.expressions import conjuncts, substitute
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.operators import Aggregate, LookUpJoin, OuterJoin, Scan, SemiAntiJoin, UnionAll, Unnest, Window
from dbt_idivm.passes.canonical import canonical
from dbt_idivm.passes.query_graph import QueryGraph, query_graph

Known = Mapping[str, exp.Expr]  # attribute of the new operator → its definition over those of the old one (`was`)
Types = Mapping[str, exp.DataType]
Pairs = tuple[tuple[Operator, Operator], ...]
_MOST_ASSIGNMENTS = 64  # of the occurrences of one table to each other


def same_rows(new: Operator, old: Operator) -> Known | None:
    """The attributes of `new` over those of `old`, as far as they can be derived; None if the rows may differ."""
    if type(new) is not type(old):
        return None
    found = MATCHERS[type(new)](new, old)
    return _if_equal(new, old) if found is None else found


def assignments(new: tuple[Operator, ...], old: tuple[Operator, ...]) -> Iterator[tuple[Pairs, Known, tuple[Operator, ...]]]:
    """Assignments of each old source to a new one. Each consists of the pairs, the definitions of attributes, and the remaining
    new sources."""
    return islice(_assigned(new, old), _MOST_ASSIGNMENTS)


def _assigned(new: tuple[Operator, ...], old: tuple[Operator, ...]) -> Iterator[tuple[Pairs, Known, tuple[Operator, ...]]]:
    if not old:
        yield (), {}, new
        return
    for place, source in enumerate(new):
        known = same_rows(source, old[0])
        if known is not None:
            for pairs, rest, left in _assigned((*new[:place], *new[place + 1 :]), old[1:]):
                yield ((source, old[0]), *pairs), {**known, **rest}, left


def texts_of(conditions: Iterable[exp.Expr | None]) -> frozenset[str] | None:
    """The texts of the conditions; None if one of them is None."""
    found = list(conditions)
    return None if None in found else frozenset(text_of(each) for each in found if each is not None)


def _same_graph(new: QueryGraph, old: QueryGraph) -> Known | None:
    """The definitions of the attributes of the new graph's sources, if both graphs have the same sources and conditions."""
    return next((known for _, known in _same_sources(new, old)), None)


def _same_sources(new: QueryGraph, old: QueryGraph) -> Iterator[tuple[Pairs, Known]]:
    """The assignments under which both graphs have the same sources and conditions."""
    if len(new.sources) != len(old.sources):
        return
    wanted = [of_old(each) for each in old.conditions]
    types = types_of(new.sources)
    for pairs, known, _ in assignments(new.sources, old.sources):
        if _are_same(new.conditions, wanted, known, types):
            yield pairs, known


def pairs_below(new: Operator, old: Operator) -> tuple[Pairs, ...]:
    """For two ⟕, ⋉ or ▷ with the same rows: the paired sources of each input, as they were matched; empty if they were matched in
    another way."""
    if type(new) is not type(old) or MATCHERS[type(new)](new, old) is None:
        return ()
    below = (
        next(_same_sources(query_graph(one), query_graph(two)), None) for one, two in zip(new.inputs, old.inputs, strict=True)
    )
    return tuple(each[0] for each in below if each is not None)


def _are_same(new: Sequence[exp.Expr], old: Sequence[exp.Expr], known: Known, types: Types) -> bool:
    """Whether the new conditions equal the old ones, and fail for no other rows."""
    mine = [translated(each, known) for each in new]
    return texts_of(mine) == texts_of(old) and is_guarded_as_before(new, mine, old, types)


# Wrong without it: if `x <> 0 AND 1 / x > 0` is written in the other order, Spark evaluates 1 / x for x = 0 in a rebuild.
def is_guarded_as_before(
    new: Sequence[exp.Expr], translations: Sequence[exp.Expr | None], old: Sequence[exp.Expr], types: Types
) -> bool:
    """Whether each condition that may fail still comes after all conditions that preceded it in the old definition and still
    exist."""
    mine = [text_of(each) if each is not None else "" for each in translations]
    theirs = [text for text in map(text_of, old) if text in mine]
    failing = (text for each, text in zip(new, mine, strict=True) if text in theirs and may_raise(each, types))
    return all({*theirs[: theirs.index(text)]} <= {*mine[: mine.index(text)]} for text in failing)


def types_of(sources: Iterable[Operator]) -> Types:
    """Attribute → type, for all these sources."""
    return {name: kind for each in sources for name, kind in each.types.items()}


def _held(old: QueryGraph) -> Held:
    return Held((of_old(definition), was(name)) for name, definition in old.names.items())


def _passed(new: QueryGraph, old: QueryGraph, known: Known, *, whole: bool = False) -> dict[str, exp.Expr]:
    """The attributes of an input over those of the old input. `whole`: only those that equal an old attribute."""
    held = _held(old)
    found = {name: (held.whole if whole else held.derived)(each) for name, each in mapped(new.names, known).items()}
    return {name: each for name, each in found.items() if each is not None}


def _is_same(new: exp.Expr, old: exp.Expr, below: tuple[QueryGraph, QueryGraph], known: Known) -> bool:
    """Whether two expressions over attributes of the inputs have the same value."""
    found = translated(below[0].over(new), known)
    return found is not None and text_of(found) == text_of(of_old(below[1].over(old)))


def _scan(new: Scan, old: Scan) -> Known | None:
    if (new.table, new.state) != (old.table, old.state):
        return None
    theirs = {each.name: each for each in old.base_columns}
    return {new.attribute(each.name): was(old.attribute(each.name)) for each in new.base_columns if theirs.get(each.name) == each}


def _aggregate(new: Aggregate, old: Aggregate) -> Known | None:
    """γ over the same rows with the same groups. Calls that the old one lacks are left undefined."""
    below = query_graph(new.child), query_graph(old.child)
    known = _same_graph(*below)
    if known is None:
        return None
    groups = {text_of(of_old(below[1].names[name])): name for name in old.groups}
    mine = {name: translated(below[0].names[name], known) for name in new.groups}
    if texts_of(mine.values()) != frozenset(groups):
        return None
    found: dict[str, exp.Expr] = {name: was(groups[text_of(each)]) for name, each in mine.items() if each is not None}
    for call in new.calls:
        other = next((each for each in old.calls if _is_same(call.value, each.value, below, known)), None)
        found |= {call.name: was(other.name)} if other is not None else {}
    return found


def _window(new: Window, old: Window) -> Known | None:
    below = query_graph(new.child), query_graph(old.child)
    known = _same_graph(*below)
    if known is None:
        return None
    mine = texts_of(translated(below[0].names[name], known) for name in new.partition)
    found = _passed(*below, known)
    if mine != texts_of(of_old(below[1].names[name]) for name in old.partition):
        return found  # the rows are those of its input all the same
    for call in new.calls:
        other = next(
            (
                each
                for each in old.calls
                if each.frame == call.frame
                and each.kind == call.kind
                and len(each.expressions) == len(call.expressions)
                and all(_is_same(one, two, below, known) for one, two in zip(call.expressions, each.expressions, strict=True))
            ),
            None,
        )
        found |= {call.name: was(other.name)} if other is not None else {}
    return found


def _unnest(new: Unnest, old: Unnest) -> Known | None:
    below = query_graph(new.child), query_graph(old.child)
    known = _same_graph(*below)
    if known is None or new.outer != old.outer or len(new.added) != len(old.added):
        return None
    if not _is_same(new.collection, old.collection, below, known):
        return None
    return {**_passed(*below, known), **{name: was(other) for name, other in zip(new.added, old.added, strict=True)}}


def _two(new: BinaryOperator, old: BinaryOperator) -> tuple[Known, Known] | None:
    """The definitions of the sources' attributes for both inputs, if the inputs have the same rows and the conditions are equal;
    else None."""
    news, olds = ([query_graph(each) for each in node.inputs] for node in (new, old))
    left, right = (_same_graph(*pair) for pair in zip(news, olds, strict=True))
    if left is None or right is None:
        return None
    mine, theirs = ({**sides[0].names, **sides[1].names} for sides in (news, olds))
    known = {**left, **right}
    parts = [substitute(each, mine) for each in conjuncts(new.condition.unnest())]
    wanted = [of_old(substitute(each, theirs)) for each in conjuncts(old.condition.unnest())]
    types = types_of([source for graph in news for source in graph.sources])
    return (left, right) if _are_same(parts, wanted, known, types) else None


# Wrong with `derived` for a padded side: coalesce(y, 0) computed below the join is NULL in a padded row, but 0 above it.
def _outer_join(new: OuterJoin, old: OuterJoin) -> Known | None:
    known = _two(new, old) if new.full == old.full else None
    if known is None:
        return None
    found: dict[str, exp.Expr] = {}
    for side in (0, 1):
        found |= _passed(query_graph(new.inputs[side]), query_graph(old.inputs[side]), known[side], whole=side in new.padded)
    if new.marked and old.marked:
        found |= {mine: was(other) for mine, other in zip(new.marks, old.marks, strict=True)}
    return found


def _semijoin(new: SemiAntiJoin, old: SemiAntiJoin) -> Known | None:
    known = _two(new, old) if new.anti == old.anti else None
    return None if known is None else _passed(query_graph(new.left), query_graph(old.left), known[0])


def _union(new: UnionAll, old: UnionAll) -> Known | None:
    if len(new.parts) != len(old.parts):
        return None
    below = [(query_graph(mine), query_graph(other)) for mine, other in zip(new.parts, old.parts, strict=True)]
    known = [_same_graph(*pair) for pair in below]
    if None in known:
        return None
    held = {
        _across(tuple(of_old(_value(pair[1], name)) for pair, name in zip(below, sources, strict=True))): output
        for output, sources in _outputs(old)
    }
    found: dict[str, exp.Expr] = {new.branch: was(old.branch)}
    for output, sources in _outputs(new):
        values = [translated(_value(pair[0], name), each or {}) for pair, name, each in zip(below, sources, known, strict=True)]
        if None not in values and (other := held.get(_across(each for each in values if each is not None))) is not None:
            found[output] = was(other)
    return found


def _outputs(union: UnionAll) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    return ((output, tuple(sources[place] for sources in union.sources)) for place, output in enumerate(union.outputs))


def _value(part: QueryGraph, name: str | None) -> exp.Expr:
    return part.names[name] if name is not None else exp.null()


def _across(values: Iterable[exp.Expr]) -> tuple[str, ...]:
    return tuple(map(text_of, values))


def _if_equal(new: Operator, old: Operator) -> Known | None:
    """Whether the trees are equal except for names."""
    mine, other = canonical(new), canonical(old)
    return {name: was(theirs) for name, theirs in mine.names_for(other).items()} if mine.text == other.text else None


# For each class that can be a source of a query graph (`tests/unit/test_closed_algebra.py`): both operators are of it.
MATCHERS: Mapping[type[Operator], Callable[..., Known | None]] = {
    Scan: _scan,
    Aggregate: _aggregate,
    Window: _window,
    Unnest: _unnest,
    OuterJoin: _outer_join,
    LookUpJoin: _outer_join,
    SemiAntiJoin: _semijoin,
    UnionAll: _union,
}
