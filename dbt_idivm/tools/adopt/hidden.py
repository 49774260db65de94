"""What a model's file does not show: macros that ask for the kind of the run, and hooks that write to the model's table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dbt_idivm.artifacts import Node
from dbt_idivm.tools.adopt.conditions import INCREMENTAL, THIS
from dbt_idivm.tools.adopt.strip import Obstacle, stripped
from dbt_idivm.tools.adopt.template import TemplateError, tags, template

_OF_DBT = re.compile(r"dbt(_spark|_databricks|_idivm|_idivm_databricks)?$")
_WRITES = re.compile(
    r"\b(delete\s+from|update|merge\s+into|insert\s+(into|overwrite)(\s+table)?|truncate\s+table)\s+\{\{-?\s*this\b",
    re.IGNORECASE,
)


def hidden_questions(node: Node, macros: Mapping[str, Node], after: str) -> tuple[tuple[Obstacle, ...], tuple[str, ...]]:
    """Macros that the new text `after` still calls, and that ask for the kind of the run or read the model's own rows.

    Obstacles, and notes about those that only ask is_incremental(). The macros of dbt and of adapters are left out.
    """
    obstacles, notes = list[Obstacle](), list[str]()
    for macro in _called(node, macros, _words(after)):
        where = f"the macro `{macro.get('name')}` ({macro.get('original_file_path')})"
        text = str(macro.get("macro_sql") or "")
        if str(macro.get("name")).endswith(INCREMENTAL):
            problem = "is the project's own `is_incremental`"
            obstacles.append(Obstacle(None, f"{where} {problem}", "make sure that it is false for a model of type idivm"))
            continue
        try:
            pieces = template(text.replace("\r\n", "\n"))
            asked = frozenset(name for each in tags(pieces) for name in each.names) & {INCREMENTAL, THIS}
            stops = stripped(text.replace("\r\n", "\n"), pieces).obstacles if asked else ()
        except TemplateError:
            asked, stops = frozenset(), ()
        if stops:
            do = "write what it gives in a full build into the model, instead of its call"
            obstacles.append(Obstacle(None, f"{where} reads the model's own rows: {stops[0].problem}", do))
        elif asked:
            notes.append(
                f"{where} asks is_incremental(), which is false in an idivm model: it gives what it gives in a full build"
            )
    return tuple(obstacles), tuple(notes)


def may_ask(node: Node, macros: Mapping[str, Node], text: str) -> bool:
    """Whether a macro that the text calls asks for the kind of the run or reads the model's own rows, or is not known."""
    is_known = all(name in macros or name.split(".")[1:2] == ["dbt"] for name in _calls(node))
    return not is_known or any(
        re.search(rf"\b({INCREMENTAL}|{THIS})\b", str(macro.get("macro_sql"))) for macro in _called(node, macros, _words(text))
    )


def _words(text: str) -> frozenset[str]:
    """All names in the Jinja of a text."""
    try:
        return frozenset(token.text for each in tags(template(text)) for token in each.tokens)
    except TemplateError:
        return frozenset()


def _called(node: Node, macros: Mapping[str, Node], words: frozenset[str]) -> Iterator[Node]:
    """The macros that a text with these names calls, directly or not, without those of dbt and of adapters."""
    left = [name for name in _calls(node) if str(macros.get(name, {}).get("name")) in words]
    seen = set[str]()
    while left:
        name = left.pop(0)
        macro = macros.get(name)
        if macro is not None and name not in seen and not _OF_DBT.match(str(macro.get("package_name"))):
            seen.add(name)
            left += _calls(macro)
            yield macro


def _calls(node: Node) -> list[str]:
    return list((node.get("depends_on") or {}).get("macros") or ())


def writing_hooks(node: Node) -> Iterator[Obstacle]:
    """Hooks that write to the model's table: a maintained table has the rows of its SELECT."""
    for name in ("pre-hook", "post-hook", "pre_hook", "post_hook"):
        for hook in node["config"].get(name) or ():
            sql = str(hook.get("sql") if isinstance(hook, Mapping) else hook)
            if _WRITES.search(sql):
                problem = f"a {name.replace('_', '-')} writes to the model's table: `{' '.join(sql.split())[:80]}`"
                yield Obstacle(None, problem, "write what it does into the SELECT, and remove the hook")
