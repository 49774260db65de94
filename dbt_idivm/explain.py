"""A plan as text: the artifacts `plan.txt` and `delta_script.sql`, and what `idivm explain` prints. Deterministic."""

from __future__ import annotations

from itertools import groupby

from dbt_idivm.algebra.operator import Operator, operators_of
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.deep import deep_recursion
from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.operators.additive import additive_rule
from dbt_idivm.operators.aggregate import Aggregate
from dbt_idivm.passes.annotate import Facts
from dbt_idivm.script.bind import bind
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.direct import is_direct
from dbt_idivm.script.plan import Cache, Plan
from dbt_idivm.script.prune_empty import non_empty
from dbt_idivm.script.symbolic import symbolic


@deep_recursion()
def explain(plan: Plan) -> str:
    """The operator tree with IDs, base i-diff schemas, rules in firing order, caches, and the i-diffs of the view.

    Intermediate caches come first, each with why it is there and what a view's plan shows.
    """
    caches = [f"cache {cache.number}: {cache.table}\n  {_reason(cache)}\n\n{_explained(cache.plan, 'cache')}"
              for cache in plan.caches]
    return "\n".join([*caches, _explained(plan, "view")])


@deep_recursion()
def explain_passes(plan: Plan) -> str:
    """The operator tree after each pass, and the i-diffs with their rows after each optimisation ("as before" if the same).

    Intermediate caches come first, as in `explain`.
    """
    parts = [(f"cache {cache.number}: {cache.table}", cache.plan) for cache in plan.caches]
    return "\n".join(f"{title}\n\n{_stages(each)}" for title, each in [*parts, ("view", plan)])


def _stages(plan: Plan) -> str:
    trees = [(f"after {step.name}", _with_columns(step.root)) for step in plan.passes]
    steps = (("propagate", plan.naive), *plan.optimizations)
    scripts = [(f"after {name}", [line for diff in idiffs for line in (str(diff), *_rows(diff))]) for name, idiffs in steps]
    before: list[str] | None = None
    lines = []
    for title, text in [*trees, ("annotated", _annotated(plan.annotated.facts)), *scripts]:
        lines += [title, *(f"  {line}" for line in (["as before"] if text == before else text)), ""]
        before = text
    return "\n".join(lines)


def _with_columns(node: Operator) -> list[str]:
    """The tree with the attributes of its tables, which their labels do not name."""
    below = [f"  {line}" for child in node.inputs for line in _with_columns(child)]
    return [node.label() if below else f"{node.label()} ({', '.join(node.columns)})", *below]


def _annotated(facts: Facts) -> list[str]:
    """The tree with the key of each operator and where its attributes come from."""
    key = "no key" if facts.key is None else f"key: {', '.join(facts.key) or '()'}"
    never_null = ", ".join(name for name in facts.node.columns if name not in facts.nullable)
    read = sorted({str(column) for columns in facts.provenance.values() for column in columns})
    notes = [key, *([f"not NULL: {never_null}"] if never_null else []), *([f"of {', '.join(read)}"] if read else [])]
    below = [f"  {line}" for each in facts.inputs for line in _annotated(each)]
    return [f"{facts.node.label()}   [{'; '.join(notes)}]", *below]


def _rows(diff: IDiff) -> list[str]:
    return [f"  {line}" for line in relation_tree(diff.relation)]


def _reason(cache: Cache) -> str:
    return f"because {cache.reason}; its key is ({', '.join(cache.key)})"


def _explained(plan: Plan, what: str) -> str:
    tuples = plan.strategy == "tuple"
    carried = ((f"signed rows of the {what} (tuple-based)", relation_tree(plan.root.signed())),) if tuples else (
        ("base i-diffs (per table occurrence)", _base_idiffs(plan)),
        ("rules fired", _rules(plan)))
    applied = (("applied", ["additive" if plan.additive else "tuples"]),) if tuples else (
        (f"i-diffs of the {what}", [str(diff) for diff in plan.idiffs]),
        ("applied", _application(plan)))
    sections = (
        (f"{what} (operator tree; ID of each node)", tree(plan.root)),
        ("stored columns", _columns(plan)),
        *carried,
        ("operator caches", _operator_caches(plan)),
        *applied,
    )
    return "\n".join(f"{title}\n" + "".join(f"  {line}\n" for line in lines) for title, lines in sections)


