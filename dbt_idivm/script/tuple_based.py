"""The tuple-based application: the view's signed rows, netted, in one MERGE. It is the baseline of the idIVM paper.

Classic tuple-based maintenance (idIVM §1 and §7, the counting algorithm for bags): a change is a set of whole view tuples,
inserted or deleted. Each operator computes its tuples from those of its inputs (`Operator.signed`), and an update is a deleted
and an inserted tuple. While an i-diff identifies rows by a part of their ID, a tuple has to be joined with all other tables of
the view.

Over the rows that changes reach, another form is cheaper: the signed rows are the view's post-state and, with the other sign, its
pre-state, and no rule is evaluated (`states`). Let f be the net change that a way gives, R the inputs and R' ⊆ R the reached
rows, with the same changes in both. f(R') = f(R), because f depends on no other rows. And f(R') is how the view differs between
the states of R', because the way is right for any inputs. So the view differs over R' as it does over R, even though its rows
over R' may be wrong: a group that no change touches may lack rows, in both states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.core import SemiJoin, exists
from dbt_idivm.algebra.expressions import alias, column
from dbt_idivm.algebra.lookups import named_block
from dbt_idivm.algebra.operator import SIGN, Operator, with_sign
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import is_comparable, is_float
from dbt_idivm.cached import cached_property
from dbt_idivm.operators.scan import DiffRows, scans
from dbt_idivm.passes.reproducible import unreproducible
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.dialect import WEIGHT, net_rows
from dbt_idivm.script.diff import NetDiff
from dbt_idivm.script.leaves import diff_leaves
from dbt_idivm.script.merge import OP, Merge
from dbt_idivm.script.prune_empty import prune_empty
from dbt_idivm.script.replace import COPIES, STORED, counted, exploded, replace_by_id, replace_copies, stored_rows
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.ways import Application, Change, IsEmpty, Shape, Way

NET = "net_rows"
_LAST = "idivm_last"


@dataclass(frozen=True)
class TupleBased(Way):
    """Applies the signed rows of the view `root`."""

    root: Operator

    @cached_property
    def signed(self) -> Relation:
        return self.root.signed()

    @property
    def base_idiffs(self) -> tuple[DiffRows, ...]:
        return diff_leaves(self.signed)

    def holds(self, diffs: Mapping[str, NetDiff]) -> bool:
        """Always: every operator has signed rows."""
        return True

    def application(self, is_empty: IsEmpty, *, optimised: bool = True) -> Tuples | None:
        rows = prune_empty(self.signed, is_empty)
        return None if rows is None else Tuples(self.name, root=self.root, rows=rows)


@dataclass(frozen=True, kw_only=True)
class Tuples(Application):
    """`rows`: the signed rows of the view `root`, without empty branches; of the form for reached rows, the view's states."""

    root: Operator
    rows: Relation

    @property
    def shape(self) -> Shape:
        return "tuple"

    @property
    def relations(self) -> tuple[Relation, ...]:
        return (self.rows,)

    @property
    def over_reached(self) -> Application:
        return compared(self, self.root, self.relations) if are_comparable(self.root) else self

    @property
    def reads_view(self) -> bool:
        """Rows without unique IDs are counted, so the view is read. Rows with an ID are matched by MERGE."""
        return not self.root.unique

    @property
    def has_whole_rows(self) -> bool:
        return True

    @property
    def assigned(self) -> frozenset[str]:
        return frozenset(self.root.columns) - set(self.root.ids if self.root.unique else self.root.columns)

    def statement(self, view: Stored, binder: StatementBinder, target: str) -> Change:
        return tuple_merge(view, self.rows, binder, target)


def are_comparable(root: Operator) -> bool:
    """Whether the states of a view can be compared over reached rows. A value that depends on the order of rows may differ for a
    group that no change touches, and whose rows are not all reached."""
    return unreproducible(root) is None


def compared(done: Application, root: Operator, needed: tuple[Relation, ...]) -> Tuples:
    """The application that compares the states of `root`, which are comparable, over the rows that are `needed` by `done`. It is
    as exact."""
    return Tuples(done.way, root=root, rows=states(root), instead_of=done, reached=reaching(root, needed))


def states(root: Operator) -> Relation:
    """The rows of `root` in the post-state, and with the other sign those in the pre-state."""
    return Concat((with_sign(root, 1), with_sign(root.in_state("pre"), -1)))


def reaching(root: Operator, needed: tuple[Relation, ...]) -> tuple[Relation, ...]:
    """The relations that say which rows of tables are reached: those that an exact net change of `root` needs (`needed`), and the
    new rows themselves."""
    # Wrong without them: a new row that nothing looks up would be in neither state.
    return *needed, *(SemiJoin(scan, scan.ids, DiffRows(scan, "plus", scan.columns)) for scan in scans(root) if not scan.is_clock)


def tuple_merge(view: Stored, rows: Relation, binder: StatementBinder, target: str) -> Merge:
    """The MERGE of the view's net tuples. `rows`: its signed rows."""
    signed = subquery(rows.block(binder).select(), "signed_rows")
    binder.definitions[NET] = net_rows(signed, [(name, name, type_in(view, name)) for name in view.root.columns], column(SIGN))
    query, matching = (
        (_by_id(view), replace_by_id(view, update="I"))
        if view.root.unique
        else (_by_copies(view, binder, target), replace_copies(view))
    )
    table, broadcast = binder.binding.dialect.table(target, None), binder.is_source_broadcast(rows)
    return Merge(table, binder.attach(query), matching, broadcast=broadcast)


def type_in(view: Stored, name: str) -> exp.DataType:
    """The type of an attribute, for netting. Floating-point values are cast back to their type,
    so it must be certain; otherwise UNKNOWN.
    """
    kind = view.root.types[name]
    return view.root.certain_types.get(name, exp.DataType.build("unknown")) if is_float(kind) else kind


def _by_id(view: Stored) -> exp.Select:
    """A D row for each deleted ID and an I row for each inserted one. An update gives only an I row with the new tuple."""
    ids, names = view.root.ids, view.root.columns
    last = exp.Window(this=exp.Max(this=column(WEIGHT)), partition_by=[column(name) for name in ids])
    ranked = exp.Select(expressions=[*(column(name) for name in (*names, WEIGHT)), alias(last, _LAST)]).from_(NET)
    inserted = exp.GT(this=column(WEIGHT), expression=exp.Literal.number(0))
    op = exp.Case(ifs=[exp.If(this=inserted, true=exp.Literal.string("I"))], default=exp.Literal.string("D"))
    return (
        exp.Select(expressions=[alias(op, OP), *(column(name) for name in names)])
        .from_(subquery(ranked, "ranked"))
        .where(exp.EQ(this=column(WEIGHT), expression=column(_LAST)))
    )


def _by_copies(view: Stored, binder: StatementBinder, target: str) -> exp.Select:
    """Read the stored copies of the changed rows: the new number of copies is the stored number plus the net weight.

    More rows may be read: those that differ only in values that cannot be compared.
    """
    names = view.root.columns
    comparable = tuple(name for name in names if is_comparable(view.root.types[name]))
    old = stored_rows(view, binder, target)
    old = old.filter(exists(named_block(NET, names, binder.alias(NET)), old, comparable))
    parts = [
        exp.Select(
            expressions=[*(column(name) for name in names), alias(column(WEIGHT), COPIES), alias(exp.Literal.number(0), STORED)]
        ).from_(NET),
        old.select().select(alias(exp.Literal.number(1), COPIES), alias(exp.Literal.number(1), STORED), copy=False),
    ]
    return exploded(view, counted(view, parts))
