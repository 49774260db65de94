"""Variables of lambdas in expressions. Within a lambda they hide columns, and sources, of the same name.

transform(array(sum(price)), v -> v / count(*))    the body reads the stored count as `v.count`, so v is renamed v_2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dbt_idivm.fresh_name import fresh_name


def without_hidden(expression: exp.Expr, by: Mapping[str, exp.Expr]) -> exp.Expr:
    """`expression`, or a copy with renamed lambda variables, so that none of them hides a column of the definitions in `by`."""
    if expression.find(exp.Lambda) is None:
        return expression
    found = expression.copy()
    taken = {each.name.lower() for each in found.find_all(exp.Identifier)}
    for function in list(found.find_all(exp.Lambda)):
        columns = [node for node in function.this.find_all(exp.Column) if not node.table]
        names = {each.parts[0].name.lower() for node in columns for each in by[node.name].find_all(exp.Column)}
        for variable in function.expressions:
            if variable.name.lower() in names:
                new = fresh_name(variable.name, lambda tried, taken=taken | names: tried.lower() in taken)  # type: ignore[misc]
                taken.add(new.lower())
                for use in (variable, *uses(function, variable.name)):
                    use.set("this", new)
    return found


def uses(function: exp.Lambda, variable: str) -> list[exp.Identifier]:
    """The identifiers in the body of a lambda that refer to its variable `variable`."""
    wanted = variable.lower()
    return [
        node
        for node in function.this.find_all(exp.Identifier)
        if node.name.lower() == wanted
        and _is_value(node)
        and not any(each.name.lower() == wanted for inner in _between(node, function) for each in inner.expressions)
    ]


def _is_value(node: exp.Identifier) -> bool:
    """Whether the identifier refers to a variable: it is not the name of a column, a field,
    an alias, a type, a schema or a function.
    """
    parent = node.parent
    if isinstance(parent, exp.Dot):
        return node.arg_key == "this" and not isinstance(parent.expression, exp.Func)
    if isinstance(parent, exp.Column | exp.ColumnDef | exp.DataType):
        return False
    if isinstance(parent, exp.PropertyEQ | exp.Anonymous):
        return node.arg_key != "this"
    return node.arg_key != "alias" and not (isinstance(parent, exp.Lambda) and node.arg_key == "expressions")


def _between(node: exp.Expr, function: exp.Lambda) -> Iterator[exp.Lambda]:
    """The lambdas that enclose `node` inside `function`, innermost first."""
    at = node.parent
    while at is not None and at is not function:
        if isinstance(at, exp.Lambda):
            yield at
        at = at.parent
