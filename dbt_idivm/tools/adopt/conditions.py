"""Whether a condition of Jinja holds: in a build of the whole table, or in an incremental run. It may not be known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jinja2 import TemplateSyntaxError, nodes

from dbt_idivm.tools.adopt.template import JINJA

INCREMENTAL, REFRESHED, THIS = "is_incremental", "should_full_refresh", "this"
_FLAG = "FULL_REFRESH"
_VARIABLES = ("full_refresh", "is_full_refresh", "force_full_refresh")  # dbt variables by which people mean the flag


@dataclass(frozen=True)
class World:
    """What is asked about: an incremental run, or a build of the whole table. `known`: variables of the template that are true or
    false."""

    is_incremental: bool
    known: Mapping[str, bool] = field(default_factory=dict)

    def truth(self, code: str) -> bool | None:
        """Whether the expression is true; None if that is not known, or if it is no expression."""
        found = _expression(code)
        return None if found is None else self._truth(found)

    def _truth(self, node: nodes.Node) -> bool | None:
        if isinstance(node, nodes.Const):
            return bool(node.value)
        if isinstance(node, nodes.Not):
            inner = self._truth(node.node)
            return None if inner is None else not inner
        if isinstance(node, nodes.And | nodes.Or):
            both = (self._truth(node.left), self._truth(node.right))
            decisive = isinstance(node, nodes.Or)
            return decisive if decisive in both else None if None in both else not decisive
        if isinstance(node, nodes.CondExpr):
            test = self._truth(node.test)
            chosen = node.expr1 if test else node.expr2
            return None if test is None or chosen is None else self._truth(chosen)
        if isinstance(node, nodes.Compare):
            return self._compared(node)
        if isinstance(node, nodes.Name):
            return self.known.get(node.name)
        if isinstance(node, nodes.Filter) and node.name in ("as_bool", "bool") and node.node is not None:
            return self._truth(node.node)
        return self._called(node)

    def _called(self, node: nodes.Node) -> bool | None:
        """The value of `is_incremental()`, of `flags.FULL_REFRESH`, and of what else says the same."""
        called = _called(node)
        if called == INCREMENTAL:
            return self.is_incremental
        if called == REFRESHED or is_flag(node) or _is_variable(node):
            return not self.is_incremental
        if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.node.name == "loop":
            return True if node.attr in ("first", "last") and self.known.get("loop") else None
        return None

    def _compared(self, node: nodes.Compare) -> bool | None:
        """A value compared with `true` or `false`."""
        if len(node.ops) != 1 or node.ops[0].op not in ("eq", "ne"):
            return None
        other = node.ops[0].expr
        if not (isinstance(other, nodes.Const) and isinstance(other.value, bool)):
            return None
        value = self._truth(node.expr)
        return None if value is None else (value == other.value) == (node.ops[0].op == "eq")


def depends(code: str, known: Mapping[str, bool] | None = None) -> bool:
    """Whether the expression asks for the kind of the run, itself or by one of the variables `known`."""
    found = _expression(code)
    return found is not None and any(_asks(node, known or {}) for node in _all(found))


def asks_flag(code: str) -> bool:
    """Whether it asks for the flag --full-refresh itself, which differs between runs of a maintained model."""
    found = _expression(code)
    return found is not None and any(is_flag(node) or _is_variable(node) or _called(node) == REFRESHED for node in _all(found))


def uncalled(code: str) -> bool:
    """Whether it names `is_incremental` without calling it: a macro itself is always true."""
    found = _expression(code)
    if found is None:
        return False
    called = {id(node.node) for node in _all(found) if isinstance(node, nodes.Call)}
    return any(isinstance(node, nodes.Name) and node.name == INCREMENTAL and id(node) not in called for node in _all(found))


def is_flag(node: nodes.Node) -> bool:
    """`flags.FULL_REFRESH`"""
    return isinstance(node, nodes.Getattr) and node.attr == _FLAG


def _asks(node: nodes.Node, known: Mapping[str, bool]) -> bool:
    return (
        _called(node) in (INCREMENTAL, REFRESHED)
        or is_flag(node)
        or _is_variable(node)
        or (isinstance(node, nodes.Name) and node.name in known)
    )


def _is_variable(node: nodes.Node) -> bool:
    """`var('full_refresh', …)`"""
    if _called(node) != "var":
        return False
    assert isinstance(node, nodes.Call)
    first = node.args[0] if node.args else None
    return isinstance(first, nodes.Const) and str(first.value).lower() in _VARIABLES


def _called(node: nodes.Node) -> str | None:
    """The name of a called function; `dbt.is_incremental()` is the same."""
    if not isinstance(node, nodes.Call):
        return None
    if isinstance(node.node, nodes.Name):
        return node.node.name
    is_of_dbt = isinstance(node.node, nodes.Getattr) and isinstance(node.node.node, nodes.Name) and node.node.node.name == "dbt"
    return node.node.attr if is_of_dbt and isinstance(node.node, nodes.Getattr) else None


def _all(node: nodes.Node) -> list[nodes.Node]:
    return [node, *(found for found in node.find_all(nodes.Node))]


def _expression(code: str) -> nodes.Expr | None:
    try:
        body = JINJA.parse("{{ (" + code + ") }}").body
    except TemplateSyntaxError:
        return None
    output = body[0] if body else None
    return output.nodes[0] if isinstance(output, nodes.Output) and len(output.nodes) == 1 else None
