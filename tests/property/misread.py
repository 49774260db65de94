"""Former errors of the planner: its own code as it was then, and the cases of `misreadings.py` that show the error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module

import pytest
from sqlglot import exp

from dbt_idivm.algebra import decimals, expressions
from dbt_idivm.algebra.expressions import DIALECT, attributes, conjuncts
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.outer import OuterPair
from dbt_idivm.frontend import aggregate, dialect, grouped_by_sets, grouping_sets, resolve, set_operations
from dbt_idivm.frontend.aggregate import Grouping
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.group_by import GroupBy
from dbt_idivm.frontend.grouped_by_sets import GroupedBySets
from dbt_idivm.frontend.query import Lowering
from dbt_idivm.frontend.resolve import bare, rebuilt
from dbt_idivm.frontend.scope import Scope
from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.operators import Aggregate, Join, Select, UnionAll, additive
from dbt_idivm.passes import window_root
from dbt_idivm.script.plan import Plan
from tests.property.misreadings import MISREADINGS
from tests.property.mutations import with_additive_rule

Patch = pytest.MonkeyPatch
# the package holds functions of the same names
project, select = (import_module(f"dbt_idivm.operators.{name}") for name in ("project", "select"))


@dataclass(frozen=True)
class Misread:
    """`bring_back` patches the planner as it once was; the views of `cases` are then wrong, and `refused` are no views any more.

    `later`: only refreshes are wrong, by this way to maintain; a plan is judged by what it builds, which is right.
    """

    what: str
    bring_back: Callable[[Patch], None]
    cases: tuple[str, ...]
    refused: tuple[str, ...] = ()
    later: bool = False
    way: str = "optimised"


def about(topic: str, *but: str) -> tuple[str, ...]:
    """The cases about a topic, without those that this misreading leaves right."""
    left_out = {f"{topic}: {name}" for name in but}
    return tuple(name for name in MISREADINGS if name.startswith(f"{topic}: ") and name not in left_out)


def brackets_are_lost(patch: Patch) -> None:
    """Expressions are known again by their texts, which are printed without brackets."""

    def printed(expression: exp.Expr, types: object) -> tuple[object, ...]:
        return (without_brackets(expression).sql(DIALECT),)

    patch.setattr(aggregate, "canonical", printed)


def without_brackets(node: exp.Expr) -> exp.Expr:
    return rebuilt(bare(node), without_brackets)


def operators_have_the_levels_of_sqlglot(patch: Patch) -> None:
    patch.setattr(dialect, "bind_as_spark", lambda tree: tree)


def constants_are_literals(patch: Patch) -> None:
    """A column of a query is what defines it, as it is written."""
    for module in (expressions, resolve):
        patch.setattr(module, "as_attribute", lambda definition: definition)


def padded_without_types(patch: Patch) -> None:
    """NULL in the place of what is computed has no type."""
    patch.setattr(OuterPair, "null", lambda self, name: exp.null())


def branches_keep_their_types(patch: Patch) -> None:
    """Nothing is cast below ∪, and nobody looks."""
    patch.setattr(set_operations, "coerced", lambda part, sources, *rest: (part, sources))
    patch.setattr(set_operations, "check", lambda union, types: None)


def aliases_before_groups(patch: Patch) -> None:
    """In HAVING a name is an alias first; the expression around it is not looked at."""
    group = Grouping._group
    patch.setattr(Grouping, "_group", lambda self, node: group(self, node) if isinstance(node, exp.Column) else None)


def a_comma_binds_weaker(patch: Patch) -> None:
    """`a, b JOIN c` is `a CROSS JOIN (b JOIN c)`."""

    def source(lowering: Lowering, node: exp.Expr, env: Env) -> tuple[Operator, Scope]:
        parts = [lowering.relation(node.args["from_"].this, env)]
        for join in node.args.get("joins") or ():
            if join.kind == "CROSS":
                parts.append(lowering.relation(join.this, env))
            else:
                parts[-1] = lowering.join(*parts[-1], join, env)
        root, scope = parts[0]
        for other, names in parts[1:]:
            root, scope = Join(root, other, exp.true()), scope.plus(names)
        return root, scope

    patch.setattr(Lowering, "source", source)


def names_are_shared_in_any_case(patch: Patch) -> None:
    def shared_with(scope: Scope, other: Scope) -> tuple[str, ...]:
        known = {entry.name.lower() for entry in other.visible}
        return tuple(entry.name for entry in scope.visible if entry.name.lower() in known)

    patch.setattr(Scope, "shared_with", shared_with)


def sources_are_called_as_columns(patch: Patch) -> None:
    patch.setattr(Plan, "column_names", frozenset())


def all_is_a_word(patch: Patch) -> None:
    patch.setattr(GroupBy, "_names_a_column", lambda reader, name: False)


def constants_are_groups(patch: Patch) -> None:
    patch.setattr(aggregate, "without_constants", lambda groups: groups)


def sets_have_no_number(patch: Patch) -> None:
    """Groups of two sets with the same values are one."""
    original = Grouping.apply

    def apply(self: Grouping, items: Sequence[aggregate.SelectItem]) -> tuple[Operator, tuple[exp.Expr, ...]]:
        patch.setattr(
            aggregate,
            "Aggregate",
            lambda below, groups, *others: Aggregate(
                below, tuple(each for each in groups if self.sets is None or each != self.sets.branch), *others
            ),
        )
        return original(self, items)

    patch.setattr(Grouping, "apply", apply)


def aggregates_read_the_keys_of_a_set(patch: Patch) -> None:
    """sum(a) in ROLLUP (a) over NULL where the set lacks a."""
    united = GroupedBySets.united

    def of_keys(self: GroupedBySets, outputs: Sequence[str], computed: Mapping[str, exp.Expr]) -> UnionAll:
        result = united(self, outputs, computed)
        key_of = {expression.name: place for place, expression in enumerate(self.keys) if isinstance(expression, exp.Column)}
        places = [*range(len(outputs)), *(key_of.get(name, len(outputs) + at) for at, name in enumerate(self.passed))]
        return replace(result, sources=tuple(tuple(row[place] for place in places) for row in result.sources))

    patch.setattr(GroupedBySets, "united", of_keys)


def the_first_key_is_the_lowest_bit(patch: Patch) -> None:
    patch.setattr(
        GroupedBySets,
        "grouping_id",
        lambda self: self._by_branch(
            [sum((place not in each) << place for place in range(len(self.keys))) for each in self.sets], "bigint"
        ),
    )


def marks_of_sets_are_integers(patch: Patch) -> None:
    by_branch = GroupedBySets._by_branch
    patch.setattr(GroupedBySets, "_by_branch", lambda self, values, kind: by_branch(self, values, "int"))


def sets_before_keys(patch: Patch) -> None:
    """In GROUP BY a GROUPING SETS ((b), (a)) the first key is b."""
    patch.setattr(
        aggregate,
        "grouped_by",
        lambda clause: iter(
            [
                *(each for whole in grouping_sets._after(clause) for each in grouping_sets._members(whole)),
                *(each for whole in grouping_sets._written(clause) for each in grouping_sets._members(whole)),
            ]
        ),
    )


def one_of_equal_sets(patch: Patch) -> None:
    patch.setattr(
        aggregate,
        "sets_of",
        lambda clause: tuple({tuple(each.sql() for each in found): found for found in grouping_sets.sets_of(clause)}.values()),
    )


def keys_without_a_type(patch: Patch) -> None:
    """A missing key is NULL without a type."""
    patch.setattr(grouped_by_sets, "_null", lambda value, rows: exp.null())


def a_row_for_no_rows(patch: Patch) -> None:
    """GROUPING SETS (()) is an aggregate without GROUP BY."""
    patch.setattr(aggregate, "Aggregate", lambda below, groups, *others: Aggregate(below, groups[:-1], *others))


def computed_before_ranking(patch: Patch) -> None:
    patch.setattr(window_root, "may_raise", lambda expression, types: False)


def nothing_is_unguarded(patch: Patch) -> None:
    """What may fail is evaluated for each row that an i-diff names."""
    patch.setattr(project, "unguarded", lambda node, diff: frozenset())


def conditions_are_known_whole(patch: Patch) -> None:
    """The same, and a condition of which a part is not known keeps nothing away."""

    def known_part(node: Select, diff: IDiff) -> tuple[exp.Expr, ...]:
        return tuple(conjuncts(node.condition)) if set(attributes(node.condition)) <= diff.attributes else ()

    nothing_is_unguarded(patch)
    patch.setattr(select, "known_part", known_part)


_FIRST_TABLE = tuple(f"comma: {join} after it joins the first table that has the name" for join in ("USING", "NATURAL JOIN"))
_PARTNERS = ("a cast that only the join guards", "a cast of rows that have a partner")


def narrow_averages_are_exact(patch: Patch) -> None:
    patch.setattr(decimals, "_LEAST_DIVIDED", 1)


def averages_are_divided_once(patch: Patch) -> None:
    """By the count times 10^s, which may be another DOUBLE."""

    def once(old: exp.Expr | None, delta: exp.Expr, caches: additive.Caches, kind: exp.DataType | None) -> exp.Expr:
        assert kind is not None
        total = exp.cast(exp.paren(caches["sum"].copy()), "double", dialect="spark")
        return exp.cast(
            exp.Div(this=total, expression=exp.paren(caches["count"].copy())), decimals.average_type(kind), dialect="spark"
        )

    with_additive_rule("additive_avg_narrow", value=once)(patch)


def sums_are_divided_as_they_are(patch: Patch) -> None:
    """By the quotient that SQL gives for their own types."""
    patch.setattr(additive, "dividend_type", lambda kind: (decimals.sum_type(kind), 1))


MISREAD = (
    Misread("brackets are lost", brackets_are_lost, about("brackets")),
    Misread("operators have other levels", operators_have_the_levels_of_sqlglot, ("brackets: bits",)),
    Misread(
        "branches of UNION keep their types",
        branches_keep_their_types,
        about("union", "three types, of which the first two meet before the third"),
    ),
    Misread(
        "HAVING knows aliases before groups",
        aliases_before_groups,
        ("having: the alias is a column of the group", "having: a negated column under its own name"),
    ),
    Misread(
        "a comma binds weaker than JOIN",
        a_comma_binds_weaker,
        _FIRST_TABLE,
        tuple(name for name in about("comma") if name not in _FIRST_TABLE),
    ),
    Misread("NATURAL JOIN shares names in any case", names_are_shared_in_any_case, about("natural")),
    Misread(
        "sources are called as columns are",
        sources_are_called_as_columns,
        about("inner", "a struct that is called like the outer table", "a join of tables that are called like columns"),
    ),
    Misread("GROUP BY ALL is a word", all_is_a_word, ("group by all: another column under an aggregate's name",)),
    Misread("constants are groups", constants_are_groups, ("constant: NULL in GROUP BY",), later=True),
    Misread(
        "groups of two sets are one", sets_have_no_number, ("sets: NULL in the data", "sets: one set twice", "sets: sets in sets")
    ),
    Misread("aggregates read the keys of a set", aggregates_read_the_keys_of_a_set, ("sets: an aggregate of a key",)),
    Misread("the first key is the lowest bit", the_first_key_is_the_lowest_bit, ("sets: the first key is the highest bit",)),
    Misread("marks of sets are integers", marks_of_sets_are_integers, ("sets: types of grouping",)),
    Misread("keys of sets are before those of GROUP BY", sets_before_keys, ("sets: the keys are before those of the sets",)),
    Misread("equal sets are one", one_of_equal_sets, ("sets: one set twice",)),
    Misread("a missing key has no type", keys_without_a_type, (), ("sets: a key that no set has",)),
    Misread("a set of no keys has a row without rows", a_row_for_no_rows, ("sets: the empty set alone",)),
    Misread(
        "values are negated in their own type",
        with_additive_rule("additive_sum", delta=additive.sum_delta),
        about("extreme"),
        later=True,
        way="additive",
    ),
    Misread(
        "sums of all digits are added as they are",
        with_additive_rule("additive_sum_wide", value=additive.summed_decimals),
        ("sum: ten digits behind the point", "sum: eighteen digits behind the point", "sum: of all rows"),
        later=True,
        way="additive",
    ),
    Misread(
        "decimals are negated exactly",
        with_additive_rule("additive_sum_wide", delta=additive.sum_delta),
        ("sum: values of all digits are deleted",),
        later=True,
        way="additive",
    ),
    Misread(
        "averages of narrow decimals are quotients of decimals",
        narrow_averages_are_exact,
        ("average: a quotient of DOUBLEs",),
        later=True,
        way="additive",
    ),
    Misread(
        "averages of narrow decimals are divided once",
        averages_are_divided_once,
        ("average: DOUBLEs that are rounded down", "average: DOUBLEs that are rounded up"),
        later=True,
        way="additive",
    ),
    Misread(
        "a sum is divided as it is",
        sums_are_divided_as_they_are,
        tuple(
            f"average: {name}"
            for name in (
                "less than half a unit, of which `/` makes a half",
                "less than half a negative unit without a fraction",
                "less than half a unit of one digit",
            )
        ),
        later=True,
        way="additive",
    ),
    Misread(
        "what may fail is evaluated for any row", nothing_is_unguarded, tuple(f"raise: {name}" for name in _PARTNERS), later=True
    ),
    Misread(
        "what may fail is computed before rows are ranked",
        computed_before_ranking,
        about("first rows"),
        later=True,
        way="additive",
    ),
    Misread(
        "a constant is a literal wherever it is read",
        constants_are_literals,
        about("constants") + about("constants with long fractions"),
    ),
    Misread(
        "a constant is a literal wherever it is read",
        constants_are_literals,
        ("constants of branches",),
        later=True,
        way="additive",
    ),
    Misread("padded columns have the type of NULL", padded_without_types, about("padded"), later=True, way="additive"),
    Misread("conditions are known as a whole", conditions_are_known_whole, about("raise", "decimals", *_PARTNERS), later=True),
)
