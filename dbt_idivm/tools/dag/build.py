"""One AND-OR DAG for many views, built from their operator trees.

    build({"v1": a ⋈ b ⋈ c, "v2": b ⋈ c ⋈ d}, sizes)    one group b ⋈ c, from which both views can be computed

Each form of a view (`normal_form.py`) and each part of its blocks (`sub_joins.py`) becomes a group; equal texts are one group.
Then groups that can be derived from others get further operations (`subsumption.py`). Mistry et al. 2001, §4.2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from dbt_idivm.algebra.cardinality import Sizes
from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.tools.dag.block import Arrangement, part_of
from dbt_idivm.tools.dag.dag import Dag, Group, Kind, Operation
from dbt_idivm.tools.dag.estimates import Estimates, key_columns, row_width
from dbt_idivm.tools.dag.forms import Block, Form, Grouping, Other, Table, of, source_of
from dbt_idivm.tools.dag.labels import combining, grouping, joining, selection
from dbt_idivm.tools.dag.normal_form import Normal, normal_form
from dbt_idivm.tools.dag.sub_joins import WIDE, bits, sub_joins
from dbt_idivm.tools.dag.subsumption import difference, is_coarser, is_selection


@dataclass
class _Entry:
    """A group under construction. `operations`: (kind, texts of the inputs) → label. `parts`: for a block, the text of each part
    and the names of its columns there. `columns`: the columns that are read."""

    form: Form
    operations: dict[tuple[Kind, tuple[str, ...]], str] = field(default_factory=dict)
    parts: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    columns: set[str] = field(default_factory=set)


def build(views: Mapping[str, Operator], sizes: Sizes) -> Dag:
    """Build the DAG of views as the front end returns them. All attributes of a root count as read. Rows are estimated from
    `sizes`."""
    found = {name: normal_form(root) for name, root in views.items()}
    groups = _Groups([*_blocks(each.form for each in found.values())])
    for each in found.values():
        groups.add(each.form)
        groups.read(each.form, {name for value in each.names.values() for name in attributes(value)})
    groups.subsume()
    return groups.dag(found, sizes)


def _blocks(forms: Iterator[Form]) -> Iterator[Block]:
    """All blocks in these forms, at any depth."""
    for form in forms:
        if isinstance(form, Block):
            yield form
        yield from _blocks(iter(_inputs(form)))


def _inputs(form: Form) -> tuple[Form, ...]:
    if isinstance(form, Block):
        return form.sources
    if isinstance(form, Grouping):
        return (form.input,)
    return form.inputs if isinstance(form, Other) else ()


class _Groups:
    def __init__(self, blocks: list[Block]) -> None:
        self._entries: dict[str, _Entry] = {}
        self._blocks = {block.text: tuple(each.text for each in block.sources) for block in blocks}

    # --- groups and their operations ---

    def add(self, form: Form) -> None:
        """Add the groups of the form and of everything that it consists of."""
        if (known := self._entries.get(form.text)) is not None and (known.parts or not isinstance(form, Block)):
            return
        for each in _inputs(form):
            self.add(each)
        entry = self._entries.setdefault(form.text, _Entry(form))
        if isinstance(form, Block):
            self._add_parts(form, entry)
        elif isinstance(form, Grouping):
            entry.operations["aggregate", (form.input.text,)] = grouping(form)
        elif isinstance(form, Other):
            entry.operations["other", tuple(each.text for each in form.inputs)] = form.node.label()

    def _add_parts(self, block: Block, entry: _Entry) -> None:
        if not block.sources:
            entry.operations["other", ()] = selection(block, block.classes, block.tests) if block.tests else "one row"
            entry.parts.append((block.text, {}))
            return
        if any(test.last for test in block.tests):  # tested after all joins
            core = part_of(block, range(len(block.sources)))
            entry.operations["select", (core.text,)] = selection(block, (), [test for test in block.tests if test.last])
        pairs = sub_joins(block, self._wanted(block))
        found = {part: part_of(block, bits(part)) for part in pairs}
        texts = {part: each.text for part, each in found.items()}
        for part, each in found.items():
            group = self._part(each)
            for pair in pairs[part]:
                inputs = tuple(sorted((texts[pair[0]], texts[pair[1]])))
                if ("join", inputs) not in group.operations:
                    group.operations["join", inputs] = joining(block, *pair)
            entry.parts.append(
                (
                    texts[part],
                    {
                        of(number, name): each.name(of(number, name))
                        for number in bits(part)
                        for name in block.sources[number].types
                    },
                )
            )

    def _part(self, found: Arrangement) -> _Entry:
        """The group of a part. A part with one source is a selection over it."""
        if (known := self._entries.get(found.text)) is None:
            known = self._entries[found.text] = _Entry(found.block()[0])
        form = known.form
        if isinstance(form, Block) and len(form.sources) == 1 and not known.operations:
            known.operations["select", (form.sources[0].text,)] = selection(form, form.classes, form.tests)
        return known

    def _wanted(self, block: Block) -> Iterator[int]:
        """The parts of a wide block that have the same sources as another block."""
        if len(block.sources) <= WIDE:
            return
        mine = [each.text for each in block.sources]
        for theirs in self._blocks.values():
            if 1 < len(theirs) < len(mine) and len(set(theirs)) == len(theirs) and all(mine.count(each) == 1 for each in theirs):
                yield sum(1 << mine.index(each) for each in theirs)

    # --- which of their columns are read ---

    def read(self, form: Form, columns: set[str]) -> None:
        """Mark columns of the form as read, and the columns of its inputs that this requires."""
        entry = self._entries[form.text]
        if isinstance(form, Grouping):
            columns = {*form.types}
        columns = columns - entry.columns
        entry.columns |= columns
        if isinstance(form, Grouping):
            self.read(form.input, {name for each in (*form.groups, *form.calls) for name in attributes(each)})
        elif isinstance(form, Other):
            for number, each in enumerate(form.inputs):
                self.read(each, {name for name in each.types if of(number, name) in columns} | form.reads[number])
        elif isinstance(form, Block):
            columns |= {name for test in form.tests for name in test.columns} | {name for each in form.classes for name in each}
            for text, names in entry.parts:
                self._entries[text].columns.update(names[name] for name in columns if name in names)
            for number, each in enumerate(form.sources):
                self.read(each, {name for place, name in map(source_of, columns) if place == number})

    # --- subsumption ---

    def subsume(self) -> None:
        blocks: dict[tuple[str, ...], list[Block]] = defaultdict(list)
        groupings: dict[str, list[Grouping]] = defaultdict(list)
        for form in (entry.form for entry in self._entries.values()):
            if isinstance(form, Block):
                blocks[tuple(each.text for each in form.sources)].append(form)
            elif isinstance(form, Grouping):
                groupings[form.input.text].append(form)
        for narrow, wide in (pair for alike in blocks.values() for pair in _selections(alike)):
            label = selection(narrow, *difference(narrow, wide))
            self._entries[narrow.text].operations.setdefault(("select", (wide.text,)), label)
        for coarse, fine in (pair for alike in groupings.values() for pair in product(alike, repeat=2) if is_coarser(*pair)):
            self._entries[coarse.text].operations["aggregate", (fine.text,)] = combining(coarse, fine)

    # --- the DAG ---

    def dag(self, views: Mapping[str, Normal], sizes: Sizes) -> Dag:
        numbers: dict[str, int] = {}
        for view in views.values():
            self._number(view.form.text, numbers)
        for text in self._entries:
            self._number(text, numbers)
        estimates = Estimates(sizes)
        groups = tuple(self._group(text, numbers, estimates) for text in numbers)
        return Dag(groups, {name: numbers[each.form.text] for name, each in views.items()})

    def _number(self, text: str, numbers: dict[str, int]) -> None:
        if text in numbers:
            return
        for _, inputs in self._entries[text].operations:
            for each in inputs:
                self._number(each, numbers)
        numbers[text] = len(numbers)

    def _group(self, text: str, numbers: Mapping[str, int], estimates: Estimates) -> Group:
        entry = self._entries[text]
        form = entry.form
        keys = key_columns(form)
        columns = sorted(entry.columns | keys)
        operations = tuple(
            Operation(kind, tuple(numbers[each] for each in inputs), label) for (kind, inputs), label in entry.operations.items()
        )
        return Group(
            numbers[text],
            text,
            _tables(form),
            estimates.rows(form).rows,
            row_width(form, columns),
            row_width(form, keys),
            operations,
            estimates.is_kept(form, columns),
        )


def _tables(form: Form) -> frozenset[str]:
    return frozenset({form.text}) if isinstance(form, Table) else frozenset[str]().union(*map(_tables, _inputs(form)))


def _selections(alike: list[Block]) -> Iterator[tuple[Block, Block]]:
    """Pairs (narrow, wide) of the transitive reduction of 'is a selection of'.

    Among equivalent blocks, such as x < 5 and x < 5.0, the one with the least text is the wide one.
    """
    wider = {
        narrow.text: [
            wide
            for wide in alike
            if wide is not narrow and is_selection(narrow, wide) and (wide.text < narrow.text or not is_selection(wide, narrow))
        ]
        for narrow in alike
    }
    for narrow in alike:
        further = {each.text for wide in wider[narrow.text] for each in wider[wide.text]}
        yield from ((narrow, wide) for wide in wider[narrow.text] if wide.text not in further)
