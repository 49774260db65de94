"""Times of writing: output columns that only call the clock (`algebra/written_time.py`). Any other call of the clock is refused.

The output is divided into its times and the rest. A time is a definition without columns whose value reaches the output
unchanged: through σ, π, ⋈, the preserved side of ⟕, and a ∪ whose branches all have the same definition. The tree is then pruned
to the rest. If a call of the clock is left in it, something else reads the clock: a condition, a key, a group, a set operation
or an aggregate. So nothing has to be known about the places where a time may be used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, render, substitute
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import infer_type, is_cut
from dbt_idivm.algebra.written_time import WrittenTime, clock_calls
from dbt_idivm.context import Catalog
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.replace_clock import bare_words
from dbt_idivm.frontend.text import Text
from dbt_idivm.passes.attributes import prune_attributes

Output = tuple[tuple[str, str], ...]


def refused_calls(tree: exp.Expr, text: Text) -> list[Finding]:
    """The refusals of the calls of the clock in a query, for the case that they are refused.

    CURRENT_DATE becomes a call with brackets, because in a statement of ours the word may mean a column.
    """
    found = []
    for call in clock_calls(tree):
        found.append(finding(206, text.place(call), function=text.source(call)))
        if isinstance(call, exp.CurrentDate):
            call.replace(exp.Anonymous(this="current_date"))
    return found


# Wrong without it: Spark reads CURRENT_DATE as the column of that name where there is one, and sqlglot as a call.
def perhaps_columns(queries: Sequence[tuple[Text, exp.Query]], catalog: Catalog) -> Iterator[Finding]:
    """The refusals of the calls of the clock without brackets, if some relation or alias may have a column of that name.

    A star or INLINE makes columns of the fields of a struct, whose names are in types and texts.
    """
    bare = [(call, text) for text, query in queries for call in clock_calls(query) if _is_bare(call)]
    if not bare:
        return
    columns = {each.name.lower() for table in catalog.tables.values() for each in table.columns}
    columns |= {name.lower() for view in catalog.views.values() for name, _ in view.columns or ()}
    columns |= {each.name.lower() for _, query in queries for each in query.find_all(exp.Identifier)}
    fields = [each.type for table in catalog.tables.values() for each in table.columns]
    fields += [each.returns for each in catalog.functions.values() if each.returns is not None]
    texts = [each.name for _, query in queries for each in query.find_all(exp.Literal) if each.is_string]
    for call, text in bare:
        word = _function(render(call))
        if (
            word in columns
            or any(is_cut(each) or word in each.lower() for each in fields)
            or any(word in s.lower() for s in texts)
        ):
            yield finding(206, text.place(call), function=f"{word}, which is also the name of a column,")


def has_other_words(queries: Sequence[tuple[Text, exp.Query]]) -> bool:
    """Whether some alias or field has the name of a function of the clock without brackets. In the text they look the same."""
    return any(bare_words(text.sql) != sum(map(_is_bare, clock_calls(query))) for text, query in queries)


def _is_bare(call: exp.Expr) -> bool:
    """Whether the call is a word without brackets, which sqlglot gives no position."""
    return isinstance(call, exp.CurrentDate | exp.CurrentTimestamp) and "start" not in call.meta


def divided(root: Operator, output: Output) -> tuple[Output, tuple[WrittenTime, ...]]:
    """The output columns that are attributes of the view, and those that are times of writing. A view has an attribute."""
    known = _constants(root)
    times = tuple(
        WrittenTime(name, place, known[attribute], infer_type(known[attribute], {}))
        for place, (name, attribute) in enumerate(output)
        if attribute in known and clock_calls(known[attribute])
    )
    if len(times) == len(output):
        return output, ()
    names = {each.name for each in times}
    return tuple(each for each in output if each[0] not in names), times


def other_uses(root: Operator, output: Output, calls: Sequence[Finding]) -> list[Finding]:
    """The refusals of the functions of the clock that the attributes `output` depend on. `calls`: those of all calls."""
    pruned = prune_attributes(root, frozenset(attribute for _, attribute in output))
    left = {_function(render(call)) for node in operators(pruned) for each in node.expressions for call in clock_calls(each)}
    found = [each for each in calls if _function(each.details["function"]) in left]
    return found or (list(calls) if left else [])


def _function(text: str) -> str:
    return "".join(text.lower().split()).removesuffix("()")


def _constants(node: Operator) -> Mapping[str, exp.Expr]:
    """Attribute → its definition, for those that have one value in all rows, which no attribute determines."""
    below = [_constants(each) for each in node.inputs]
    present = {name: value for place, each in enumerate(below) if place not in node.padded for name, value in each.items()}
    found = {name: value for name, value in present.items() if name in node.columns}
    found.update(_united(node, below))
    for name, made in node.defined:
        if all(each in present for each in attributes(made)):
            found[name] = substitute(made, present)
    return found


def _united(node: Operator, below: Sequence[Mapping[str, exp.Expr]]) -> Iterator[tuple[str, exp.Expr]]:
    for name, sources in node.united:
        values = [each.get(source) if source is not None else None for each, source in zip(below, sources, strict=True)]
        first = values[0]
        if first is not None and all(each == first for each in values):
            yield name, first
