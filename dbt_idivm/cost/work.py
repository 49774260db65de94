"""The work of a refresh, as measures: the work of a rebuild, and of a way's application.

    rebuild      evaluate the view's query and write all of it
    application  evaluate its relations; then a MERGE, which finds the files of the touched rows and rewrites them;
                 or, for few rows that are fetched first, possibly an UPDATE or DELETE, which finds them by their keys

The numbers of view rows that an i-diff touches, and of files that contain them, follow the papers' formulas (`papers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbt_idivm.algebra.cardinality import Cardinality, drawn
from dbt_idivm.algebra.lookups import Named
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cost.joins import taken_apart
from dbt_idivm.cost.measure import Measure, total
from dbt_idivm.cost.merging import Target
from dbt_idivm.cost.papers import compression
from dbt_idivm.cost.sizes import Size, width
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.operators.scan import DiffClass, DiffRows, Scan
from dbt_idivm.script.additive import LostExtremes
from dbt_idivm.script.conditional import Conditional
from dbt_idivm.script.diff import INLINE_ROWS
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import Fetched
from dbt_idivm.script.replace_where import KEYS
from dbt_idivm.script.tail import LatePartitions
from dbt_idivm.script.top_k_rows import IfAny
from dbt_idivm.script.ways import Application, Way

# (occurrence, class, attributes that split updates) → number of rows of this class of the occurrence's net diff
ClassSizes = Callable[[str, DiffClass, frozenset[str]], float]
# Plan nodes besides the relations: writing by key; old_rows with its joins, and for each i-diff.
_BY_KEY_NODES, _OLD_ROWS_NODES, _PER_NAMED = 3, 6, 4
READING = Measure(queries=1, nodes=6)  # the query for a net diff, without its rows
_COME_AND_GO: tuple[DiffClass, ...] = ("ins", "del")
_SIDES: tuple[DiffClass, ...] = ("plus", "minus")
# The full join of the whole view with its query's rows shuffles and sorts the rows of both, and compares all columns. Measured:
# 25 s for 20M rows, beside 2 s for reading them.
_COMPARED = 10
# Reading a table takes 0.1 s however small it is: its log is read, and its files are planned. Measured: a union of 60 tables of
# 50 rows each is built in 6 to 13 s.
_SCAN_NODES = 5
# A state that is not the newest version is computed by removing or adding the rows of the net diff.
_STATE_NODES = 4


@dataclass(frozen=True)
class Situation:
    """The starting point of a refresh of `plan`: the sizes of its tables and of the stored view (None: estimated from its query),
    and the numbers of changed rows. `rewrites`: whether MERGE rewrites whole files, because the view has no deletion vectors."""

    plan: Plan
    tables: Mapping[str, Size]
    view: Size | None
    changed: ClassSizes
    rewrites: bool = True
    fetched: frozenset[str] = frozenset()  # tables whose rows are literals of the statement
    _known: dict[int, tuple[Relation, Cardinality, Measure]] = field(default_factory=dict, compare=False, repr=False)

    def table(self, name: str) -> float:
        """`Sizes`: the number of rows of a table; 1 if unknown."""
        return float(self.tables[name].rows) if name in self.tables else 1.0

    def changes(self, occurrence: str, diff_class: DiffClass, split: frozenset[str]) -> float:
        """`Sizes`: the number of rows of a class of a net diff."""
        return self.changed(occurrence, diff_class, split)

    def is_empty(self, leaf: DiffRows) -> bool:
        """Whether no row of this class is expected."""
        return self.changes(leaf.scan.occurrence, leaf.diff_class, leaf.split) == 0

    @property
    def stored(self) -> Size:
        """The size of the stored view, or the estimated size of its query."""
        if self.view is not None:
            return self.view
        rows = self.evaluated(self.plan.root)[0].rows
        return Size(round(rows), round(rows * self.view_width))

    @property
    def view_width(self) -> float:
        """Bytes of a written row, estimated from the types. Encoding the values takes the time, regardless of how well the file
        compresses."""
        types = self.plan.root.types
        return width(types[each.attribute] for each in self.plan.columns)

    def evaluated(self, relation: Relation) -> tuple[Cardinality, Measure]:
        """The rows of a relation, and the work of evaluating it. A named relation is evaluated at each mention."""
        known = self._known.get(id(relation))
        if known is None and (tree := taken_apart(relation)) is not None:
            leaves = [self.evaluated(leaf) for leaf in tree.leaves]
            rows, tuples = tree.rows([each for each, _ in leaves])
            work = total((Measure(nodes=tree.nodes, tuples=tuples), *(each for _, each in leaves)))
            known = self._known[id(relation)] = (relation, rows, work)
        if known is None:
            below = (relation.definition,) if isinstance(relation, Named) else relation.children
            inputs = [self.evaluated(child) for child in below]
            rows = relation.cardinality([each for each, _ in inputs], self)
            if isinstance(relation, IfAny):
                inputs[0] = (inputs[0][0], self._if_any(relation, inputs[0][1]))
            own = self._read(relation) if isinstance(relation, Scan) else _taken_in(relation, rows, [each for each, _ in inputs])
            # the relation is kept alive with the result, so that its id stays unique
            known = self._known[id(relation)] = (relation, rows, total((own, *(work for _, work in inputs))))
        return known[1], known[2]

    def _if_any(self, relation: IfAny, work: Measure) -> Measure:
        """The expected work of a relation that is evaluated only if there are keys; its plan nodes count in any case."""
        found = work.times(min(self.evaluated(relation.keys)[0].rows, 1.0))
        return replace(found, nodes=work.nodes)

    def _read(self, scan: Scan) -> Measure:
        """The work of reading the used columns of a table; the row of the clock is a constant of the statement."""
        if scan.is_clock:
            return Measure(nodes=1, tuples=1)
        size = self.tables.get(scan.table, Size(1, 1))
        part = min(width(a.type for a in scan.base_columns) / width(a.type for a in scan.attributes), 1.0)
        nodes, stored = (1, 0.0) if scan.table in self.fetched else (_SCAN_NODES, size.bytes * part)
        is_newest = scan.state == "post" or not (
            self.changes(scan.occurrence, "plus", frozenset()) or self.changes(scan.occurrence, "minus", frozenset())
        )
        return Measure(
            nodes=nodes if is_newest else nodes + _STATE_NODES,
            tuples=size.rows * (1 if is_newest else 2),
            bytes_read=stored,
        )


def _taken_in(relation: Relation, rows: Cardinality, inputs: Sequence[Cardinality]) -> Measure:
    """The work of one operator; a name costs nothing."""
    if isinstance(relation, Named):
        return Measure()
    return Measure(nodes=1, tuples=sum(each.rows for each in inputs) if inputs else rows.rows)


def rebuild(now: Situation) -> Measure:
    """The work of evaluating the view's query over its tables and writing all rows."""
    view = now.stored
    written = view.rows * now.view_width
    return now.evaluated(now.plan.root)[1] + Measure(overwrites=1, nodes=1, tuples=view.rows, bytes_written=written)


