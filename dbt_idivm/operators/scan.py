"""SCAN(R): one occurrence of a base table in a view, the leaf of every plan.

ID(SCAN R) = key(R). Without a key the ID is all columns that the view uses, and IDs are not unique (Table 1).

Base i-diffs (idIVM §4, pass 2 "base table i-diff schemas"), per occurrence, from the net diff N⁺, N⁻ of the table:

| row of the net diff                           | base i-diff
|-----------------------------------------------|---------------------------------------------------
| key only in N⁺                                | INS(key; all attributes)
| key only in N⁻                                | DEL(key; knows the pre-state values)
| key in both, a conditional attribute differs  | REC(key; knows both images)
| key in both, no conditional attribute differs | UPD(key; assigns non-conditional, knows conditional ones)
| no key                                        | REC(all columns) of N⁺ ∪ N⁻
| the clock                                     | UPD((); all attributes)

Example, orders(id, status, price), σ status = 'open': (1, open, 5) → (1, open, 6) is UPD(1; price 6), for which no other table is
read. (1, open, 5) → (1, shut, 5) is REC(1), because the row leaves the view.

The clock (`operators/clock.py`) is never split: the operator that reads it finds the rows that another time changes.

Without the split an update of `status` would be a UPD: rows that should enter the view would be missing, and rows that should
leave it would stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from dbt_idivm.algebra.answers import itself, of_no_input, over_inputs
from dbt_idivm.algebra.block import Binder, Block
from dbt_idivm.algebra.cardinality import Cardinality, Domain, Sizes
from dbt_idivm.algebra.core import Leaf
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.inference import stored_type
from dbt_idivm.algebra.operator import SIGN, Operator, State, operators_of, values_of_signed
from dbt_idivm.algebra.relation import Relation, folded
from dbt_idivm.algebra.types import is_incomparable, type_of
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff, Origin
from dbt_idivm.relation_name import name_parts

# The relation of one row that has the values of the clock. No table has this name: the name of a table has a schema.
CLOCK = "the_clock"


@dataclass(frozen=True)
class Attribute:
    """A column of a base table: its name there and its Spark SQL type.

    A column with a `definition`, over other columns of the table, is computed wherever the table or its change feed is read.
    """

    name: str
    type: str
    definition: exp.Expr | None = None

    def value(self, table: str | None = None) -> exp.Expr:
        """The value of the column in rows of the table, which has the alias `table`."""
        if self.definition is None:
            return column(self.name, table)
        return self.definition.transform(lambda node: column(node.name, table) if isinstance(node, exp.Column) else node)


def _columns_in(computed: Attribute) -> Iterator[str]:
    assert computed.definition is not None
    return (each.name for each in computed.definition.find_all(exp.Column))


@dataclass(frozen=True)
class Scan(Leaf, Operator):
    """One occurrence of `table`. Its attributes are called `<occurrence>__<column>`, unique in the whole plan.

    `names` are pairs (column, attribute) that override this: a cache is read under the
    attribute names of the subview that it stores.
    """

    table: str
    occurrence: str
    attributes: tuple[Attribute, ...]
    key: tuple[str, ...] | None = None  # column names of the table
    used: tuple[str, ...] | None = None  # column names; None: all
    state: State = "post"
    names: tuple[tuple[str, str], ...] = ()

    inputs = ()
    with_inputs = itself
    conditions = ()
    rewritten = over_inputs
    named_by = ()
    needed = of_no_input
    conditional = of_no_input
    combined = ()
    dependencies = of_no_input
    equal = ()
    defined = ()
    united = ()
    is_select_project_join = False
    padded = ()
    monotone = True
    has_row = False
    by_key = False
    screened = of_no_input
    changed_values = values_of_signed

    def __post_init__(self) -> None:
        known = {attribute.name for attribute in self.attributes}
        missing = [name for name in (*(self.key or ()), *(self.used or ())) if name not in known]
        if missing:
            raise ValueError(f"{self.table} has no column {missing}")

    def attribute(self, name: str) -> str:
        """The plan's name for the table's column `name`."""
        return dict(self.names).get(name, f"{self.occurrence}__{name}")

    @property
    def is_clock(self) -> bool:
        """Whether this is the row of the clock, whose values are known before a statement runs."""
        return self.table == CLOCK

    @property
    def base_columns(self) -> tuple[Attribute, ...]:
        """The columns of the table that the plan uses, in the table's order."""
        return tuple(a for a in self.attributes if self.used is None or a.name in self.used)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.attribute(a.name) for a in self.base_columns)

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return {self.attribute(a.name): type_of(a.type) for a in self.base_columns}

    @property
    def scope(self) -> str | None:
        return self.occurrence

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return self.columns if self.key is None else tuple(self.attribute(name) for name in self.key)

    @cached_property
    def unique(self) -> bool:
        return self.key is not None

    def with_ids(self) -> Operator:
        if self.key is None or self.used is None:
            return self
        return replace(self, used=tuple(dict.fromkeys((*self.key, *self.used))))

    def pruned(self, above: frozenset[str]) -> Operator:
        used = tuple(a.name for a in self.base_columns if self.attribute(a.name) in above)
        return replace(self, used=used or self._least())

    # Wrong with just any first column: a VARIANT has no net diff.
    def _least(self) -> tuple[str, ...]:
        """The column to read if none is used, because a bag without columns has no net diff. A comparable one is preferred."""
        names = tuple(each.name for each in self.attributes if not is_incomparable(type_of(each.type)))
        return (*names, self.attributes[0].name)[:1]

    @property
    def read_columns(self) -> tuple[Attribute, ...]:
        """The stored columns that are read, including those from which other columns are computed."""
        read = {a.name for a in self.base_columns}.union(*(_columns_in(a) for a in self.computed))
        return tuple(a for a in self.attributes if a.definition is None and a.name in read)

    @property
    def computed(self) -> tuple[Attribute, ...]:
        """The columns in use that are computed, not stored."""
        return tuple(a for a in self.base_columns if a.definition is not None)

    @cached_property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        return {name: stored_type(kind) for name, kind in self.types.items()}

    @cached_property
    def nullable(self) -> frozenset[str]:
        """All columns. IDs are compared NULL-safely, so it need not be known whether a key has NULLs."""
        return frozenset(self.columns)

    def carried(self, occurrence: str) -> frozenset[str] | None:
        return frozenset(self.columns) if occurrence == self.occurrence else None

    def in_state(self, state: State) -> Relation:
        return replace(self, state=state)

    def in_any_state(self, names: frozenset[str]) -> Relation:
        return replace(self, state="any")

    def signed(self) -> Relation:
        return DiffRows(self, "signed", (*self.columns, SIGN))

    def block(self, binder: Binder) -> Block:
        return binder.table(self)

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return self.drawn_from(sizes.table(self.table), sizes)

    def drawn_from(self, rows: float, sizes: Sizes) -> Cardinality:
        """The estimate for `rows` rows whose values come from this table."""
        whole = sizes.table(self.table)
        key = {frozenset(self.ids): Domain(whole, frozenset(self.columns))} if self.unique else {}
        return Cardinality(rows, key, dict.fromkeys(self.columns, whole))

    def label(self) -> str:
        state = "" if self.state == "post" else f" ({self.state}-state)"
        name = self.table if name_parts(self.table)[-1] == self.occurrence else f"{self.table} as {self.occurrence}"
        return f"scan {name}{state}"


