"""A plan as text: the artifacts `plan.txt` and `delta_script.sql`, and the output of `idivm explain`. Deterministic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from dbt_idivm.algebra.expressions import render as as_text
from dbt_idivm.algebra.expressions import short
from dbt_idivm.algebra.operator import Operator, operators, operators_of
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.deep import deep_recursion
from dbt_idivm.idiff.idiff import REC, IDiff
from dbt_idivm.operators.additive import additive_rule
from dbt_idivm.operators.aggregate import Aggregate
from dbt_idivm.operators.window import Window
from dbt_idivm.passes.annotate import Facts
from dbt_idivm.script.additive import Additive, LostExtremes
from dbt_idivm.script.by_idiffs import ByIDiffs
from dbt_idivm.script.conditional import Conditional
from dbt_idivm.script.dialect import DELTA, Dialect
from dbt_idivm.script.leaves import tables
from dbt_idivm.script.limit import LONGEST
from dbt_idivm.script.plan import Cache, Plan
from dbt_idivm.script.render import ask, render
from dbt_idivm.script.symbolic import symbolic
from dbt_idivm.script.tail import Tail
from dbt_idivm.script.ties import ties, ties_at
from dbt_idivm.script.top_k import Ranking, TopK
from dbt_idivm.script.ways import ALL_WAYS, Application, IsEmpty, Way, WayName

_RECOMPUTING = "by recomputing"


@deep_recursion()
def explain(plan: Plan) -> str:
    """The operator tree with IDs, base i-diff schemas, rules in firing order, caches, and the i-diffs of the view.

    Intermediate caches come first, each with the reason for it and the same sections as the view.
    """
    caches = [
        f"cache {cache.number}: {cache.table}\n  {_reason(cache)}\n\n{_explained(cache.plan, 'cache')}" for cache in plan.caches
    ]
    return "\n".join([*caches, _explained(plan, "view")])


@deep_recursion()
def outline(plan: Plan) -> list[str]:
    """The part of `explain` that determines the rest, as lines: operator trees of the caches and of the view, and the stored
    columns. Operators are not truncated, because the lines of two plans are compared."""
    parts = [*((f"cache {cache.number}: {cache.table}", cache.plan) for cache in plan.caches), ("view", plan)]
    return [
        line
        for title, each in parts
        for line in (title, *_indented(tree(each.root, longest=None)), "stored columns", *_indented(_columns(each)))
    ]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def maintained(plan: Plan) -> str:
    """How changes reach the view, in a few words; and by what tied rows are ordered."""
    names = dict.fromkeys(short(name) for _, names in ties(plan) for name in names)
    return _maintained(plan) + (f"; tied rows by {', '.join(names)}" if names else "")


def _maintained(plan: Plan) -> str:
    way = plan.ways[0]
    if isinstance(way, TopK):
        return "by ranking changed and stored rows (topk)"
    if isinstance(way, Tail):
        return "by continuing stored values where rows come last (tail)"
    if not isinstance(way, ByIDiffs):
        return "by adding (additive)"
    if not way.idiffs:
        return "no table is read, so nothing changes"
    recomputed = [diff for diff in way.idiffs if diff.kind is REC]
    if len(recomputed) == len(way.idiffs):
        what = {_recomputed(plan, diff) for diff in recomputed}
        return f"{_RECOMPUTING} {' and '.join(sorted(what))}"
    return "by i-diffs" + ("; updates of a condition's columns by recomputing the rows" if recomputed else "")


def recomputes(how: str) -> bool:
    """Whether every change recomputes rows or groups. `how` is a result of `maintained`."""
    return how.startswith(_RECOMPUTING)


def _recomputed(plan: Plan, diff: IDiff) -> str:
    if not diff.ids:
        return "all rows" if plan.root.ids else "the whole row"
    if not plan.root.unique:
        return "the touched rows"
    return "the touched groups" if set(diff.ids) <= set(plan.root.ids) else "the touched partitions"


@deep_recursion()
def explain_passes(plan: Plan) -> str:
    """The operator tree after each pass, and for each way by i-diffs the i-diffs with their rows after each optimisation.

    "As before" means that nothing has changed. Intermediate caches come first, as in `explain`.
    """
    parts = [(f"cache {cache.number}: {cache.table}", cache.plan) for cache in plan.caches]
    return "\n".join(f"{title}\n\n{_stages(each)}" for title, each in [*parts, ("view", plan)])


def _stages(plan: Plan) -> str:
    trees = [(f"after {step.name}", _with_columns(step.root)) for step in plan.passes]
    steps = [
        (f"after {name}, way {way.name}", idiffs)
        for way in plan.ways
        if isinstance(way, ByIDiffs)
        for name, idiffs in (("propagate", way.naive), *way.optimizations)
    ]
    scripts = [(title, [line for diff in idiffs for line in (str(diff), *_rows(diff))]) for title, idiffs in steps]
    before: list[str] | None = None
    lines = []
    for title, text in [*trees, ("annotated", _annotated(plan.annotated.facts)), *scripts]:
        lines += [title, *(f"  {line}" for line in (["as before"] if text == before else text)), ""]
        before = text
    return "\n".join(lines)


def _too_long(done: Application) -> str:
    return f"not used where all of it has rows: it has {done.length} nodes, and Spark is given at most {LONGEST}"


_MOST_OCCURRENCES = 50  # of tables for which the application of their changes alone is printed
_CONSTANT = "nothing, because no table is read"


def _with_columns(node: Operator) -> list[str]:
    """The tree, with the attributes of its tables, which their labels lack."""
    below = [f"  {line}" for child in node.inputs for line in _with_columns(child)]
    shown = cut(node.label())
    return [shown if below else f"{shown} ({', '.join(node.columns)})", *below]


def _annotated(facts: Facts) -> list[str]:
    """The tree, with each operator's key and the origin of its attributes."""
    key = "no key" if facts.key is None else f"key: {', '.join(facts.key) or '()'}"
    never_null = ", ".join(name for name in facts.node.columns if name not in facts.nullable)
    read = sorted({str(column) for columns in facts.provenance.values() for column in columns})
    notes = [key, *([f"not NULL: {never_null}"] if never_null else []), *([f"of {', '.join(read)}"] if read else [])]
    below = [f"  {line}" for each in facts.inputs for line in _annotated(each)]
    return [f"{cut(facts.node.label())}   [{'; '.join(notes)}]", *below]