def application_of(way: Way, now: Situation) -> Application | None:
    """The application that the way is expected to give; None if the view does not change."""
    return way.application(now.is_empty)


def incremental(done: Application, now: Situation, read: Situation | None = None) -> Measure:
    """The work of the application's statement. `read`: the situation in which its relations are evaluated, if they are not
    evaluated over whole tables."""
    source = total((read or now).evaluated(relation)[1] for relation in done.relations)
    touched, inserted = effect(done, now)
    again = asking(done, now) if isinstance(done, Conditional) else Measure()
    if done.shape == "append":  # an INSERT, which does not read the view, unless new rows continue its values
        return source + again + target_of(now).append(inserted)
    if done.reads_view and not isinstance(done, Conditional):
        # old_rows is defined once, and read again together with its comparisons. A stored row is looked up in the i-diffs of each
        # set of IDs. Measured: 12 s for 20M rows of five columns and five sets of IDs.
        nodes = _OLD_ROWS_NODES + _PER_NAMED * len(done.idiffs)
        mentions, tests = done.view_mentions, len({diff.ids for diff in done.idiffs})
        passes = 1 + mentions * (1 + tests) / 2 + (_COMPARED if any(not diff.ids for diff in done.idiffs) else 0)
        again = Measure(nodes=nodes * mentions, tuples=passes * now.stored.rows, bytes_read=mentions * now.stored.bytes)
    fetched = fetched_of(done, now)
    if fetched == "rows" and is_of_one_kind(done, now):
        return source + again + by_key(now, touched)
    if fetched != "nothing" and is_replaced(done, now):
        return source + again + replacing(now, touched, inserted)
    return source + again + merge(now, touched, inserted, inserts=may_insert(done))


