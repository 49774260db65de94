"""The `config()` of a model: which of its settings an adopted model has, and the edits that make it so."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dbt_idivm.tools.adopt.edits import Edit
from dbt_idivm.tools.adopt.strip import Obstacle
from dbt_idivm.tools.adopt.template import Block, Conditional, Piece, Tag, Token, code, line_of, tags

ADOPTED = ("incremental", "table", "view")
IDIVM = "idivm"
CALL = "config"
UNKNOWN = object()  # a value that is an expression
_SELECT = "a refresh derives from the SELECT which rows change"
_BATCH = "there are no batches: a refresh reads what changed in the inputs"
_MERGE = "the MERGE of a refresh is derived from the SELECT"
# Settings of incremental models that have no meaning for a maintained one, and why
WITHOUT_MEANING = {
    "incremental_strategy": _SELECT,
    "merge_update_columns": f"{_MERGE}, and each column has the value that the SELECT gives it",
    "merge_exclude_columns": f"{_MERGE}, and each column has the value that the SELECT gives it",
    "merge_update_set_expressions": _MERGE,
    "incremental_predicates": f"{_MERGE}, and it finds each row that changes",
    "predicates": f"{_MERGE}, and it finds each row that changes",
    "batch_size": _BATCH,
    "begin": _BATCH,
    "lookback": _BATCH,
    "concurrent_batches": _BATCH,
    "event_time": _BATCH,
    "merge_with_schema_evolution": "the columns are always those of the SELECT",
    "not_matched_by_source_action": "a refresh deletes the rows that leave the SELECT",
    "not_matched_by_source_condition": "a refresh deletes the rows that leave the SELECT",
    "matched_condition": _MERGE,
    "not_matched_condition": _MERGE,
    "skip_matched_step": _MERGE,
    "skip_not_matched_step": _MERGE,
    "source_alias": _MERGE,
    "target_alias": _MERGE,
}
UNIQUE_KEY, SCHEMA_CHANGE, MATERIALIZED = "unique_key", "on_schema_change", "materialized"


@dataclass(frozen=True)
class Argument:
    """`name=value` of a call, with the place of all of it and of its value. `value`: UNKNOWN for an expression."""

    name: str
    start: int
    end: int
    value_start: int
    text: str
    value: Any


@dataclass(frozen=True)
class Setting:
    """What becomes of a setting, in a word, and why."""

    name: str
    text: str
    becomes: str
    why: str


@dataclass(frozen=True)
class Configured:
    """The edits of the `config()` calls, what becomes of their settings, and what stands against it. `is_here`: whether the file
    says the materialization; otherwise a properties file or the project does."""

    edits: tuple[Edit, ...]
    settings: tuple[Setting, ...]
    obstacles: tuple[Obstacle, ...]
    arguments: tuple[Argument, ...]
    is_here: bool


def configured(text: str, pieces: tuple[Piece, ...], removed: Callable[[Argument], str | None], is_elsewhere: bool) -> Configured:
    """What the `config()` calls of a file become. `removed`: why a setting is removed, None if it stays. `is_elsewhere`: whether
    a properties file says the materialization, which is then not added here."""
    calls = [each for each in tags(pieces) if not each.word and is_config(each)]
    within = {id(each) for piece in pieces if isinstance(piece, Conditional | Block) for each in tags((piece,))}
    found: list[Argument] = []
    edits: list[Edit] = []
    obstacles: list[Obstacle] = []
    for call in calls:
        line = line_of(text, call.start)
        if id(call) in within:
            obstacles.append(Obstacle(line, "config() is inside of a condition or a loop", "move it out of that"))
            continue
        arguments = tuple(_arguments(call, text))
        if any(not each.name for each in arguments):
            obstacles.append(
                Obstacle(line, "config() has something else than `name=value`", "write its settings as `name=value`")
            )
            continue
        found += arguments
        edits += _without(arguments, {each.name for each in arguments if removed(each) is not None})
    kinds = [each for each in found if each.name == MATERIALIZED]
    for each in kinds:
        if each.value not in ADOPTED:
            problem = f"`{each.name}={each.text}` is not one of {', '.join(ADOPTED)}"
            obstacles.append(Obstacle(line_of(text, each.start), problem, "write one of these words in quotes"))
        quote = each.text[:1] if each.text[:1] in "'\"" else "'"
        edits.append(Edit(each.value_start, each.end, f"{quote}{IDIVM}{quote}"))
    if not kinds and not obstacles and not is_elsewhere:
        is_alone = bool(calls) and all(removed(each) is not None for each in _arguments(calls[0], text))
        edits.append(_added(text, calls, is_alone))
    settings = [_setting(each, removed(each)) for each in found if each.name != MATERIALIZED and _is_shown(each, removed(each))]
    return Configured(tuple(edits), tuple(settings), tuple(obstacles), tuple(found), bool(kinds))


def is_config(tag: Tag) -> bool:
    """Whether an output is a call of `config`, and nothing else."""
    return [each.text for each in tag.tokens[:2]] == [CALL, "("]


def _is_shown(each: Argument, why: str | None) -> bool:
    return why is not None or each.name == UNIQUE_KEY


def _setting(each: Argument, why: str | None) -> Setting:
    if why is not None:
        return Setting(each.name, each.text, "removed", why)
    return Setting(each.name, each.text, "kept", "it is checked when the table is built, and the build fails if it does not hold")


def _arguments(call: Tag, text: str) -> Iterator[Argument]:
    """The arguments of a call. One without a name has the name ""."""
    inside: list[Token] = []
    for token in call.tokens[2:]:
        if token.depth == 0 or (token.depth == 1 and token.text == ","):
            if inside:
                yield _argument(tuple(inside), text)
            inside = []
            if token.depth == 0:
                return
        else:
            inside.append(token)


def _argument(tokens: tuple[Token, ...], text: str) -> Argument:
    has_name = len(tokens) > 2 and tokens[0].kind == "name" and tokens[1].text == "="
    value = tokens[2:] if has_name else tokens
    written = code(value, text)
    name = tokens[0].text if has_name else ""
    return Argument(name, tokens[0].start, tokens[-1].end, value[0].start, written, _constant(written))


def _constant(written: str) -> Any:
    """The value of a literal; UNKNOWN for anything else."""
    try:
        return ast.literal_eval({"true": "True", "false": "False", "none": "None"}.get(written, written))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return UNKNOWN


def _without(arguments: tuple[Argument, ...], names: set[str]) -> Iterator[Edit]:
    """The edits that remove arguments with the commas that belong to them; the last kept one gets none."""
    kept = [number for number, each in enumerate(arguments) if each.name not in names]
    for number, each in enumerate(arguments):
        if each.name not in names:
            continue
        if kept and number > kept[-1]:
            yield Edit(arguments[kept[-1]].end, arguments[-1].end)
            return
        yield Edit(each.start, arguments[number + 1].start if number + 1 < len(arguments) else each.end)


def _added(text: str, calls: list[Tag], is_alone: bool) -> Edit:
    """Say the materialization in the first `config()`, or in a new one at the beginning of the file. `is_alone`: whether nothing
    else is left in it."""
    said = f"{MATERIALIZED}='{IDIVM}'"
    if not calls:
        begin = 1 if text.startswith("\ufeff") else 0
        return Edit(begin, begin, f"{{{{ {CALL}({said}) }}}}\n\n")
    opening, first = calls[0].tokens[1], calls[0].tokens[2]
    if is_alone:
        return Edit(opening.end, opening.end, said)
    between = text[opening.end : first.start]
    return Edit(opening.end, opening.end, f"{between}{said},{'' if between else ' '}")
