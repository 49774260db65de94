"""R ∪ S (UNION ALL) of any number of branches, with a branch attribute b.

ID(R ∪ S) = ID(R) ∪ ID(S) ∪ {b} (Table 1). IDs at the same output position in every branch form one ID attribute. Any other ID
gets an attribute of its own, which is NULL in the other branches.

| rule      | i-diff             | out (idIVM Table 5)
|-----------|--------------------|----------------------------------------------------------
| union_ins | INS                | INS(π_{*, b} Δ)
| union_del | DEL                | DEL(P ∪ {b})
| union_upd | UPD                | UPD(P ∪ {b}); dropped if it assigns no output attribute
| union_rec | REC                | REC(P ∪ {b})

b is always in P: a partial ID without it would match the NULLs of the other branches. (The paper's table prints ∆- for the
outgoing update, which is a misprint.)

Example: the branches `store` and `web` both have the key id; (7, b = 0) and (7, b = 1) are different rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.answers import over_inputs
from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.block import Binder, Block, isolate
from dbt_idivm.algebra.cardinality import Cardinality, Sizes, united
from dbt_idivm.algebra.core import Compute, Filter, SemiJoin, constant
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.inference import VOID, Dependency, determined_by
from dbt_idivm.algebra.operator import SIGN, Conditions, Operator, State, values_of_signed
from dbt_idivm.algebra.relation import Provenance, Relation
from dbt_idivm.algebra.types import is_text
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.idiff.rule import IDiffRule, always


@dataclass(frozen=True)
class Branches(Relation):
    """∪ over any relations. `sources[i][j]` is the attribute of part i that gives `outputs[j]`; None if it is NULL there."""

    parts: tuple[Relation, ...]
    name: str
    outputs: tuple[str, ...]
    sources: tuple[tuple[str | None, ...], ...]

    @property
    def branch(self) -> str:
        """b: the branch attribute."""
        return f"{self.name}__branch"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return (*self.outputs, self.branch)

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        found: dict[str, exp.DataType] = {self.branch: exp.DataType.build("int")}
        for part, sources in zip(self.parts, self.sources, strict=True):
            below = part.types  # walks the whole branch
            for output, source in zip(self.outputs, sources, strict=True):
                kind = below[source] if source is not None else None
                if kind is not None and (other := found.setdefault(output, kind)) != kind:
                    texts = is_text(other) and is_text(kind)  # a literal is VARCHAR for sqlglot
                    found[output] = exp.DataType.build("text" if texts else "unknown")
        return found

    def like(self, name: str) -> exp.Expr:
        if name == self.branch:
            return exp.Literal.number(0)
        place = self.outputs.index(name)
        first, *others = dict.fromkeys(source for sources in self.sources if (source := sources[place]) is not None)
        return exp.Coalesce(this=column(first), expressions=[column(each) for each in others]) if others else column(first)

    @property
    def children(self) -> tuple[Relation, ...]:
        return self.parts

    def with_children(self, *children: Relation) -> Relation:
        return Branches(children, self.name, self.outputs, self.sources)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return ()

    def pairs(self, number: int) -> tuple[tuple[str, str | None], ...]:
        """(output attribute, its attribute in branch `number`, or None), in the order of the outputs."""
        return self._pairs[number]

    @cached_property
    def _pairs(self) -> tuple[tuple[tuple[str, str | None], ...], ...]:
        return tuple(tuple(zip(self.outputs, sources, strict=True)) for sources in self.sources)

    def branch_of(self, number: int, relation: Relation, *, sign: bool = False) -> Relation:
        """Rows of one branch under the output's names, with b. With `sign`, SIGN is passed on."""
        definitions = [(output, _source(source)) for output, source in self.pairs(number)]
        definitions.append((self.branch, exp.Literal.number(number)))
        if sign:
            definitions.append((SIGN, column(SIGN)))
        return Compute(relation, tuple(definitions))

    def block(self, binder: Binder) -> Block:
        rows = Concat(tuple(self.branch_of(i, part) for i, part in enumerate(self.parts)))
        return isolate(rows.query(binder), self.columns, binder.alias(self.name))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        """Each branch is restricted by its own part of the keys. The semijoin on top is needed for b and for NULLs."""
        parts = tuple(self._restrict_part(number, on, keys) for number in range(len(self.parts)))
        return SemiJoin(Branches(parts, self.name, self.outputs, self.sources), on, keys)

    def narrowed(self, names: frozenset[str]) -> Relation:
        kept = [place for place, output in enumerate(self.outputs) if output in names]
        sources = tuple(tuple(row[place] for place in kept) for row in self.sources)
        parts = tuple(
            part.narrowed(frozenset(name for name in row if name is not None))
            for part, row in zip(self.parts, sources, strict=True)
        )
        return Branches(parts, self.name, tuple(self.outputs[place] for place in kept), sources)

    def _restrict_part(self, number: int, on: tuple[str, ...], keys: Relation) -> Relation:
        if self.branch in on:
            keys = Filter(keys, exp.EQ(this=column(self.branch), expression=exp.Literal.number(number)))
        names = {source: output for output, source in self.pairs(number) if output in on and source is not None}
        if not names:
            return self.parts[number]
        renamed = Compute(keys, tuple((source, column(output)) for source, output in names.items()))
        return self.parts[number].restrict(tuple(names), renamed)

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        """Empty branches stay if another has rows, because branches keep their numbers."""
        if all(child is None for child in children):
            return None
        return self.with_children(*(new or old for new, old in zip(children, self.parts, strict=True)))

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        found = []
        for number, part in enumerate(self.parts):
            known = dict(self.pairs(number))
            sources = tuple(source for source in map(known.get, names) if source is not None)
            if len(sources) < len(names):
                return None
            found.append((part, sources))
        return tuple(found)

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        named = [{output: source for output, source in self.pairs(number) if source is not None} for number in range(len(inputs))]
        return united(each.computed(names) for each, names in zip(inputs, named, strict=True))

    def label(self) -> str:
        return f"∪ {self.name} of {len(self.parts)} branches"