def asking(done: Conditional, now: Situation) -> Measure:
    """The work of the query for the answer, over the changed rows and the stored view, and of what it leads to, if that is
    expected."""
    source = total(now.evaluated(relation)[1] for relation in done.relations)
    question = done.question
    if isinstance(question, LostExtremes):
        found = source + reading_columns(now, _key_part(now))
        return found + total(now.evaluated(each)[1] for each in done.perhaps).times(min(lost_groups(question, now), 1.0))
    assert isinstance(question, LatePartitions)
    # For more than a few rows it asks for late partitions only, and the last rows are read once more. No late partition is
    # expected: too low an estimate is corrected later (ADR 0017).
    kept, types = question.appending.work.running.kept, now.plan.root.types
    reads = 1 if effect(done, now)[1] <= INLINE_ROWS else 2
    return source + reading_columns(now, min(width(types[name] for name in kept) / width(types.values()), 1.0), reads)


def reading_columns(now: Situation, part: float, reads: int = 1) -> Measure:
    """The work of a query that reads the stored view `reads` times: this part of its bytes."""
    view = now.stored
    return Measure(queries=1, nodes=reads * _OLD_ROWS_NODES, tuples=reads * view.rows, bytes_read=reads * view.bytes * part)


def lost_groups(question: LostExtremes, now: Situation) -> float:
    """The expected number of groups that lose an extreme. For each extreme, one in n negative rows removes it if a group has n
    rows."""
    sides = {side: sum(now.changes(scan.occurrence, side, frozenset()) for scan in now.plan.scans) for side in _SIDES}
    part = sides["minus"] / (sum(sides.values()) or 1.0)
    state = question.adding.state
    rows = now.evaluated(state.aggregate.child)[0].rows
    changed = now.evaluated(question.adding.rows)[0].rows
    return changed * part * len(state.extremes) * min(compression(now.stored.rows, rows), 1.0)


def fetched_of(done: Application, now: Situation) -> Fetched:
    """Which part of the statement's source is fetched first: its rows, if they are expected to be few enough to inline; else
    their keys, or nothing."""
    rows = source_rows(done, now)
    if rows <= INLINE_ROWS:
        return "rows"
    return "keys" if rows <= KEYS and is_replaced(done, now) else "nothing"


def is_replaced(done: Application, now: Situation) -> bool:
    """Whether rows of the view can be replaced by key."""
    return done.has_whole_rows and now.plan.root.unique


def is_of_one_kind(done: Application, now: Situation) -> bool:
    """Whether all fetched rows may be updates, or all may be deletes. Where view rows are recomputed, the best case is
    assumed."""
    kinds = {diff.kind for diff in done.idiffs}
    if done.shape == "direct":
        return kinds in ({UPD}, {DEL})
    came = (now.changes(scan.occurrence, each, frozenset()) for scan in now.plan.scans for each in _COME_AND_GO)
    return INS not in kinds and DEL not in kinds and not any(came)


def may_insert(done: Application) -> bool:
    """Whether the MERGE has a clause for source rows that match no view row."""
    return not done.idiffs or any(diff.kind in (INS, REC) for diff in done.idiffs)


def merge(now: Situation, touched: float, inserted: float, *, inserts: bool = False) -> Measure:
    """The work of a MERGE into the stored view (`merging.py`). `inserts`: whether it has a clause for new rows."""
    return target_of(now).merge(touched, inserted, inserts=inserts)


def by_key(now: Situation, touched: float) -> Measure:
    """The work of a query for the keys, followed by UPDATE or DELETE of the rows with these keys. Their files are read to find
    the rows, and again to rewrite them."""
    view = now.stored
    found, passes, written = target_of(now).touched(touched)
    return Measure(
        queries=1,
        overwrites=1,
        nodes=_BY_KEY_NODES,
        tuples=view.rows * (1 + passes) * found + touched,
        bytes_read=view.bytes * found,
        bytes_written=written,
    )


def replacing(now: Situation, touched: float, inserted: float) -> Measure:
    """The work of staging the source and querying its keys, followed by REPLACE WHERE for these keys. The keys in the files of
    touched rows are read once; without deletion vectors these files are rewritten. If there are several IDs, the keys are read
    again for the neighbours of the touched rows."""
    view, asked = now.stored, int(len(now.plan.root.ids) > 1)
    found, passes, written = target_of(now).touched(touched)
    key = _key_part(now)
    part, passes = (1.0, passes) if now.rewrites else (key, 0)
    return Measure(
        queries=2 + asked,
        overwrites=1,
        nodes=_BY_KEY_NODES,
        tuples=view.rows * (1 + passes + asked) * found + touched + inserted,
        bytes_read=view.bytes * (part + asked * key) * found,
        bytes_written=written + inserted * now.view_width,
    )


