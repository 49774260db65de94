"""The operator of a view: a relation with IDs (idIVM, Table 1) and rules (Tables 4-13).

Only RULES has a default: empty, for leaves (`tests/unit/test_rules_tables.py`). An operator class that does not implement every
other member cannot be instantiated. A constant answer is one line of the class: `united = ()`, `with_ids = itself`. The inputs of
an operator are operators; `restrict`, `in_state`, `with_children` and `signed` return plain relations.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from sqlglot import exp

from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import Compute, project
from dbt_idivm.algebra.expressions import passing
from dbt_idivm.algebra.inference import Dependency
from dbt_idivm.algebra.relation import Relation

if TYPE_CHECKING:
    from dbt_idivm.idiff.rule import IDiffRule

# pre: before the changes of the refresh; post: after them; any: a superset of both, in which touched rows are looked up
State = Literal["pre", "post", "any"]
SIGN = "idivm_sign"  # column of signed relations: +1 for an inserted row, -1 for a deleted one
Conditions = tuple[exp.Expr, ...]  # AND-ed, over attribute names
Kind = TypeVar("Kind", bound="Operator")
Handed = TypeVar("Handed")


class Operator(Relation):
    """A node of a view's plan. Each operator module defines one, with everything that maintenance needs to know about it."""

    RULES: ClassVar[Sequence[IDiffRule]] = ()

    @property
    @abstractmethod
    def inputs(self) -> tuple[Operator, ...]:
        """The children, all of them operators."""

    @abstractmethod
    def with_inputs(self, *inputs: Operator) -> Operator:
        """The same operator over other inputs."""

    @property
    @abstractmethod
    def scope(self) -> str | None:
        """The prefix, unique in the plan, of the attributes that this operator introduces;
        None if it introduces none under a prefix.
        """

    @property
    @abstractmethod
    def conditions(self) -> Conditions:
        """The conditions with which rows of the input, or pairs of rows of the inputs, are tested: φ of σ, ⋈, ⟕ and ⋉."""

    @abstractmethod
    def rewritten(self, change: Callable[[exp.Expr], exp.Expr], *inputs: Operator) -> Operator:
        """The same operator over other inputs, with `change` applied to each expression of `conditions` and `defined`."""

    # --- pass 1: IDs and attributes ---

    @property
    @abstractmethod
    def ids(self) -> tuple[str, ...]:
        """ID(R): the attributes that identify a row, if `unique` (Table 1)."""

    @property
    @abstractmethod
    def unique(self) -> bool:
        """Whether no two rows share an ID. False above an input without a key."""

    @property
    @abstractmethod
    def named_by(self) -> tuple[str, ...]:
        """Attributes other than IDs by which i-diffs of this operator, except INS, may identify rows.

        For example, i-diffs of a window function identify rows by the PARTITION BY attributes. The operators above pass them
        on, if necessary as hidden columns.
        """

    @abstractmethod
    def with_ids(self) -> Operator:
        """The operator with the IDs and `named_by` attributes of its inputs in its output."""

    @abstractmethod
    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        """For each input, the attributes that it must provide if the attributes `above` of the output are needed."""

    @abstractmethod
    def pruned(self, above: frozenset[str]) -> Operator:
        """The operator without output attributes that are not in `above`, as far as it can drop them."""

    @abstractmethod
    def conditional(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        """For each input, the attributes whose change may make rows enter or leave a result:
        conditions here or above depend on them.

        `above`: the output attributes for which this is known from the operators above.
        """

    # --- facts about its rows ---

    @property
    @abstractmethod
    def certain_types(self) -> Mapping[str, exp.DataType]:
        """Attribute → type, where the type is certain: of stored columns, casts,
        constants and counts, but not of other functions.
        """

    @property
    @abstractmethod
    def nullable(self) -> frozenset[str]:
        """A superset of the attributes that may be NULL."""

    @property
    @abstractmethod
    def combined(self) -> tuple[Operator, ...]:
        """The inputs that contribute exactly one row to each output row; () if output rows are formed in another way.

        (left, right) for a join, (child,) for σ, π and ω, () for γ: a group is formed from any number of rows. So a fact about
        each row of these inputs holds for each row of the output.
        """

    @abstractmethod
    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        """The functional dependencies of the rows, given those of each input (`below`), but without ID → all attributes.

        They may mention attributes that only the input rows have, not the output.
        """

    @property
    @abstractmethod
    def equal(self) -> tuple[tuple[str, str], ...]:
        """Pairs of attributes that are equal in each row of the output, in addition to the
        pairs that hold in the `combined` inputs.

        For o ⋈ c on o.cid = c.id: (("o__cid", "c__id"),).
        """

    @property
    @abstractmethod
    def defined(self) -> tuple[tuple[str, exp.Expr], ...]:
        """(output attribute, its defining expression over the inputs' attributes), for attributes that are defined so.

        For π price * qty → total: (("total", price * qty),). Empty for all operators except π.
        """

    @property
    @abstractmethod
    def united(self) -> tuple[tuple[str, tuple[str | None, ...]], ...]:
        """(output attribute, the attribute of each input that it comes from), for
        attributes whose values come from several inputs.

        None stands for an input in which it is NULL. For a ∪ b, where b has no discount:
        (("u__discount", ("a__discount", None)),).
        """

    @property
    @abstractmethod
    def is_select_project_join(self) -> bool:
        """Whether the rows are the combinations of rows of the inputs that satisfy `conditions`: σ, π, ⋈ and 1, the unit of ×.

        The attributes are those of the inputs, or `defined`.
        """

    @property
    @abstractmethod
    def padded(self) -> tuple[int, ...]:
        """The indexes of the inputs that may be absent from a row.

        A row of the other input without a partner is in the output, with NULLs for the attributes of this one.
        """

    @property
    @abstractmethod
    def monotone(self) -> bool:
        """Whether rows that are inserted into the inputs never remove a row from the output."""

    @property
    @abstractmethod
    def has_row(self) -> bool:
        """Whether there certainly is a row, in every state: True for a γ without groups. False is always sound."""

    @property
    @abstractmethod
    def by_key(self) -> bool:
        """Whether the query may give other rows than the user's if a declared key is violated (ADR 0025)."""

    # --- changes ---

    @abstractmethod
    def carried(self, occurrence: str) -> frozenset[str] | None:
        """The attributes that an i-diff of this table occurrence still carries here; None if
        it may name rows that do not exist here.

        A join, for instance, may find no partner for a row that the i-diff names.
        """

    @abstractmethod
    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        """For each input, the conditions that its rows must satisfy to be relevant, if rows of the output must satisfy `above`.

        A condition that removes rows of one input only, such as the ON of an outer join, is not passed to the other input.
        """

    @abstractmethod
    def in_state(self, state: State) -> Relation:
        """The same query over the tables in their pre-state or post-state."""

    @abstractmethod
    def in_any_state(self, names: frozenset[str]) -> Relation:
        """A relation with the attributes `names` that contains their values for all rows of R⁻ and R⁺, and perhaps others.

        Touched rows are looked up in it. It avoids reading an old version where that is possible.
        """

    @abstractmethod
    def changed_values(self, names: frozenset[str]) -> Relation:
        """Like `in_any_state`, but only for rows that changed, and perhaps others."""

    @abstractmethod
    def signed(self) -> Relation:
        """R⁺ − R⁻ as signed rows (`columns` and SIGN): the diffs of tuple-based
        maintenance. Rows of opposite signs may cancel out.
        """


def with_sign(rows: Relation, sign: int) -> Relation:
    """`rows` as signed rows that were all inserted (`sign` = 1) or all deleted (-1)."""
    return Compute(rows, (*passing(rows.columns), (SIGN, exp.Literal.number(sign))))


def both_states(node: Operator, names: frozenset[str]) -> Relation:
    """The any-state of an operator that is not monotone: R⁻ ⊎ R⁺. Over a superset of its
    rows it could give values of neither state.
    """
    return Concat((node.in_state("pre"), node.in_state("post"))).narrowed(names)


def signed_by(node: Operator, child: Operator, by: tuple[str, ...]) -> Relation:
    """The groups or partitions that changes of `child` touch: their rows in R⁺ with sign +1, and in R⁻ with sign -1."""
    keys = project(child.changed_values(frozenset(by)), by)
    states = ((node, 1), (node.in_state("pre"), -1))
    return Concat(tuple(with_sign(state.restrict(by, keys), sign) for state, sign in states))


def values_of_signed(node: Operator, names: frozenset[str]) -> Relation:
    """The changed values of an operator that can derive them only from its signed rows."""
    return node.signed().narrowed(names)


def operators(root: Operator) -> Iterator[Operator]:
    """The operators of a tree, inputs before the operators that read them."""
    for child in root.inputs:
        yield from operators(child)
    yield root


def operators_of(root: Operator, kind: type[Kind]) -> Iterator[Kind]:
    """The operators of one class, inputs before the operators that read them."""
    return (node for node in operators(root) if isinstance(node, kind))


def handed_down(
    root: Operator, first: Handed, step: Callable[[Operator, Handed], Sequence[Handed]], kind: type[Kind]
) -> Iterator[tuple[Kind, Handed]]:
    """Pass a value down the tree: `first` to the root, and `step(node, value)`, one per input, below it.

    Yields (operator, value) for the operators of class `kind`, each before those below it, from left to right.
    """
    if isinstance(root, kind):
        yield root, first
    for child, below in zip(root.inputs, step(root, first), strict=True):
        yield from handed_down(child, below, step, kind)
