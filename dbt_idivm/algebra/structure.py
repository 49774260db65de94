"""The structure of an expression as text: the same as sqlglot's `repr`, in linear time.

`repr` joins the texts of a node's parts at each level, so that a chain of n operands is copied n times. Caches and views are
identified by this text, so its form must not change.
"""

from __future__ import annotations

from textwrap import dedent

from sqlglot import exp


def structure(expression: exp.Expr) -> str:
    """The same text as `repr(expression)`."""
    pieces: list[str] = []
    _node(expression, 0, pieces)
    return "".join(pieces)


def _node(node: exp.Expr, level: int, pieces: list[str]) -> None:
    """Append the class name and the arguments of the node, each on its own line unless none of them is an expression."""
    arguments = {key: value for key, value in node.args.items() if not (value is None or value == [])}
    if not node.is_data_type and node.type:
        arguments["_type"] = node.type
    if node.comments:
        arguments["_comments"] = node.comments
    start = "" if node.is_leaf() else _line(level)
    quoted = node.is_string or (isinstance(node, exp.Identifier) and node.quoted)
    pieces.append(f"{type(node).__name__}({start}")
    for number, (key, value) in enumerate(arguments.items()):
        pieces.append(f"{f',{start}' if start else ', '}{key}=" if number else f"{key}=")
        _value(value, level + 1, pieces, quoted=quoted)
    pieces.append(")")


def _value(value: object, level: int, pieces: list[str], *, quoted: bool = False) -> None:
    if isinstance(value, exp.Expr):
        _node(value, level, pieces)
    elif isinstance(value, list):
        pieces.append("[")
        for number, each in enumerate(value):
            pieces.append(f"{',' if number else ''}{_line(level)}")
            _value(each, level + 1, pieces)
        pieces.append("]")
    else:
        text = repr(value) if quoted and isinstance(value, str) else str(value)
        lines = dedent(text.strip("\n")).splitlines() if "\n" in text or text[:1].isspace() else text.splitlines()
        pieces.append(_line(level).join(lines))


def _line(level: int) -> str:
    return "\n" + "  " * (level + 1)
