"""What differs between two blocks: between a view and the same view after an edit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.adaptation.block import Block, Definitions, block_of
from dbt_idivm.adaptation.derive import of_old, text_of, translated
from dbt_idivm.adaptation.same_rows import Known, Pairs, Types, assignments, is_guarded_as_before, types_of
from dbt_idivm.algebra.expressions import attributes, column, substitute
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.cached import cached_property
from dbt_idivm.operators import Aggregate, OuterJoin, SemiAntiJoin


@dataclass(frozen=True)
class LookUp:
    """⟕, ⋉ or ▷ with a relation, for rows that have the attributes of its condition."""

    node: OuterJoin | SemiAntiJoin
    condition: exp.Expr

    @property
    def added(self) -> tuple[str, ...]:
        """The attributes that its condition, or what is above it, has from the relation."""
        marks = self.node.marks if isinstance(self.node, OuterJoin) and self.node.marked else ()
        return (*self.node.right.columns, *marks)

    def applied(self, rows: Operator, condition: exp.Expr) -> Operator:
        """To these rows, of which the condition has the attributes now."""
        return replace(self.node, left=rows, condition=condition)


@dataclass(frozen=True)
class Difference:
    """A new block beside an old one, all of whose sources it has.

    `new` is the block without the look-ups that were added: `joined`, sources that it is joined with, and `looked_up`, what has
    the rows of the block on its left, the innermost first. `extra` conditions of the new block are not among the old ones;
    `lost`, over old attributes, are not among the new ones.
    """

    new: Block
    old: Block
    pairs: Pairs
    known: Known
    joined: tuple[Operator, ...]
    looked_up: tuple[LookUp, ...]
    extra: tuple[exp.Expr, ...]
    lost: tuple[exp.Expr, ...]

    @cached_property
    def added(self) -> frozenset[str]:
        """The attributes that no source of the old block has, and that rules add."""
        found = (
            *(each.columns for each in self.joined),
            *(each.added for each in self.looked_up),
            *(names for _, names in self.missing_calls),
        )
        return frozenset(name for names in found for name in names)

    @cached_property
    def missing_calls(self) -> tuple[tuple[Aggregate, tuple[str, ...]], ...]:
        """The γ of the new block with aggregates that are read and the old γ does not have."""
        read = {
            name
            for each in (*self.new.conditions, *self.new.names.values(), *(each.condition for each in self.looked_up))
            for name in attributes(each)
        }
        found = (
            (new, tuple(call.name for call in new.calls if call.name in read and call.name not in self.known))
            for new, _ in self.pairs
            if isinstance(new, Aggregate)
        )
        return tuple((new, names) for new, names in found if names)

    @cached_property
    def types(self) -> Types:
        """Of what the conditions of the new block read."""
        added = (node for each in self.looked_up for node in (each.node.right, each.node))
        return types_of((*self.new.sources, *added))

    @property
    def shared(self) -> tuple[exp.Expr, ...]:
        """The conditions that both blocks have, as the new one has them."""
        return tuple(each for each in self.new.conditions if not any(each is other for other in self.extra))


def differences(new: Block, old: Block) -> Iterator[Difference]:
    """Each way to see the old block in the new one, those with fewer look-ups first."""
    for block, looked_up in _without_look_ups(new):
        for before in _without_unread(old):
            for pairs, known, joined in assignments(block.sources, before.sources):
                found = _difference(block, before, pairs, known, joined, looked_up)
                if found is not None:
                    yield found


def _difference(
    new: Block, old: Block, pairs: Pairs, known: Known, joined: tuple[Operator, ...], looked_up: tuple[LookUp, ...]
) -> Difference | None:
    """None where a condition that may fail has lost one that guards it to a place behind it."""
    conditions = [of_old(each) for each in old.conditions]
    have = {text_of(each) for each in conditions}
    translations = [translated(each, known) for each in new.conditions]
    if not is_guarded_as_before(new.conditions, translations, conditions, types_of(new.sources)):
        return None
    mine = list(zip(new.conditions, translations, strict=True))
    extra = tuple(each for each, found in mine if found is None or text_of(found) not in have)
    kept = {text_of(found) for _, found in mine if found is not None}
    lost = tuple(each for each in conditions if text_of(each) not in kept)
    return Difference(new, old, pairs, known, joined, looked_up, extra, lost)


def _without_look_ups(block: Block, above: tuple[LookUp, ...] = ()) -> Iterator[tuple[Block, tuple[LookUp, ...]]]:
    """The block, and without one after the other of the ⟕, ⋉ and ▷ that it is made over: their left rows stay what they are."""
    yield block, above
    for place, source in enumerate(block.sources):
        if isinstance(source, SemiAntiJoin) or (isinstance(source, OuterJoin) and not source.full):
            rest, known = _without(block, place, source)
            found = (
                LookUp(source, _over(source.condition, known)),
                *(LookUp(each.node, _over(each.condition, known)) for each in above),
            )
            yield from _without_look_ups(rest, found)


def _without_unread(block: Block) -> Iterator[Block]:
    """The old block, and without one after the other of the ⟕ that pass each left row once: by a key it has one partner at most,
    or it is padded."""
    yield block
    for place, source in enumerate(block.sources):
        if isinstance(source, OuterJoin) and source.combined:
            yield from _without_unread(_without(block, place, source)[0])


def _without(block: Block, place: int, source: OuterJoin | SemiAntiJoin) -> tuple[Block, Definitions]:
    """The block over the sources of the left input instead, and what the attributes of that are. What there is of the right input
    keeps its names."""
    left = block_of(source.left)
    conditions = (*left.conditions, *(_over(each, left.names) for each in block.conditions))
    names = {name: _over(each, left.names) for name, each in block.names.items()}
    return Block((*block.sources[:place], *left.sources, *block.sources[place + 1 :]), conditions, names), left.names


def _over(expression: exp.Expr, known: Definitions) -> exp.Expr:
    return substitute(expression, {name: known.get(name, column(name)) for name in attributes(expression)})
