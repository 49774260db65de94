"""Parts of a VARIANT that a query reads become columns of the scanned table: try_variant_get(v, '$.a', 'int').

Values of a VARIANT cannot be compared, and no text distinguishes them: JSON and schema of ['2024-01-01', 1] are the same for a
DATE and for a STRING in it. So a net diff cannot contain the VARIANT. The result of a function over it can be compared. It is
computed where the table or its change feed is read, and the VARIANT itself is not passed on.

    π id, try_variant_get(v, '$.a', 'int') → a (t)    becomes    π id, t.c → a (t with c = try_variant_get(v, '$.a', 'int'))

A feed contains rows for which the query does not evaluate the expression: rows that a condition removes, and rows that were
replaced in the meantime. So only expressions that fail for no VARIANT are computed there. variant_get and CAST may fail, except
to STRING.

Only operators that leave a row's values unchanged may be between the scan and the expression. Above an outer join that pads the
row, `v IS NULL` would be NULL; above ∪ a value has several sources. In these cases the VARIANT itself is read, and refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_idivm.algebra.expressions import call_name, column, passing
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import DIALECT, Type, is_text, name_of_type
from dbt_idivm.fresh_name import fresh_name
from dbt_idivm.frontend.names import plain
from dbt_idivm.operators import Join, OuterJoin, Project, Select, SemiAntiJoin, Window
from dbt_idivm.operators.scan import Attribute, Scan

_LONGEST = 40
_PASSING = (Project, Select, Join, OuterJoin, SemiAntiJoin, Window)
_SCALARS = frozenset(
    {
        Type.TINYINT,
        Type.SMALLINT,
        Type.INT,
        Type.BIGINT,
        Type.FLOAT,
        Type.DOUBLE,
        Type.DECIMAL,
        Type.BOOLEAN,
        Type.TEXT,
        Type.DATE,
        Type.TIMESTAMP,
        Type.TIMESTAMPTZ,
        Type.TIMESTAMPLTZ,
        Type.TIMESTAMPNTZ,
        Type.BINARY,
    }
)
_KINDS = {"is_variant_null": "boolean", "schema_of_variant": "string"}


@dataclass
class Variants:
    """The columns that are computed from VARIANTs in one plan. They are the same in its subviews."""

    _names: dict[tuple[str, str], str] = field(default_factory=dict)  # (table, definition) → column
    _taken: set[str] = field(default_factory=set)  # attributes, without their occurrences

    def read_at_scans(self, *roots: Operator) -> tuple[Operator, ...]:
        """The trees with these expressions as columns of their scans. The first tree must contain all nodes of the others."""
        found = _Found(self)
        self._taken.update(name.lower().partition("__")[2] for node in operators(roots[0]) for name in node.columns)
        for node in operators(roots[0]):
            for expression in (*node.conditions, *(value for _, value in node.defined)):
                for call in expression.walk():
                    found.look_at(call, node.inputs)
        return tuple(map(found.applied, roots)) if found.columns else roots

    def column(self, scan: Scan, definition: exp.Expr, kind: str) -> Attribute:
        """The column of the scanned table with this definition."""
        key = (scan.table, definition.sql(DIALECT))
        if key not in self._names:
            self._names[key] = fresh_name(plain(key[1], "value")[:_LONGEST].strip("_"), self._taken.__contains__)
            self._taken.add(self._names[key])
        return Attribute(self._names[key], kind, definition)


@dataclass
class _Found:
    variants: Variants
    columns: dict[str, dict[str, Attribute]] = field(default_factory=dict)  # occurrence → column name → column
    calls: dict[int, str] = field(default_factory=dict)  # id of an expression's node → attribute
    passed: dict[int, dict[str, None]] = field(default_factory=dict)  # id of a π on the way → attributes to pass

    def look_at(self, call: exp.Expr, inputs: tuple[Operator, ...]) -> None:
        """Record the call, if it can be computed where the table is read."""
        made = _made_of_variant(call)
        if made is None:
            return
        variant, kind = made
        way = _way_to_scan(variant.name, inputs)
        if way is None:
            return
        scan, name, passing = way
        definition = call.copy()
        for each in list(definition.find_all(exp.Column)):
            each.replace(column(name))
        computed = self.variants.column(scan, definition, kind)
        self.columns.setdefault(scan.occurrence, {})[computed.name] = computed
        attribute = scan.attribute(computed.name)
        self.calls[id(call)] = attribute
        for project in passing:
            self.passed.setdefault(id(project), {})[attribute] = None

    def applied(self, node: Operator) -> Operator:
        inputs = tuple(map(self.applied, node.inputs))
        if isinstance(node, Scan):
            computed = self.columns.get(node.occurrence, {})
            return replace(node, attributes=(*node.attributes, *computed.values())) if computed else node
        rebuilt = node.rewritten(self._read, *inputs)
        if not isinstance(rebuilt, Project):
            return rebuilt
        return replace(rebuilt, definitions=rebuilt.definitions + passing(self.passed.get(id(node), ())))

    def _read(self, expression: exp.Expr) -> exp.Expr:
        """The expression with the recorded calls replaced by attributes."""
        if not any(id(each) in self.calls for each in expression.walk()):
            return expression
        if id(expression) in self.calls:
            return column(self.calls[id(expression)])
        places = [number for number, each in enumerate(expression.walk()) if id(each) in self.calls]
        names = [self.calls[id(each)] for each in expression.walk() if id(each) in self.calls]
        found = expression.copy()
        nodes = list(found.walk())
        for place, name in zip(places, names, strict=True):
            nodes[place].replace(column(name))
        return found


def _made_of_variant(call: exp.Expr) -> tuple[exp.Column, str] | None:
    """(column that the call reads, which may be a VARIANT; type of the result); None for any other expression.

    These calls take only constants besides, return NULL or a constant for NULL, and fail for no VARIANT.
    """
    if isinstance(call, exp.Is):
        return (call.this, "boolean") if isinstance(call.this, exp.Column) and isinstance(call.expression, exp.Null) else None
    if isinstance(call, exp.Cast):
        return (call.this, "string") if isinstance(call.this, exp.Column) and is_text(call.to) else None
    if isinstance(call, exp.JSONFormat):
        return (call.this, "string") if isinstance(call.this, exp.Column) and len(_given(call)) == 1 else None
    if not isinstance(call, exp.Anonymous) or not call.expressions or not isinstance(call.expressions[0], exp.Column):
        return None
    name, (value, *others) = call_name(call), call.expressions
    if name in _KINDS:
        return None if others else (value, _KINDS[name])
    if name not in ("variant_get", "try_variant_get") or len(others) != 2:
        return None
    if not all(isinstance(each, exp.Literal) and each.is_string for each in others):
        return None
    kind = _type_of(others[1].name)
    return None if kind is None or (name == "variant_get" and kind != "string") else (value, kind)


def _given(call: exp.Expr) -> list[str]:
    return [name for name, value in call.args.items() if value]


def _type_of(text: str) -> str | None:
    """The name of a scalar type; None if the text is not one."""
    try:
        kind = exp.DataType.build(text, dialect=DIALECT)
    except SqlglotError:
        return None
    is_whole = (
        kind.this in _SCALARS
        and not kind.find(exp.CollateColumnConstraint)
        and (kind.this != Type.DECIMAL or bool(kind.expressions))
    )
    return name_of_type(kind) if is_whole else None


def _way_to_scan(name: str, inputs: tuple[Operator, ...]) -> tuple[Scan, str, list[Project]] | None:
    """(scan, its VARIANT column, the πs in between from top to bottom) for an attribute of one
    of the inputs; None if it is no VARIANT.
    """
    node = next((each for each in inputs if name in each.columns), None)
    passing: list[Project] = []
    while node is not None and not isinstance(node, Scan):
        sources = (node.provenance((name,)) or ()) if isinstance(node, _PASSING) else ()
        if len(sources) != 1:
            return None
        if isinstance(node, Project):
            passing.append(node)
        below, (name,) = sources[0]
        assert isinstance(below, Operator)
        node = below
    if node is None:
        return None
    found = next((each.name for each in node.attributes if node.attribute(each.name) == name), None)
    return (node, found, passing) if found is not None and node.types[name].this == Type.VARIANT else None