@deep_recursion()
def delta_script(plan: Plan, target: str, *, optimised: bool = True) -> str:
    """The Δ-script: each i-diff of the view with its guard, then the MERGE that applies them when none is empty.

    With intermediate caches theirs come first, in the order in which they are run.
    """
    scripts = [f"-- cache {cache.number}: {cache.table}\n\n{_script(cache.plan, cache.table, optimised)}"
               for cache in plan.caches]
    return "\n".join([*scripts, *(["-- view\n"] if scripts else []), _script(plan, target, optimised)])


def _script(plan: Plan, target: str, optimised: bool) -> str:
    binding = symbolic(plan)
    idiffs = plan.idiffs if optimised else plan.naive
    steps = []
    for number, diff in enumerate(idiffs, 1):
        binder = binding.statement()
        query = DELTA.sql(binder.attach(diff.relation.block(binder).select()))
        steps.append(f"-- i-diff {number}: {diff}\n-- guard: {_guard(diff)}\n{query};\n")
    bound = bind(plan, binding, target, optimised=optimised, additive=False)
    if bound is not None:
        when = ", when no i-diff is empty" if idiffs else ""
        steps.append(f"-- apply{when}: {bound.shape}\n{DELTA.sql(bound.merge)};\n")
    if plan.additive is not None:
        added = bind(plan, binding, target)
        assert added is not None
        steps.append(f"-- apply, additive form over all changed inputs\n{DELTA.sql(added.merge)};\n")
    return "\n".join(steps)


def tree(node: Operator) -> list[str]:
    """One line per operator, children indented, each with its ID."""
    lines: list[tuple[str, Operator]] = []

    def walk(at: Operator, depth: int) -> None:
        lines.append(("  " * depth + at.label(), at))
        for child in at.inputs:
            walk(child, depth + 1)

    walk(node, 0)
    return [f"{text}   [{_ids(at)}]" for text, at in lines]


def relation_tree(relation: Relation) -> list[str]:
    """A relation as an indented tree."""
    below = [f"  {line}" for child in relation.children for line in relation_tree(child)]
    return [relation.label(), *below]


def _ids(node: Operator) -> str:
    kind = "ID" if node.unique else "ID, not unique"
    return f"{kind}: {', '.join(node.ids) or '()'}"


def _columns(plan: Plan) -> list[str]:
    return [f"{c.name} ← {c.attribute}{' (hidden)' if c.hidden else ''}" for c in plan.columns]


def _base_idiffs(plan: Plan) -> list[str]:
    return [str(diff) for diffs in plan.base.values() for diff in diffs]


def _rules(plan: Plan) -> list[str]:
    lines = []
    for operator, firings in groupby(plan.firings, key=lambda firing: firing.operator):
        names = [firing.rule for firing in firings]
        lines.append(f"{operator}: {', '.join(dict.fromkeys(names))}")
    return lines


def _operator_caches(plan: Plan) -> list[str]:
    if plan.additive is not None:
        return [f"{call}, led on by {rule.name}: {rule.emits}" for rule, call in plan.additive.calls]
    refused = [call for node in operators_of(plan.root, Aggregate) for call in node.calls if additive_rule(node, call) is None]
    return [f"none: no additive rule for {call}" for call in refused] or ["none"]


def _application(plan: Plan) -> list[str]:
    lines = []
    for occurrence in (scan.occurrence for scan in plan.scans):
        diffs = non_empty(plan.idiffs, lambda leaf, only=occurrence: leaf.scan.occurrence != only)  # type: ignore[misc]
        how = "nothing to do" if not diffs else "direct" if is_direct(diffs) else "effective"
        lines.append(f"when only {occurrence} changed, in every way: {'additive' if plan.additive else how}")
    return lines


def _guard(diff: IDiff) -> str:
    return " or ".join(f"{origin} has rows" for origin in sorted(diff.origins))