def _rows(diff: IDiff) -> list[str]:
    return [f"  {line}" for line in relation_tree(diff.relation)]


def _reason(cache: Cache) -> str:
    return f"because {cache.reason}; its key is ({', '.join(cache.key)})"


def _explained(plan: Plan, what: str) -> str:
    sections = (
        (f"{what} (operator tree; ID of each node)", tree(plan.root)),
        ("stored columns", _columns(plan)),
        *([("ties", tied)] if (tied := tied_rows(plan)) else []),
        *([("the clock (constants that are evaluated once for each refresh)", _clock(plan))] if plan.clock else ()),
        ("operator caches", _operator_caches(plan)),
        *(section for way in plan.ways for section in _way(plan, way, what)),
    )
    return "\n".join(f"{title}\n" + "".join(f"  {line}\n" for line in lines) for title, lines in sections)


def _way(plan: Plan, way: Way, what: str) -> list[tuple[str, list[str]]]:
    """Sections on a way: what is propagated, and how it is applied."""
    title = f"way {way.name}" + (" (preferred)" if way is plan.ways[0] else "")
    if isinstance(way, ByIDiffs):
        propagated = [
            (f"{title}: base i-diffs (per table occurrence)", [str(d) for diffs in way.base.values() for d in diffs]),
            (f"way {way.name}: rules fired", _rules(way)),
            (f"way {way.name}: i-diffs of the {what}", [str(diff) for diff in way.idiffs]),
        ]
    elif isinstance(way, TopK):
        propagated = [(f"{title}: signed rows to rank with the stored rows", relation_tree(way.changes))]
    elif isinstance(way, Tail):
        propagated = [(f"{title}: signed rows to continue the stored rows", relation_tree(way.changes))]
    else:
        rows = way.application(lambda leaf: False)
        signed = "the rows to add" if way.name == "additive" else f"the {what}"
        lines = [_CONSTANT] if rows is None else [_too_long(rows)] if rows.length > LONGEST else relation_tree(rows.relations[0])
        propagated = [(f"{title}: signed rows of {signed}", lines)]
    return [*propagated, (f"way {way.name}: applied", _applied(plan, way))]