@dataclass(frozen=True)
class UnionAll(Branches, Operator):
    """∪ of a view."""

    parts: tuple[Operator, ...]

    conditions = ()
    rewritten = over_inputs
    combined = ()
    equal = ()
    defined = ()
    is_select_project_join = False
    padded = ()
    monotone = True
    has_row = False
    by_key = False
    changed_values = values_of_signed

    def __post_init__(self) -> None:
        for part, sources in zip(self.parts, self.sources, strict=True):
            if len(sources) != len(self.outputs):
                raise ValueError("branches of ∪ differ in width")
            if missing := {name for name in sources if name is not None} - set(part.columns):
                raise ValueError(f"∪ uses {sorted(missing)}, which its input lacks")

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return self.parts

    def with_inputs(self, *inputs: Operator) -> Operator:
        return replace(self, parts=inputs)

    @property
    def scope(self) -> str | None:
        return self.name

    @cached_property
    def id_outputs(self) -> tuple[str, ...]:
        """The outputs that hold an ID attribute in every branch that does not leave them NULL."""
        found = []
        for position, output in enumerate(self.outputs):
            held = [(part, sources[position]) for part, sources in zip(self.parts, self.sources, strict=True)]
            if all(source is None or source in part.ids for part, source in held):
                found.append(output)
        return tuple(found)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return (self.branch, *self.id_outputs)

    @cached_property
    def unique(self) -> bool:
        return all(part.unique for part in self.parts)

    @cached_property
    def named_by(self) -> tuple[str, ...]:
        names = (self.names_in(number) for number in range(len(self.parts)))
        found = (known[name] for part, known in zip(self.parts, names, strict=True) for name in part.named_by)
        return tuple(dict.fromkeys(name for name in found if name not in self.ids))

    def names_in(self, number: int) -> Mapping[str, str]:
        """Attribute of one branch → an output that holds it: an ID output if there is one, else the first."""
        pairs = [(source, output) for output, source in reversed(self.pairs(number)) if source is not None]
        return dict(sorted(pairs, key=lambda pair: pair[1] in self.id_outputs))

    def with_ids(self) -> Operator:
        outputs, sources = list(self.outputs), [list(s) for s in self.sources]
        for number, part in enumerate(self.parts):
            held = {source for output, source in self.pairs(number) if output in self.id_outputs}
            passed = {*held, *self.names_in(number)}
            missing = [name for name in part.ids if name not in held]
            missing += [name for name in part.named_by if name not in passed and name not in part.ids]
            for each in missing:
                outputs.append(f"{self.name}__{number}__{each}")
                for other, row in enumerate(sources):
                    row.append(each if other == number else None)
        return replace(self, outputs=tuple(outputs), sources=tuple(tuple(row) for row in sources))

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(s for o, s in self.pairs(i) if o in above and s is not None) for i in range(len(self.parts)))

    def pruned(self, above: frozenset[str]) -> Operator:
        kept = [i for i, output in enumerate(self.outputs) if output in above]
        return replace(
            self, outputs=tuple(self.outputs[i] for i in kept), sources=tuple(tuple(row[i] for i in kept) for row in self.sources)
        )

    conditional = needed

    @cached_property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        below = [part.certain_types for part in self.parts]
        found = {
            output: {VOID if name is None else types.get(name) for types, name in zip(below, names, strict=True)}
            for output, names in self.united
        }
        return {output: kind for output, kinds in found.items() if len(kinds) == 1 for kind in kinds if kind is not None}

    @cached_property
    def nullable(self) -> frozenset[str]:
        return frozenset(
            output
            for output, names in self.united
            if any(name is None or name in part.nullable for part, name in zip(self.parts, names, strict=True))
        )

    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        """Dependencies that hold in every branch, together with b. An output that is a
        different literal in each branch determines b.
        """
        branch = frozenset({self.branch})
        found = [(frozenset({output}), branch) for output, names in self.united if self._tells_branches_apart(names)]
        for left in self._determining(below):
            right = frozenset(self.outputs)
            for number, each in enumerate(below):
                held = [(o, s) for o, s in self.pairs(number) if s is not None]
                known = determined_by(frozenset(s for o, s in held if o in left), each)
                right = right.difference(o for o, s in held if s not in known)
            found += [(left | branch, right)] if right > left else []
        return (*found, *self._of_one_branch())

    def _determining(self, below: Sequence[tuple[Dependency, ...]]) -> tuple[frozenset[str], ...]:
        """The sets of outputs that determine others in some branch, and the union of these sets."""
        found = []
        for number, dependencies in enumerate(below):
            names = self._first_in(number)
            found += [frozenset(names[name] for name in left) for left, _ in dependencies if left <= names.keys()]
        return tuple(dict.fromkeys((*found, frozenset[str]().union(*found))))

    def _first_in(self, number: int) -> Mapping[str, str]:
        """Attribute of one branch → the first output that holds it."""
        return {source: output for output, source in reversed(self.pairs(number)) if source is not None}

    def _of_one_branch(self) -> Iterator[Dependency]:
        """Dependencies of outputs that duplicate an attribute of one branch and are NULL in all others: b
        and the first such output determine them.
        """
        for number in range(len(self.parts)):
            names = self._first_in(number)
            for place, (output, source) in enumerate(self.pairs(number)):
                if source is not None and names[source] != output and _held(self.sources, place) == 1:
                    yield frozenset({self.branch, names[source]}), frozenset({output})

    def _tells_branches_apart(self, names: Sequence[str | None]) -> bool:
        """Whether an output is a different literal of the same kind in each branch. `names`: its attribute in each branch."""
        found = [None if name is None else constant(part, name) for part, name in zip(self.parts, names, strict=True)]
        if not all(isinstance(each, exp.Literal) and (each.is_string or each.is_int) for each in found):
            return False
        values = [each.name if each.is_string else int(each.name) for each in found if each is not None]
        return len({type(each) for each in values}) == 1 and len({*values}) == len(values)

    @cached_property
    def united(self) -> tuple[tuple[str, tuple[str | None, ...]], ...]:
        return tuple(zip(self.outputs, zip(*self.sources, strict=True), strict=True))

    def carried(self, occurrence: str) -> frozenset[str] | None:
        for number, part in enumerate(self.parts):
            known = part.carried(occurrence)
            if known is not None:
                return frozenset(output for output, source in self.pairs(number) if source in known)
        return None

    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        return ((),) * len(self.parts)

    def in_state(self, state: State) -> Relation:
        return self.with_children(*(part.in_state(state) for part in self.parts))

    def in_any_state(self, names: frozenset[str]) -> Relation:
        node = self.pruned(names)
        assert isinstance(node, UnionAll)
        parts = (part.in_any_state(below) for part, below in zip(self.parts, node.needed(names), strict=True))
        return node.with_children(*parts)

    def signed(self) -> Relation:
        return Concat(tuple(self.branch_of(i, part.signed(), sign=True) for i, part in enumerate(self.parts)))