def target_of(now: Situation) -> Target:
    """The stored view as the target of a MERGE."""
    view = now.stored
    return Target(view.rows, view.bytes, view.files, now.view_width, _key_part(now), now.rewrites)


def _key_part(now: Situation) -> float:
    """The fraction of a stored row's width taken by its IDs, which MERGE reads to find files."""
    root = now.plan.root
    return min(width(root.types[name] for name in root.ids) / width(root.types[name] for name in root.columns), 1.0)


def effect(done: Application, now: Situation) -> tuple[float, float]:
    """The expected numbers of stored rows that an application touches, and of rows that it inserts."""
    done, view = done.original, now.stored
    if not done.idiffs:
        rows = sum(now.evaluated(relation)[0].rows for relation in done.relations)
        if done.shape == "additive":  # g: the groups among so many rows
            return drawn(view.rows, rows), 0.0
        return min(rows, float(view.rows)), 0.0
    touched = inserted = 0.0
    for diff in done.idiffs:
        if not diff.ids:
            touched += differing(now)
            continue
        rows = now.evaluated(diff.relation)[0].rows
        if diff.kind is INS:
            inserted += rows
            touched += 0.0 if diff.fresh else rows
        else:
            touched += rows * named_rows(diff, now)
    return min(touched, float(view.rows)), inserted


def differing(now: Situation) -> float:
    """The expected number of view rows that the changes make differ: each changed row of a table stands for p of them."""
    plan, rows = now.plan, float(now.stored.rows)
    found = (
        now.changes(scan.occurrence, side, frozenset()) * compression(rows, now.table(scan.table))
        for scan in plan.scans
        for side in _SIDES
    )
    return min(sum(found), rows)


def source_rows(done: Application, now: Situation) -> float:
    """The expected number of rows in the source of the application's statement."""
    if done.shape == "direct":  # the i-diffs themselves
        return sum(now.evaluated(diff.relation)[0].rows for diff in done.idiffs)
    return sum(effect(done, now))


def named_rows(diff: IDiff, now: Situation) -> float:
    """p: the number of view rows named by one row of an i-diff."""
    view = now.stored
    if not diff.ids:
        return float(view.rows)
    values = now.evaluated(now.plan.root)[0].with_rows(float(view.rows)).values(diff.ids)
    return compression(view.rows, values)


@dataclass(frozen=True)
class TableChanges:
    """Numbers of inserted, deleted and updated rows of one table, from its commits."""

    inserted: float = 0.0
    deleted: float = 0.0
    updated: float = 0.0

    def of_class(self, diff_class: DiffClass, *, keyed: bool, splits: float) -> float:
        """The number of rows of a class. `splits`: fraction of the updates that change a conditional attribute, from 0 to 1."""
        both = self.inserted + self.deleted + 2 * self.updated
        if not keyed:
            return {
                "plus": self.inserted + self.updated,
                "minus": self.deleted + self.updated,
                "ins": 0.0,
                "del": 0.0,
                "upd": 0.0,
            }.get(diff_class, both)
        return {
            "ins": self.inserted,
            "del": self.deleted,
            "upd": self.updated * (1 - splits),
            "rec": 2 * self.updated * splits,
            "plus": self.inserted + self.updated,
            "minus": self.deleted + self.updated,
        }.get(diff_class, both)


def expected(plan: Plan, counts: Mapping[str, TableChanges], *, hopeful: bool) -> ClassSizes:
    """The expected number of rows of each class, from the counts of commits. `hopeful`: assume that no update changes a
    conditional attribute, provided that not all attributes are conditional."""
    scans = {scan.occurrence: scan for scan in plan.scans}

    def changed(occurrence: str, diff_class: DiffClass, split: frozenset[str]) -> float:
        scan = scans[occurrence]
        found = counts.get(scan.table)
        if found is None:
            return 0.0
        rest = frozenset(scan.columns) - frozenset(scan.ids)
        some = 0.0 if hopeful or rest.isdisjoint(split) else 0.5
        return found.of_class(diff_class, keyed=scan.unique, splits=1.0 if rest <= split else some)

    return changed
