"""Generators → μ: explode, posexplode, inline and stack, as an item of a select list, in LATERAL VIEW, and in FROM.

SELECT id, explode(xs) AS x                  π(μ_{xs → pos, x})
… LATERAL VIEW OUTER explode(m) t AS k, v    μ_{m → pos, k, v}, outer
inline(xs)                                   π_{x.a → a, x.b → b}(μ_{xs → pos, x})
stack(2, 'a', a, 'b', b)                     inline(array(struct('a' AS col0, a AS col1), struct('b' AS col0, b AS col1)))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from dbt_idivm.algebra.expressions import call_name, column, identifier, passing
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import infer_type
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.resolve import Resolver, bare, is_aggregate, own_nodes, with_fields
from dbt_idivm.frontend.scope import Entry, Scope
from dbt_idivm.frontend.text import Text
from dbt_idivm.operators import Project, Select, Unnest
from dbt_idivm.operators.unnest import element_types

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering
    from dbt_idivm.frontend.select import Item

NAMES = frozenset({"explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack"})
_STRUCT = exp.DataType.Type.STRUCT


def generator(node: exp.Expr) -> str | None:
    """The lower-case name of the generator that this node calls; None if it calls none."""
    if not isinstance(node, exp.Func):
        return None
    name = call_name(node) if isinstance(node, exp.Anonymous) else node.sql_name().lower()
    return name if name in NAMES else None


def holds_generator(expression: exp.Expr) -> bool:
    return any(generator(node) for node in own_nodes(expression))


def is_generating(node: exp.Expr) -> bool:
    """Whether the select list contains a generator."""
    return any(holds_generator(item) for item in node.expressions)


def misplaced(node: exp.Expr, text: Text) -> Finding | None:
    """A generator that is neither a whole item of a select list nor a relation; several
    aliases for something else than a generator.
    """
    if isinstance(node, exp.Aliases) and generator(bare(node.this)) is None:
        return finding(228, text.place(node), what=text.source(node))
    if generator(node) is None:
        return None
    item = node
    while isinstance(item.parent, exp.Alias | exp.Aliases | exp.Paren):
        item = item.parent
    selected = isinstance(item.parent, exp.Select) and item.arg_key == "expressions"
    if selected or isinstance(item.parent, exp.Lateral | exp.Table):
        return None
    return finding(229, text.place(node), what=f"{text.source(node)} inside an expression or a clause")


@dataclass(frozen=True)
class _Call:
    """A call of a generator: the collection that it expands, over attributes of the
    rows, and the user's names for its columns.
    """

    name: str
    collection: exp.Expr
    names: tuple[str, ...]

    @property
    def outer(self) -> bool:
        return self.name.endswith("_outer")

    @property
    def has_place(self) -> bool:
        return self.name.startswith("pos")


@dataclass
class Generating:
    """The μ of one generator over `rows`. Its attributes are called `<name>__…`."""

    lowering: Lowering
    env: Env
    rows: Operator
    name: str

    def apply(
        self, resolved: exp.Expr, raw: exp.Expr, names: tuple[str, ...], *, outer: bool = False
    ) -> tuple[Operator, tuple[Entry, ...]]:
        """(μ, the generator's columns), with a π that extracts fields if the elements are
        structs that become columns. Raises IdivmError.
        """
        call = self._call(resolved, raw, names)
        outer = outer or call.outer
        if call.name.startswith(("inline", "stack")):
            return self._fields(call, raw, outer)
        kinds = element_types(infer_type(call.collection, self.rows.types))
        own = len(call.names) - call.has_place
        width = len(kinds) or (own if own in (1, 2) else 0)
        if not width:
            what = f"{self._source(raw)} without column names, over a value whose type the planner cannot infer"
            raise self._error(228, raw, what)
        shown = ("pos",) * call.has_place + (("col",) if width == 1 else ("key", "value"))
        if call.names and len(call.names) != len(shown):
            raise self._error(229, raw, f"{len(call.names)} names for the {len(shown)} columns of {self._source(raw)}")
        called = call.names or shown
        unnest = self._unnest(call.collection, called[call.has_place :], outer)
        attributes = (unnest.place, *unnest.elements) if call.has_place else unnest.elements
        return unnest, tuple(Entry((), name, attribute) for name, attribute in zip(called, attributes, strict=True))

    def _call(self, resolved: exp.Expr, raw: exp.Expr, names: tuple[str, ...]) -> _Call:
        name = generator(resolved)
        assert name is not None
        arguments = _arguments(resolved)
        if any(is_aggregate(node) or isinstance(node, exp.Window) for each in arguments for node in own_nodes(each)):
            raise self._error(228, raw, f"an aggregate or a window function inside {self._source(raw)}")
        if name == "stack":
            collection = _stacked(arguments)
            if collection is None:
                raise self._error(228, raw, f"{self._source(raw)}, whose number of rows is not a positive literal")
            return _Call(name, collection, names)
        if len(arguments) != 1:
            raise self._error(229, raw, f"{self._source(raw)} with {len(arguments)} arguments")
        return _Call(name, arguments[0], names)

    def _fields(self, call: _Call, raw: exp.Expr, outer: bool) -> tuple[Operator, tuple[Entry, ...]]:
        """μ and π of inline and stack."""
        fields = self._field_names(call.collection)
        if not fields:
            raise self._error(228, raw, f"{self._source(raw)} over a value whose fields the planner cannot infer")
        if call.names and len(call.names) != len(fields):
            raise self._error(229, raw, f"{len(call.names)} names for the {len(fields)} columns of {self._source(raw)}")
        return self.spread(call.collection, fields, call.names or fields, outer=outer)

    def spread(
        self, collection: exp.Expr, fields: Sequence[str], shown: Sequence[str], *, outer: bool = False
    ) -> tuple[Operator, tuple[Entry, ...]]:
        """(μ of an array of structs with a π above it, its columns): a column for each of `fields`, with the names `shown`."""
        unnest = self._unnest(collection, ("row",), outer)
        (element,) = unnest.elements
        entries = tuple(Entry((), name, self.lowering.names.attribute(self.name, name)) for name in shown)
        computed = (
            (entry.attribute, with_fields(column(element), [field])) for entry, field in zip(entries, fields, strict=True)
        )
        return Project(unnest, (*passing(each for each in unnest.columns if each != element), *computed)), entries

    def _field_names(self, collection: exp.Expr) -> list[str]:
        """The field names of an array of structs. For an array literal they are those of its first element."""
        kinds = element_types(infer_type(collection, self.rows.types))
        if isinstance(collection, exp.Array) and collection.expressions:
            kinds = (infer_type(collection.expressions[0], self.rows.types),)
        return [each.name for kind in kinds for each in kind.expressions if len(kinds) == 1 and kind.this == _STRUCT]

    def _unnest(self, collection: exp.Expr, elements: Sequence[str], outer: bool) -> Unnest:
        place = self.lowering.names.attribute(self.name, "pos")
        called = tuple(self.lowering.names.attribute(self.name, each) for each in elements)
        return Unnest(self.rows, collection, place, called, outer)

    def _source(self, raw: exp.Expr) -> str:
        return self.env.text.source(raw)

    def _error(self, code: int, raw: exp.Expr, what: str) -> IdivmError:
        """An error with all findings so far. Lowering cannot continue, because the generator's columns are missing."""
        return self.lowering.stopped_by(finding(code, self.env.text.place(raw), what=what))


def _arguments(call: exp.Expr) -> list[exp.Expr]:
    if isinstance(call, exp.Anonymous):
        return [bare(each) for each in call.expressions]
    return [bare(each) for each in (call.this, *call.expressions) if each is not None]


def _stacked(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """The rows of stack(n, …) as an array of structs; None if n is not a positive literal.
    Missing values of the last row are NULL.
    """
    number, values = arguments[0], list(arguments[1:])
    if not (isinstance(number, exp.Literal) and number.is_int and int(number.name) > 0 and values):
        return None
    rows = int(number.name)
    width = -(-len(values) // rows)
    values += [exp.null()] * (rows * width - len(values))
    return array_of_rows([values[row * width : (row + 1) * width] for row in range(rows)], [f"col{at}" for at in range(width)])


def array_of_rows(rows: Sequence[Sequence[exp.Expr]], names: Sequence[str]) -> exp.Expr:
    """array(struct(value AS name, …), …)."""
    structs = (
        exp.Struct(
            expressions=[
                exp.PropertyEQ(this=identifier(name), expression=value.copy()) for name, value in zip(names, row, strict=True)
            ]
        )
        for row in rows
    )
    return exp.Array(expressions=list(structs))


def with_elements(
    lowering: Lowering, env: Env, root: Operator, items: tuple[Item, ...], name: str
) -> tuple[Operator, tuple[Item, ...]]:
    """(rows expanded by the generator of a select list, the list over them). Without a generator both are unchanged."""
    holding = [item for item in items if holds_generator(item.expression)]
    if not holding:
        return root, items
    (first, *others), text = holding, env.text
    if others or generator(bare(first.expression)) is None:
        wrong = (others or [first])[0].raw
        what = f"{text.source(wrong)}: a second generator in a SELECT, or one inside an expression"
        lowering.findings.append(finding(228, text.place(wrong), what=what))
    elif any(item.expression.find(exp.Window) for item in items):
        what = "a generator and a window function in one SELECT"
        lowering.findings.append(finding(228, text.place(first.raw), what=what))
    else:
        names = first.names or ((first.name,) if first.named else ())
        root, entries = Generating(lowering, env, root, name).apply(bare(first.expression), first.raw, names)
        made = tuple(replace(first, name=entry.name, expression=column(entry.attribute), named=True) for entry in entries)
        at = items.index(first)
        return root, (*items[:at], *made, *items[at + 1 :])
    return root, tuple(replace(item, expression=exp.null()) if item in holding else item for item in items)


def lateral(lowering: Lowering, node: exp.Expr, env: Env, root: Operator, scope: Scope) -> tuple[Operator, Scope]:
    """(rows of `root`, each with the rows that the generator of `node` gives for it; the scope of the generator's columns).

    `node` is a LATERAL VIEW, or an item of FROM.
    """
    call, alias = node.this, node.args.get("alias")
    names = tuple(each.name for each in alias.args.get("columns") or ()) if alias else ()
    resolved = bare(Resolver(scope, env, lowering.findings).resolve(call))
    generating = Generating(lowering, env, root, node.alias or "elements")
    root, entries = generating.apply(resolved, call, names, outer=bool(node.args.get("outer")))
    qualifier = (node.alias.lower(),) if node.alias else ()
    return root, Scope(tuple(replace(entry, qualifier=qualifier) for entry in entries))


def lateral_join(lowering: Lowering, left: Operator, names: Scope, node: exp.Join, env: Env) -> tuple[Operator, Scope]:
    """μ and σ for a JOIN with a generator that reads the relations before it. Other kinds of
    JOIN are refused (`frontend/refuse.py`).
    """
    condition: exp.Expr | None = node.args.get("on")
    root, added = lateral(lowering, node.this, env, left, names)
    scope = names.plus(added)
    if condition is None:
        return root, scope
    lowering.refuse_aggregates(condition, env, "ON")
    return Select(root, bare(Resolver(scope, env, lowering.findings).resolve(condition))), scope
