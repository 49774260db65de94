"""What the random cases reached: how many, the shapes of their refreshes, and each rule that fired on changed rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt_idivm.operators import OPERATORS
from dbt_idivm.operators.additive import ADDITIVE
from dbt_idivm.passes.propagate import propagate
from dbt_idivm.script.bind import BoundScript
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.diff import InlineDiff
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.prune_empty import non_empty

SHAPES = ("direct", "effective", "additive", "tuple", "none")
RULES = (*(rule.name for operator in OPERATORS for rule in operator.RULES), *(rule.name for rule in ADDITIVE))


@dataclass
class Coverage:
    """Counts over all cases of a run."""

    cases: int = 0
    shapes: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)

    def refresh(self, plan: Plan, diffs: Mapping[str, InlineDiff], script: BoundScript | None) -> None:
        """Count one refresh. A rule counts if the base i-diff that it carries on has rows."""
        self.shapes[script.shape if script is not None else "none"] += 1
        if script is not None and script.shape == "additive" and plan.additive is not None:
            self.rules.update(rule.name for rule, _ in plan.additive.calls)
            return
        if plan.strategy == "tuple":
            return
        binding = Binding(diffs=diffs, dialect=DUCKDB)
        base = {name: non_empty(found, binding.is_empty) for name, found in plan.base.items()}
        self.rules.update(firing.rule for firing in propagate(plan.root, base).firings)

    def missing(self) -> list[str]:
        """Shapes and rules that no case reached."""
        return [name for name in SHAPES if not self.shapes[name]] + [name for name in RULES if not self.rules[name]]

    def report(self) -> str:
        shapes = ", ".join(f"{name} {self.shapes[name]}" for name in SHAPES)
        rules = ", ".join(f"{name} {self.rules[name]}" for name in RULES)
        return f"{self.cases} random cases; refreshes: {shapes}\nrules fired: {rules}"


COVERAGE = Coverage()