def _held(sources: Sequence[Sequence[str | None]], place: int) -> int:
    """The number of branches in which an output is not NULL."""
    return sum(row[place] is not None for row in sources)


def _source(source: str | None) -> exp.Expr:
    return exp.null() if source is None else column(source)


def mapped(node: UnionAll, side: int, diff: IDiff) -> IDiff:
    """The i-diff of branch `side` under the output's names, with b in P."""
    pairs = node.pairs(side)
    by_source = node.names_in(side)
    ids = (node.branch, *(by_source[name] for name in diff.ids))
    if diff.kind is INS:
        ids = node.ids
    have = diff.attributes
    carried = [(output, source) for output, source in pairs if output not in ids and (source in have or source is None)]
    changes = set(diff.assigned) if diff.kind is UPD else have | {None} if diff.kind is INS else set()
    assigned = tuple(output for output, source in carried if source in changes)
    known = tuple(output for output, source in carried if source not in changes)
    definitions = {output: _source(source) for output, source in pairs}
    definitions[node.branch] = exp.Literal.number(side)
    relation = Compute(diff.relation, tuple((name, definitions[name]) for name in ids + assigned + known))
    return replace(
        diff, ids=ids, assigned=assigned, known=known, relation=relation, constants=(*diff.constants, (node.branch, str(side)))
    )


def union_map(node: UnionAll, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (mapped(node, side, diff),)


def union_upd(node: UnionAll, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    result = mapped(node, side, diff)
    return (result,) if result.assigned else ()


UnionAll.RULES = (
    IDiffRule("union_ins", INS, always, "INS(π_{*, b} Δ)", union_map, "Table 5, ∆+"),
    IDiffRule("union_del", DEL, always, "DEL(P ∪ {b})", union_map, "Table 5, ∆-"),
    IDiffRule("union_upd", UPD, always, "UPD(P ∪ {b})", union_upd, "Table 5, ∆u"),
    IDiffRule("union_rec", REC, always, "REC(P ∪ {b})", union_map, "ours"),
)
