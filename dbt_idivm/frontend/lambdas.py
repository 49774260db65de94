"""Lambda variables: elements of the arrays and maps that are arguments of the function.

They are replaced by typed columns, so that inference for columns works for them as well. A variable of unknown type is not
replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.types import infer_type
from dbt_idivm.algebra.variables import uses

Types = Mapping[str, exp.DataType]
_Type = exp.DataType.Type
_INT = exp.DataType(this=_Type.INT)

_OF_ELEMENT = frozenset({"exists", "filter", "forall", "transform", "any_match", "all_match"})
_OF_ENTRY = frozenset({"map_filter", "transform_keys", "transform_values"})


def with_typed_variables(expression: exp.Expr, types: Types) -> tuple[exp.Expr, dict[str, exp.DataType]]:
    """(a copy of `expression` with columns in place of lambda variables, column → type)."""
    whole = expression.copy()
    known: dict[str, exp.DataType] = {}
    # a nested lambda may use the variables of the outer one
    for call in [node for node in whole.walk() if isinstance(node, exp.Func) and not isinstance(node, exp.Lambda)]:
        for function, kinds in _lambdas(call, {**types, **known}):
            for variable, kind in zip(function.expressions, kinds, strict=False):
                if kind is not None and isinstance(variable, exp.Identifier):
                    name = f"lambda_{len(known)}__{variable.name}"
                    known[name] = kind
                    _put(function, variable.name, name)
    return whole, known


def _lambdas(call: exp.Func, types: Types) -> Iterator[tuple[exp.Lambda, list[exp.DataType | None]]]:
    """The lambdas that are arguments of `call`, each with the types of its variables in order."""
    given = list(call.iter_expressions())
    functions = [each for each in given if isinstance(each, exp.Lambda)]
    if not functions:
        return
    name = call.sql("spark").partition("(")[0].lower()
    values = [infer_type(each, types) for each in given if not isinstance(each, exp.Lambda)]
    if name in ("aggregate", "reduce") and len(values) == 2:
        kinds = [_settled(values[1]), _part(values[0], _Type.ARRAY, 0)]
        yield functions[0], kinds
        yield from ((finish, kinds[:1]) for finish in functions[1:])
    elif name in _OF_ELEMENT and values:
        yield functions[0], [_part(values[0], _Type.ARRAY, 0), _INT]
    elif name == "array_sort" and values:
        yield functions[0], [_part(values[0], _Type.ARRAY, 0)] * 2
    elif name == "zip_with" and len(values) == 2:
        yield functions[0], [_part(each, _Type.ARRAY, 0) for each in values]
    elif name in _OF_ENTRY and values:
        yield functions[0], [_part(values[0], _Type.MAP, number) for number in (0, 1)]
    elif name == "map_zip_with" and len(values) == 2:
        yield functions[0], [_part(values[0], _Type.MAP, 0), *(_part(each, _Type.MAP, 1) for each in values)]


def _part(kind: exp.DataType, nested: object, number: int) -> exp.DataType | None:
    """The type of the element, key or value at index `number` of an array or map; None if it is unknown."""
    parts = kind.expressions if kind.this == nested else []
    return _settled(parts[number]) if len(parts) > number and isinstance(parts[number], exp.DataType) else None


def _settled(kind: exp.DataType) -> exp.DataType | None:
    return None if kind.this in (_Type.UNKNOWN, _Type.NULL, _Type.OBJECT) else kind


def _put(function: exp.Lambda, variable: str, name: str) -> None:
    """Replace the uses of the variable by the column, except where it names a value of STRUCT."""
    for node in uses(function, variable):
        if not isinstance(node.parent, exp.PropertyEQ):
            node.replace(column(name))
