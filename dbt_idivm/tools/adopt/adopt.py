"""A model as a maintained one: the new text of its file, what becomes of its settings, and what stands against it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dbt_idivm.artifacts import Node
from dbt_idivm.declared_keys import KeyIndex
from dbt_idivm.errors import listed
from dbt_idivm.tools.adopt.batches import Batches
from dbt_idivm.tools.adopt.conditions import INCREMENTAL, THIS
from dbt_idivm.tools.adopt.config_call import (
    IDIVM,
    MATERIALIZED,
    SCHEMA_CHANGE,
    UNIQUE_KEY,
    UNKNOWN,
    WITHOUT_MEANING,
    Argument,
    Configured,
    Setting,
    configured,
)
from dbt_idivm.tools.adopt.edits import edited
from dbt_idivm.tools.adopt.hidden import hidden_questions, may_ask, writing_hooks
from dbt_idivm.tools.adopt.missed import is_latest_of_key, missed
from dbt_idivm.tools.adopt.old import Old, names, old
from dbt_idivm.tools.adopt.strip import Obstacle, stripped
from dbt_idivm.tools.adopt.template import TemplateError, tags, template

Removed = Callable[[Argument], str | None]
_COLUMN = re.compile(r"\w+$")


@dataclass(frozen=True)
class Adoption:
    """`before` and `after`: the text of the file. It is complete if there are no `obstacles`: then `after` is the model to have.
    `is_same_select`: nothing of the SELECT depends on the kind of the run, so that it is compiled to what it was before.
    `missed`: what the incremental logic misses, as sentences. `notes`: what else to know."""

    model: str
    unique_id: str
    file: str
    old: Old
    before: str
    after: str
    is_same_select: bool
    settings: tuple[Setting, ...]
    obstacles: tuple[Obstacle, ...]
    notes: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        return not self.obstacles

    @property
    def diff(self) -> str:
        """A unified diff of the file, with paths as git has them; "" if nothing changes."""
        lines = difflib.unified_diff(_lines(self.before), _lines(self.after), f"a/{self.file}", f"b/{self.file}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def adoption(node: Node, name: str, text: str, manifest: Node, properties: Node | None = None) -> Adoption:
    """Adopt one model. `text`: the content of its file. `properties`: its entry in a properties file, if it has one.

    Raises TemplateError if the text is no template, or mixes the ends of its lines.
    """
    inside = text.replace("\r\n", "\n")
    if "\r" in inside or ("\r\n" in text and text.count("\r\n") != text.count("\n")):
        raise TemplateError(1, "the file mixes the ends of its lines (CR, LF and CRLF): use one kind of them")
    pieces = template(inside)
    nodes = {**manifest.get("nodes", {}), **manifest.get("sources", {})}
    found = stripped(inside, pieces)
    macros = manifest.get("macros") or {}
    asks = any({INCREMENTAL, THIS} & each.names for each in tags(pieces)) or bool(found.edits)
    has_filter = asks or may_ask(node, macros, inside)
    was = old(node, nodes, manifest["metadata"].get("adapter_type"), has_filter, Batches.of(inside, pieces))
    tested = {tuple(map(str.lower, each.columns)) for each in KeyIndex(manifest).declared(node)}
    is_read = _is_read_in_batches(node, nodes)

    def removed(argument: Argument) -> str | None:
        return _why_removed(argument, was, tested, is_read)

    config = (properties or {}).get("config")
    config = config if isinstance(config, Mapping) else {}
    calls = configured(inside, pieces, removed, is_elsewhere=MATERIALIZED in config)
    after = edited(inside, (*found.edits, *calls.edits))
    obstacles_there = () if calls.is_here else tuple(_in_properties(node, config, removed))
    hidden, hints = hidden_questions(node, macros, after)
    obstacles = (*found.obstacles, *calls.obstacles, *obstacles_there, *hidden, *writing_hooks(node))
    notes = (*found.notes, *hints, *_left(node, calls, was))
    return Adoption(
        name,
        str(node["unique_id"]),
        str(node.get("original_file_path") or ""),
        was,
        text,
        after.replace("\n", "\r\n") if "\r\n" in text else after,
        not has_filter and was.strategy != "microbatch",  # dbt filters its inputs
        calls.settings,
        obstacles,
        notes,
        missed(was),
    )


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").splitlines(keepends=True)


def _why_removed(argument: Argument, was: Old, tested: set[tuple[str, ...]], is_read_in_batches: bool) -> str | None:
    """Why a setting of `config()` is removed; None if it stays."""
    if argument.name == UNIQUE_KEY:
        return _why_no_key(argument.value, was, tested)
    if argument.name == SCHEMA_CHANGE:
        return None if argument.value == "fail" else "the columns are always those of the SELECT"
    if argument.name == "event_time" and is_read_in_batches:
        return None
    return WITHOUT_MEANING.get(argument.name)


def _why_no_key(value: Any, was: Old, tested: set[tuple[str, ...]]) -> str | None:
    """Why `unique_key` is removed. It stays where the model's rows had one row for each key, or are said to have."""
    columns = names(value)
    if tuple(map(str.lower, columns)) in tested:
        return None
    if value is not UNKNOWN and not (columns and all(map(_COLUMN.match, columns))):
        return "it is not a list of columns, which could be checked"
    if was.strategy == "merge":
        return None
    if was.strategy == "delete+insert":
        return "delete+insert does not need it to be unique, and no test or constraint says that it is"
    return "this strategy does not use it, and no test or constraint says that it is unique"