DiffClass = Literal["ins", "del", "upd", "rec", "plus", "minus", "signed"]


@dataclass(frozen=True)
class DiffRows(Leaf):
    """The rows of one class of a table's net diff, for one occurrence: the origin of every i-diff.

    `split`: the attributes whose change makes an updated row a REC instead of a UPD. `plus` and `minus` are all of N⁺ and N⁻;
    `signed` is both, with SIGN.
    """

    scan: Scan
    diff_class: DiffClass
    names: tuple[str, ...]
    split: frozenset[str] = frozenset()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return {**self.scan.types, SIGN: exp.DataType.build("int")}

    def block(self, binder: Binder) -> Block:
        return binder.diff(self)

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return self.scan.drawn_from(sizes.changes(self.scan.occurrence, self.diff_class, self.split), sizes)

    @property
    def name(self) -> str:
        """The deterministic, readable name under which it appears in Δ-scripts."""
        return f"d_{self.diff_class}__{self.scan.occurrence}"

    def label(self) -> str:
        return self.name


def scans(root: Operator) -> tuple[Scan, ...]:
    """The table occurrences of a plan, from left to right."""
    return tuple(operators_of(root, Scan))


def reads_tables(relation: Relation) -> bool:
    """Whether a relation of a Δ-script reads any table, not only base i-diffs."""
    return folded(relation, lambda node, below: isinstance(node, Scan) or any(below))


def base_idiffs(scan: Scan, conditional: frozenset[str], recompute_only: bool = False) -> tuple[IDiff, ...]:
    """The base i-diff schemas of one occurrence, as in the table above.

    `conditional`: the attributes whose change makes an update a REC. With `recompute_only`
    (`strategy: recompute`) every update is a REC, except that of the clock, which would recompute the whole view.
    """
    rest = tuple(name for name in scan.columns if name not in scan.ids)
    split = frozenset(() if scan.is_clock else scan.columns if recompute_only else conditional)

    def base(kind: DiffClass, assigned: tuple[str, ...], known: tuple[str, ...]) -> IDiff:
        rows = DiffRows(scan, kind, scan.ids + assigned + known, split)
        origin = Origin(scan.occurrence, _KIND[kind])
        return IDiff(_KIND[kind], scan.ids, assigned, known, rows, frozenset({origin}), fresh=kind == "ins")

    if not scan.unique:
        return (base("rec", (), ()),)
    assigned = tuple(name for name in rest if name not in split)
    if scan.is_clock and assigned:
        return (base("upd", assigned, ()),)
    diffs = [base("ins", rest, ()), base("del", (), rest)]
    if assigned:
        diffs.append(base("upd", assigned, tuple(name for name in rest if name in split)))
    if any(name in split for name in rest):
        diffs.append(base("rec", (), rest))
    return tuple(diffs)


_KIND = {"ins": INS, "del": DEL, "upd": UPD, "rec": REC}
