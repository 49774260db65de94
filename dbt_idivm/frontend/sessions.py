"""Refuse the uses of session_window for which Spark does not return merged sessions; a maintained view would differ.

Spark merges the rows of a session only in an aggregation whose GROUP BY contains the session column itself:

    GROUP BY session_window(ts, '5 minutes').start              sessions are not merged
    count(DISTINCT a), count(DISTINCT b)                        sessions are first merged per value of a and b
    SELECT w, … FROM (… session_window(…) AS w …) GROUP BY w    overlapping sessions of different groups are merged again
    … WHERE w.start > x, HAVING, JOIN … ON w.start = x          the optimizer tests single rows before they are merged
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import Finding, Place, finding
from dbt_idivm.operators import Aggregate


@dataclass(frozen=True)
class Session:
    """A call of session_window."""

    source: str
    place: Place | None

    def refused(self, where: str) -> Finding:
        return finding(228, self.place, what=f"{self.source} {where}")


def of_groups(session: Session, attribute: str, groups: Sequence[exp.Expr]) -> Iterator[Finding]:
    """A finding unless GROUP BY contains the session column itself, and no expression over it."""
    reading = [each for each in groups if attribute in attributes(each)]
    if not reading or not all(isinstance(each, exp.Column) for each in reading):
        yield session.refused("that GROUP BY does not list as a plain column (Spark then does not merge sessions)")


def of_distinct(nodes: Sequence[exp.Expr]) -> bool:
    """Whether Spark evaluates the aggregates of the SELECT in two steps, first grouping by DISTINCT values."""
    values = {each for each in nodes if isinstance(each, exp.Distinct)}
    return len(values) > 1 or any(isinstance(each, exp.Filter) and each.find(exp.Distinct) for each in nodes)


def used_again(root: Operator, sessions: Mapping[str, Session]) -> Iterator[Finding]:
    """A finding for each session that the model groups again or tests in a condition. `sessions`: attribute → call."""
    for name in sorted(_used(root, sessions, {})) if sessions else ():
        yield sessions[name].refused(
            "whose sessions the same model groups, joins or filters (Spark merges them again or too late; compute them in a "
            "separate model)"
        )


def _used(node: Operator, sessions: Mapping[str, Session], held: dict[str, str]) -> set[str]:
    """The sessions that are used at or below a node.

    `held` maps attributes above the γ that merges a session to the session that they are computed from. The walk adds the
    attributes of the node to it.
    """
    found = set[str]().union(*(_used(each, sessions, held) for each in node.inputs))
    if isinstance(node, Aggregate):
        found.update(held[each] for each in {*node.groups, *node.arguments} & held.keys())
        held.update((name, name) for name in node.groups if name in sessions)
    found.update(held[each] for condition in node.conditions for each in attributes(condition) if each in held)
    for name, made in node.defined:
        held.update((name, held[each]) for each in attributes(made) if each in held)
    for name, sources in node.united:
        held.update((name, held[each]) for each in sources if each in held)
    return found