def _is_read_in_batches(node: Node, nodes: Mapping[str, Node]) -> bool:
    """Whether a microbatch model reads this one: it filters it by its `event_time`."""
    return any(
        node["unique_id"] in ((each.get("depends_on") or {}).get("nodes") or ())
        and each["config"].get("incremental_strategy") == "microbatch"
        for each in nodes.values()
        if each.get("resource_type") == "model"
    )


def _in_properties(node: Node, config: Mapping[str, Any], removed: Removed) -> Iterator[Obstacle]:
    """What to change in a properties file that says the materialization."""
    kind = config.get(MATERIALIZED)
    if kind is None:
        return
    gone = [f"`{name}`" for name, value in config.items() if removed(Argument(name, 0, 0, 0, str(value), value)) is not None]
    file = str(node.get("patch_path") or "").partition("://")[2] or "a properties file"
    also = f", remove {', '.join(gone)}" if gone else ""
    do = (
        f"there, below `{node['name']}`, write `materialized: {IDIVM}` instead of `materialized: {kind}`{also}, and change the "
        "model's file as shown here"
    )
    yield Obstacle(None, f"its materialization is given in {file}", do)


def _left(node: Node, calls: Configured, was: Old) -> Iterator[str]:
    """What to know of settings that the file does not contain, and of a key that stays."""
    here = {each.name for each in calls.arguments}
    given = node.get("unrendered_config", node["config"])  # `config` also has dbt's defaults
    others = sorted(name for name in WITHOUT_MEANING if given.get(name) is not None and name not in here)
    if others:
        yield f"{listed(others)} of a properties file or of dbt_project.yml: without meaning now, remove it there"
    if node["config"].get(UNIQUE_KEY) and UNIQUE_KEY not in here:
        yield "`unique_key` of a properties file or of dbt_project.yml stays, and is checked when the table is built"
    kept = any(each.name == UNIQUE_KEY and each.becomes == "kept" for each in calls.settings)
    if kept and was.strategy == "merge" and not any(is_latest_of_key(each, was) for each in _windows(was)):
        yield (
            "the MERGE keeps the row that came last for each `unique_key`. If the inputs have several rows for one key, such as "
            "a log of versions, the SELECT has to choose one: `row_number() over (partition by … order by … desc) = 1`"
        )
    if node["config"].get("full_refresh") is False:
        yield "`full_refresh: false` stays: --full-refresh does not rebuild the table"


def _windows(was: Old) -> Iterator[exp.Window]:
    return was.batches.query.find_all(exp.Window) if was.batches is not None else iter(())
