"""`idivm doctor --fix`: shows how the change data feeds of sources are switched on, asks, and switches them on."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import click

from dbt.adapters.idivm.drive import drive
from dbt_idivm.declared_keys import KINDS, Node, relation_names, written_name
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.engine import Engine
from dbt_idivm.refresh.upkeep.examine import Check
from dbt_idivm.refresh.upkeep.feeds import FeedOff, feeds_off, switch_on, switch_on_statement

_COSTS = (
    "Each UPDATE, DELETE and MERGE of such a table then also writes the changed rows to files of the feed. Programs that write "
    "the table have to support change data feeds (version 4 of Delta's writer protocol)."
)


def switch_feeds_on(
    handle: Any, engine: Engine, inputs: Mapping[str, Node], manifest: Node, *, is_agreed: bool
) -> Iterator[Check]:
    """Switch on the feeds of the tables behind `inputs` that have none, and yield the result for each.

    It prints the statements first. They are run if `is_agreed`, or after a question if this is a terminal; otherwise nothing is
    changed. Tables that nothing can be done about are printed with the reason.
    """
    client, made_by = Client(engine), _made_by_dbt(manifest)
    found = [each for node in inputs.values() for each in _feeds_off(handle, client, node, made_by)]
    can = _first_of_each_table(found)
    _print_plan(client, can, [each for each in dict.fromkeys(found) if not each.table])
    if can and (is_agreed or _is_confirmed(len(can))):
        results = [drive(handle, switch_on(client, each)) for each in can]
        yield from results
        if any(each.state == "ok" for each in results):
            click.echo("The next run of each model that reads one of these tables rebuilds it once more. Later runs maintain it.")


def _made_by_dbt(manifest: Node) -> dict[str, Node]:
    nodes = [node for node in manifest["nodes"].values() if node["resource_type"] in KINDS]
    return {name: node for node in nodes for name in (node["unique_id"], *relation_names(node))}


def _feeds_off(handle: Any, client: Client, node: Node, made_by: Mapping[str, Node]) -> tuple[FeedOff, ...]:
    found: tuple[FeedOff, ...] = drive(handle, feeds_off(client, next(relation_names(node)), written_name(node), made_by))
    return found


def _first_of_each_table(found: Iterable[FeedOff]) -> list[FeedOff]:
    """Those whose feed can be switched on. Two inputs may lead to one table."""
    tables: dict[str, FeedOff] = {}
    for each in found:
        if each.table:
            tables.setdefault(each.table, each)
    return list(tables.values())


def _print_plan(client: Client, can: Collection[FeedOff], cannot: Collection[FeedOff]) -> None:
    if not can and not cannot:
        click.echo("Every table that maintained models read has a change data feed.")
    if can:
        click.echo("No change data feed, and the statement that switches it on:")
    for each in can:
        click.echo(f"  {each.name}: {switch_on_statement(client, each.table).sql}")
    if can:
        click.echo(_COSTS)
    if cannot:
        click.echo("Left as it is:")
    for each in cannot:
        click.echo(f"  {each.name}: {each.reason}. What to do: {each.way_out}.")


def _is_confirmed(count: int) -> bool:
    if not _is_terminal():
        click.echo("Nothing was changed: `idivm doctor --fix --yes` runs these statements.")
        return False
    return click.confirm(f"Run {'this statement' if count == 1 else f'these {count} statements'}?")


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