def _applied(plan: Plan, way: Way) -> list[str]:
    """How changes of each occurrence alone are applied, and what is read for that."""
    lines, occurrences = [], [scan.occurrence for scan in plan.scans]
    for occurrence in occurrences[:_MOST_OCCURRENCES]:
        done = way.application(_where_it_holds(way, lambda leaf, only=occurrence: leaf.scan.occurrence != only))  # type: ignore[misc]
        how = "got rows" if isinstance(way, Tail) else "changed, in every way"
        lines.append(f"when only {occurrence} {how}: {_application(done)}")
    left = len(occurrences) - len(lines)
    return [*lines, *([f"and so on for {left} others"] if left else [])]


def _where_it_holds(way: Way, is_empty: IsEmpty) -> IsEmpty:
    """Which base i-diffs are empty, assuming that the guard of the way holds."""
    return (lambda leaf: leaf.diff_class == "minus" or is_empty(leaf)) if isinstance(way, Tail) else is_empty


def _application(done: Application | None) -> str:
    if done is None:
        return "nothing to do"
    if isinstance(done, Conditional):
        if isinstance(done.question, LostExtremes):
            asked = f"asks the stored view which groups have lost {done.question.extremes}"
        else:
            always = [*tables(*done.relations), "the stored view"]
            asked = f"reads {', '.join(always)}; asks it first which partitions have late rows"
        return f"{done.shape}; {asked}, and recomputes these from {', '.join(done.tables)}"
    read = [*done.tables, *(["the stored view"] if done.reads_view else [])]
    keys = ", ".join(f"by ({', '.join(diff.ids) or 'all'})" for diff in done.recomputed)
    if isinstance(done, Ranking):
        always = [*tables(*done.before), "the stored view"]
        rest = [each for each in read if each not in always]
        return f"{done.shape}; reads {', '.join(always)}" + (f"; where a partition lost a row, {', '.join(rest)}" if rest else "")
    return f"{done.shape}; reads {', '.join(read) or 'the net diff alone'}{f'; recomputes {keys}' if keys else ''}"


@deep_recursion()
def delta_script(
    plan: Plan, target: str, ways: Sequence[WayName] = ALL_WAYS, *, optimised: bool = True, dialect: Dialect = DELTA
) -> str:
    """The Δ-script of those `ways` that the plan has: each i-diff of the view with its guard, and the MERGE that applies them if
    none is empty; the additive form comes last.

    The scripts of intermediate caches come first, in the order in which they run.
    """
    scripts = [
        f"-- cache {cache.number}: {cache.table}\n\n{_script(cache.plan, cache.table, ways, optimised, dialect)}"
        for cache in plan.caches
    ]
    return "\n".join([*scripts, *(["-- view\n"] if scripts else []), _script(plan, target, ways, optimised, dialect)])


def _script(plan: Plan, target: str, ways: Sequence[WayName], optimised: bool, dialect: Dialect) -> str:
    binding = symbolic(plan, dialect)
    steps = []
    for way in sorted((way for way in plan.ways if way.name in ways), key=lambda way: way.name in _FORMS):
        idiffs = (way.idiffs if optimised else way.naive) if isinstance(way, ByIDiffs) else ()
        for number, diff in enumerate(idiffs, 1):
            binder = binding.statement()
            query = dialect.sql(binder.attach(diff.relation.block(binder).select()), copy=False)
            steps.append(f"-- i-diff {number}: {diff}\n-- guard: {_guard(diff)}\n{query};\n")
        done = way.application(_where_it_holds(way, binding.changes.is_empty), optimised=optimised)
        if done is None:
            steps.append(f"-- apply: {_CONSTANT}\n")
            continue
        if done.length > LONGEST:
            steps.append(f"-- apply: {_too_long(done)}\n")
            continue
        when = ", when no i-diff is empty" if idiffs else ""
        how = _FORMS.get(way.name)
        asked = ask(plan, done, binding, target)
        if asked is not None:
            steps.append(f"-- ask, for {asked.application.question.text}\n{dialect.sql(asked.source.query, copy=False)};\n")
        bound = dialect.sql(render(plan, done, binding, target).statement, copy=False)
        steps.append(f"-- apply, {how}\n{bound};\n" if how else f"-- apply{when}: {done.shape}\n{bound};\n")
    return "\n".join(steps)


