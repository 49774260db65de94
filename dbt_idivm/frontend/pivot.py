"""UNPIVOT → μ over an array of rows; PIVOT → γ with an aggregate for each value.

    t UNPIVOT (v FOR n IN (a, b AS c))              σ_{v IS NOT NULL}(μ of array(struct('a', a), struct('c', b)) → n, v)
    t PIVOT (sum(x) FOR k IN (1 AS one, 2 AS two))  SELECT …, sum(x) FILTER (WHERE k <=> 1) AS one, … GROUP BY the other columns

If a group has no row with a value, Spark returns NULL, even for count. But if an aggregate has a type that Spark's pivot cannot
hold, such as STRING, count is 0 there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlglot import exp

from dbt_idivm.algebra.expressions import alias, column, conjunction, same
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import infer_type
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.generators import Generating, array_of_rows
from dbt_idivm.frontend.resolve import Resolver, bare, is_aggregate, own_nodes
from dbt_idivm.frontend.scope import Ambiguous, Entry, Scope, Unknown
from dbt_idivm.frontend.select import select
from dbt_idivm.frontend.sugar import without_sugar
from dbt_idivm.frontend.text import Text
from dbt_idivm.operators import Select

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

_Type = exp.DataType.Type
# the types that Spark's pivot can hold
_HELD = frozenset(
    {_Type.TINYINT, _Type.SMALLINT, _Type.INT, _Type.BIGINT, _Type.FLOAT, _Type.DOUBLE, _Type.BOOLEAN, _Type.DECIMAL}
)
_UNKNOWN = frozenset({_Type.UNKNOWN, _Type.NULL, _Type.OBJECT})


def refused(node: exp.Expr, text: Text) -> Finding | None:
    """A PIVOT or UNPIVOT that sqlglot attaches to another relation than Spark does, or that has no rule."""
    if not isinstance(node, exp.Pivot):
        return None
    word = "UNPIVOT" if node.args.get("unpivot") else "PIVOT"
    place, relation = text.place(node, word), node.parent
    several = isinstance(relation, exp.Expr) and len(relation.args.get("pivots") or ()) > 1
    if not isinstance(relation, exp.Table | exp.Subquery) or not isinstance(relation.parent, exp.From) or several:
        return finding(228, place, what=f"{word} after a relation that is not the first one in FROM")
    if len(node.args.get("fields") or ()) != 1 or not isinstance(node.args["fields"][0], exp.In):
        return finding(228, place, what=f"{word} without a list of values")
    if word == "PIVOT" and node.alias:
        return finding(229, place, what="PIVOT with an alias")
    return None


def pivoted(lowering: Lowering, node: exp.Pivot, env: Env, root: Operator, scope: Scope) -> tuple[Operator, Scope]:
    """(rows of a relation after its PIVOT or UNPIVOT, their scope)."""
    step = _unpivoted if node.args.get("unpivot") else _pivoted
    return step(lowering, node, env, root, scope)


def _unpivoted(lowering: Lowering, node: exp.Pivot, env: Env, root: Operator, scope: Scope) -> tuple[Operator, Scope]:
    """One row for each item of the list, without the columns that occur in an item."""
    (listed,) = node.args["fields"]
    resolver = Resolver(scope, env, lowering.findings)
    (value, *more) = node.expressions
    values = [each.name for each in (_parts(value) if not more else node.expressions)]
    rows: list[list[exp.Expr]] = []
    for item in listed.expressions:
        sources = _parts(item.unalias())
        if len(sources) != len(values) or not all(isinstance(each, exp.Column) for each in sources):
            what = f"{env.text.source(item)} for {len(values)} columns"
            raise lowering.stopped_by(finding(229, env.text.place(item), what=what))
        title = item.alias or "_".join(each.name for each in sources)
        rows.append([exp.Literal.string(title), *(bare(resolver.resolve(each)) for each in sources)])
    used = _named(listed.expressions, scope)
    fields = [f"col{number}" for number in range(len(values) + 1)]
    generating = Generating(lowering, env, root, node.alias or "unpivot")
    result, added = generating.spread(array_of_rows(rows, fields), fields, (listed.this.name, *values))
    if not node.args.get("include_nulls"):
        tests = [exp.Not(this=exp.Is(this=column(entry.attribute), expression=exp.null())) for entry in added[1:]]
        result = Select(result, exp.or_(*tests) if len(tests) > 1 else tests[0])
    kept = Scope((*(entry for entry in scope.visible if entry not in used), *added))
    return result, kept.aliased(node.alias) if node.alias else kept


def _pivoted(lowering: Lowering, node: exp.Pivot, env: Env, root: Operator, scope: Scope) -> tuple[Operator, Scope]:
    """γ by the columns that neither FOR nor an aggregate mentions, with each aggregate over the rows of each listed value."""
    (listed,), resolver = node.args["fields"], Resolver(scope, env, lowering.findings)
    keys = [bare(resolver.resolve(each)) for each in _parts(listed.this)]
    calls = [(each.alias, bare(resolver.resolve(each.unalias()))) for each in node.expressions]
    problem = _problem(node, calls, keys, root)
    if problem is not None:
        code, what = problem
        raise lowering.stopped_by(finding(code, env.text.place(node, "PIVOT"), what=f"PIVOT {what}"))
    holds = all(infer_type(call, root.types).this in _HELD for _, call in calls)
    used = _named([listed.this, *node.expressions], scope)
    groups = [entry for entry in scope.visible if entry not in used]
    query = exp.Select(expressions=[column(entry.attribute) for entry in groups])
    titles = []
    for item in listed.expressions:
        cells = _parts(item.unalias())
        kinds = (infer_type(key, root.types) for key in keys)
        test = conjunction(same(key, exp.cast(cell.copy(), kind)) for key, cell, kind in zip(keys, cells, kinds, strict=True))
        for name, call in calls:
            titles.append("_".join(each for each in (item.alias or cells[0].name, name if len(calls) > 1 else "") if each))
            query.append("expressions", alias(_only_where(call, test or exp.true(), holds), titles[-1]))
    if groups:
        query.set("group", exp.Group(expressions=[column(entry.attribute) for entry in groups]))
    without_sugar(query)
    over = Scope(tuple(Entry((), each, each) for each in root.columns))
    result, found = select(lowering, query, env, root, over, "pivot")
    entries = (*groups, *(Entry((), title, "") for title in titles))
    return result, Scope(
        tuple(Entry(old.qualifier, old.name, new.attribute) for old, new in zip(entries, found.entries, strict=True))
    )


def _named(expressions: Iterable[exp.Expr], scope: Scope) -> set[Entry]:
    """The columns that the expressions mention. Two columns may be the same attribute: `SELECT a AS x, a AS y`."""
    found = set()
    for name in (each for whole in expressions for each in whole.find_all(exp.Column)):
        with suppress(Unknown, Ambiguous):
            found.add(scope.resolve(tuple(part.name for part in name.parts))[0])
    return found


def _problem(
    node: exp.Pivot, calls: Sequence[tuple[str, exp.Expr]], keys: Sequence[exp.Expr], root: Operator
) -> tuple[int, str] | None:
    """(code, description) of what is wrong with a PIVOT; None if nothing is."""
    if not all(any(is_aggregate(part) for part in own_nodes(call)) for _, call in calls):
        return 229, "with an expression that is not an aggregate"
    if len(calls) > 1 and not all(name for name, _ in calls):
        return 228, "with several aggregates, some of them without a name"
    written: list[tuple[str, ...]] = []
    for item in node.args["fields"][0].expressions:
        cells = _parts(item.unalias())
        if len(cells) != len(keys):
            return 229, f"with {len(cells)} values for {len(keys)} columns"
        if not all(isinstance(cell, exp.Literal | exp.Null | exp.Boolean) for cell in cells):
            return 228, "with a value that is not a literal"
        plain = len(cells) == 1 and (cells[0].is_string or (cells[0].is_int and str(int(cells[0].name)) == cells[0].name))
        if not item.alias and not plain:
            return 228, "with an unnamed value that is neither a text nor an integer (give it a name)"
        written.append(tuple(cell.name.lstrip("0") for cell in cells))
    if len({*written}) < len(written):
        return 228, "that lists a value twice"  # Spark fails on it
    kinds = [infer_type(each, root.types).this for each in (*keys, *(call for _, call in calls))]
    return (228, "over a type that the planner cannot infer") if _UNKNOWN & {*kinds} else None


def _only_where(call: exp.Expr, test: exp.Expr, holds: bool) -> exp.Expr:
    """The expression with its aggregates restricted to rows for which the test is true.
    With `holds`, it is NULL if there are none.
    """

    def filtered(part: exp.Expr) -> exp.Expr:
        return exp.Filter(this=part, expression=exp.Where(this=test.copy())) if is_aggregate(part) else part

    value = call.copy().transform(filtered)
    if not holds or isinstance(call, exp.Sum | exp.Min | exp.Max | exp.Avg):
        return value
    some = exp.GT(this=exp.CountIf(this=test.copy()), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=some, true=value)])


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """The parts of (a, b), or [a] for a."""
    inner = node.unnest()
    return list(inner.expressions) if isinstance(inner, exp.Tuple) else [inner]
