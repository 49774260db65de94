"""What the cases of a run reached: how many on each engine, the shapes of their refreshes, each rule that fired on changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dbt_idivm.operators import OPERATORS
from dbt_idivm.operators.additive import ADDITIVE
from dbt_idivm.passes.propagate import propagate
from dbt_idivm.script.additive import Adding
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.diff import InlineDiff
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.prune_empty import non_empty
from dbt_idivm.script.render import BoundScript
from dbt_idivm.script.top_k import Ranking
from tests.property.plans import idiff_way

SHAPES = ("append", "direct", "effective", "additive", "tuple", "none")
# statements that apply the rows of a fetched source, and whether reached rows were fetched, or old rows computed over them
APPLIED = ("merge", "insert", "update", "delete", "replace", "replace beside", "nothing", "reach", "compared")
# of each operator, and the additive ones
RULES = (*(tuple(rule.name for rule in operator.RULES) for operator in OPERATORS), tuple(rule.name for rule in ADDITIVE))


@dataclass
class Coverage:
    """Counts over all cases of one kind in a run; a rule that they did not reach proves nothing."""

    kind: str
    engine: str = "DuckDB"
    cases: int = 0
    discarded: Counter[str] = field(default_factory=Counter)  # drawn, but not to be judged → why
    shapes: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    applied: Counter[str] = field(default_factory=Counter)
    beyond: frozenset[str] = frozenset()  # rules that it cannot reach

    def refresh(self, plan: Plan, diffs: Mapping[str, InlineDiff], script: BoundScript | None) -> None:
        """Count one refresh. A rule counts if the base i-diff that it carries on has rows."""
        self.shapes[script.shape if script is not None else "none"] += 1
        if script is not None and isinstance(script.application, Adding):
            self.rules.update(rule.name for rule, _ in script.application.state.calls)
            return
        if script is not None and (isinstance(script.application, Ranking) or script.application.way == "tail"):
            return
        binding = Binding(changes=net_changes(plan, diffs, screened=False), dialect=DUCKDB)
        base = {name: non_empty(found, binding.changes.is_empty) for name, found in idiff_way(plan).base.items()}
        if base:
            self.rules.update(firing.rule for firing in propagate(plan.root, base).firings)

    def reached(self) -> tuple[Counter[str], Counter[str]]:
        """Rules, and shapes and statements, with how often until now."""
        statements = {f"by {name}": count for name, count in self.applied.items()}
        return Counter(self.rules), Counter({**self.shapes, **statements})

    def counts(self) -> tuple[int, dict[str, int], dict[str, int], dict[str, int], dict[str, int]]:
        """What `add` takes in another process."""
        return self.cases, dict(self.discarded), dict(self.shapes), dict(self.rules), dict(self.applied)

    def add(
        self, cases: int, discarded: dict[str, int], shapes: dict[str, int], rules: dict[str, int], applied: dict[str, int]
    ) -> None:
        self.cases += cases
        self.discarded.update(discarded)
        self.shapes.update(shapes)
        self.rules.update(rules)
        self.applied.update(applied)

    @property
    def share_discarded(self) -> float:
        """Of the cases that were drawn. A strategy that draws too many of them looks at less than it seems to."""
        return self.discarded.total() / max(1, self.cases + self.discarded.total())

    def missing(self, least: float = 1) -> list[str]:
        """Shapes that no case reached, and such rules of each operator of whose rules less than the share `least` was reached."""
        found = [name for name in SHAPES if not self.shapes[name]] + [name for name in APPLIED if not self.applied[name]]
        for rules in RULES:
            never = [name for name in rules if not self.rules[name] and name not in self.beyond]
            found += never if len(never) > (1 - least) * len(rules) else []
        return found

    def report(self) -> str:
        shapes = ", ".join(f"{name} {self.shapes[name]}" for name in SHAPES)
        rules = ", ".join(f"{name} {self.rules[name]}" for of in RULES for name in of)
        shapes += f", rebuilt {self.shapes['rebuilt']}" if self.shapes["rebuilt"] else ""
        applied = ", ".join(f"{name} {self.applied[name]}" for name in APPLIED)
        why = "".join(f"\n  {count} {reason}" for reason, count in self.discarded.most_common())
        discarded = f"\ndiscarded, {self.share_discarded:.0%} of what was drawn:{why}" if why else ""
        return (
            f"{self.cases} {self.kind} cases on {self.engine}; refreshes: {shapes}\nfetched rows are applied by: {applied}\n"
            f"rules fired: {rules}{discarded}"
        )


# DuckDB's average of decimals is a DOUBLE: of most values another one
RANDOM = Coverage("random", beyond=frozenset({"additive_avg_decimal"}))
FROZEN = Coverage("frozen", beyond=RANDOM.beyond)
DIRECTED = Coverage("directed")
# What they are to reach are meanings, not rules.
MEANT = Coverage("random", engine="Spark's meaning")
FROZEN_AND_MEANT = Coverage("frozen", engine="Spark's meaning")
DIRECTED_AND_MEANT = Coverage("directed", engine="Spark's meaning")


def by_engine(found: Iterable[Coverage]) -> dict[str, int]:
    """Engine → cases."""
    cases: Counter[str] = Counter()
    for each in found:
        cases[each.engine] += each.cases
    return dict(cases)