_FORMS: Mapping[WayName, str] = {
    "additive": "additive form over all changed inputs",
    "tail": "where rows only came, and none is late: new rows continue the last stored ones",
    "topk": "new rows ranked with the stored ones, over all changed inputs",
}


# Conditions may have thousands of operands, and are printed at each operator, rule and signed relation.
_LONGEST = 500  # characters of an operator in a printed tree; the Δ-script has the complete text


def cut(label: str, longest: int | None = _LONGEST) -> str:
    """The label, truncated to `longest` characters."""
    return label if longest is None or len(label) <= longest else f"{label[:longest]} …"


def tree(node: Operator, longest: int | None = _LONGEST) -> list[str]:
    """One line per operator with its ID, children indented. `longest`: length at which operators are truncated, None for
    never."""
    return [f"{'  ' * depth}{cut(at.label(), longest)}   [{_ids(at)}]" for depth, at in with_depths(node)]


def with_depths(node: Operator) -> Iterator[tuple[int, Operator]]:
    """The operators of a tree in pre-order, each with its depth."""
    left = [(0, node)]
    while left:
        depth, at = left.pop()
        yield depth, at
        left += [(depth + 1, each) for each in reversed(at.inputs)]


def relation_tree(relation: Relation) -> list[str]:
    """A relation as an indented tree."""
    below = [f"  {line}" for child in relation.children for line in relation_tree(child)]
    return [cut(relation.label()), *below]


def _ids(node: Operator) -> str:
    kind = "ID" if node.unique else "ID, not unique"
    return f"{kind}: {', '.join(node.ids) or '()'}"


def _columns(plan: Plan) -> list[str]:
    known = {c.name: f"{c.name} ← {c.attribute}{' (hidden)' if c.hidden else ''}" for c in plan.columns}
    known |= {each.name: f"{each.name} ← {as_text(each.definition)} (time of writing)" for each in plan.times}
    return [known[name] for name in plan.names]


def tied_rows(plan: Plan) -> list[str]:
    """By what rows are ordered between which a window function or an aggregate may choose, as sentences."""
    return [
        f"{call}: {_CHOSEN[isinstance(node, Window)]} are ordered by {', '.join(names)}"
        for node in operators(plan.root)
        for call, names in ties_at(node)
    ]


_CHOSEN = {True: "rows that its ORDER BY does not distinguish", False: "the rows of a group between which it may choose"}


def _clock(plan: Plan) -> list[str]:
    called = {scan.attribute(each.name): each for scan in plan.scans if scan.is_clock for each in scan.base_columns}
    return [f"{name} ← {each.name}, {each.type}" for name, each in called.items()]


def _rules(way: ByIDiffs) -> list[str]:
    lines = []
    for operator, firings in groupby(way.firings, key=lambda firing: firing.operator):
        names = [firing.rule for firing in firings]
        lines.append(f"{cut(operator)}: {', '.join(dict.fromkeys(names))}")
    return lines


def _operator_caches(plan: Plan) -> list[str]:
    additive = plan.way("additive")
    if isinstance(additive, Additive):
        return [f"{call}, maintained by {rule.name}: {rule.emits}" for rule, call in additive.state.calls]
    refused = [call for node in operators_of(plan.root, Aggregate) for call in node.calls if additive_rule(node, call) is None]
    return [f"none: no additive rule for {call}" for call in refused] or ["none"]


def _guard(diff: IDiff) -> str:
    return " or ".join(f"{origin} has rows" for origin in sorted(diff.origins))
