"""Where Spark does not give the sessions of session_window: a finding for each such place, because the view would differ.

Spark merges the rows of a session in the aggregation whose GROUP BY has the column itself, and nowhere else:

    GROUP BY session_window(ts, '5 minutes').start              the rows of a session are not merged
    count(DISTINCT a), count(DISTINCT b)                        they are merged among those with equal a or b first
    SELECT w, … FROM (… session_window(…) AS w …) GROUP BY w    sessions of other groups, which overlap, are merged again
    … WHERE w.start > x, HAVING, JOIN … ON w.start = x          its optimizer tests the single rows, before they are merged
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import Finding, Place, finding
from dbt_idivm.operators import Aggregate, Join, OuterJoin, Select, SemiAntiJoin


@dataclass(frozen=True)
class Session:
    """A call of session_window."""

    source: str
    place: Place | None

    def refused(self, where: str) -> Finding:
        return finding(228, self.place, what=f"{self.source} {where}")


def of_groups(session: Session, attribute: str, groups: Sequence[exp.Expr]) -> Iterator[Finding]:
    """Whether its column, and nothing else that is computed of it, is one of the groups."""
    reading = [each for each in groups if attribute in attributes(each)]
    if not reading or not all(isinstance(each, exp.Column) for each in reading):
        yield session.refused("that GROUP BY does not have as it is (Spark merges no sessions there)")


def of_distinct(nodes: Sequence[exp.Expr]) -> bool:
    """Whether aggregates of the SELECT make Spark group the rows by values that are DISTINCT first."""
    values = {each for each in nodes if isinstance(each, exp.Distinct)}
    return len(values) > 1 or any(isinstance(each, exp.Filter) and each.find(exp.Distinct) for each in nodes)


def used_again(root: Operator, sessions: Mapping[str, Session]) -> Iterator[Finding]:
    """The sessions, by attribute, that the model groups once more, or that a condition tests."""
    for name in sorted(_used(root, sessions, {})) if sessions else ():
        yield sessions[name].refused(
            "of which the same model groups, joins or filters the sessions (Spark merges them again, or after that; give them a "
            "model of their own)"
        )


def _used(node: Operator, sessions: Mapping[str, Session], held: dict[str, str]) -> set[str]:
    """The sessions that are used at or below a node. `held`: attributes above the γ that merges a session, and what they hold of
    it, to which those of the node are added."""
    found = set[str]().union(*(_used(each, sessions, held) for each in node.inputs))
    if isinstance(node, Aggregate):
        found.update(held[each] for each in {*node.groups, *node.arguments} & held.keys())
        held.update((name, name) for name in node.groups if name in sessions)
    if isinstance(node, Select | Join | OuterJoin | SemiAntiJoin):
        found.update(held[each] for each in attributes(node.condition) if each in held)
    for name, made in node.defined:
        held.update((name, held[each]) for each in attributes(made) if each in held)
    for name, sources in node.united:
        held.update((name, held[each]) for each in sources if each in held)
    return found
