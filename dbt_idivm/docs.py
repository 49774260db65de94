"""Generate the pages under `docs/` whose content is in the code. `python -m dbt_idivm.docs` writes them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from dbt_idivm import running_example
from dbt_idivm.errors import CODES, ErrorCode, Finding
from dbt_idivm.support import as_markdown, support_page

_KINDS = {
    "unsupported": "The query's semantics forbid incremental maintenance.",
    "not yet": "It can be maintained, but a rule is missing.",
    "config": "The model's config is wrong.",
    "model": "The model's SQL is wrong.",
    "source": "An input of the model is missing, or cannot be used.",
    "key": "A declared key does not hold.",
    "full refresh": "Not an error: the reason why a refresh rebuilt the view.",
    "engine": "The engine failed.",
    "internal": "A bug of dbt-idivm.",
}


def error_pages() -> Mapping[str, str]:
    """Path below the project → text, for the page of each code and the list of all codes."""
    pages = {entry.page: as_markdown(code_page(entry)) for entry in CODES}
    return {"docs/errors/README.md": _index(), **pages}


def code_page(entry: ErrorCode) -> str:
    """What a code means, why it is given, and what to do: Markdown."""
    shown = Finding(entry, {})
    roadmap = f"\n\nOn the roadmap as: **{entry.roadmap}**." if entry.roadmap else ""
    return (
        f"# {entry.code}: {shown.title}\n\n*{entry.kind}.* {_KINDS[entry.kind]}\n\n"
        f"**Why.** {_sentence(shown.why)}\n\n**What to do.** {_sentence(shown.do)}{roadmap}\n"
    )


def _index() -> str:
    rows = [f"| [{entry.code}]({entry.code}.md) | {entry.kind} | {as_markdown(Finding(entry, {}).title)} |" for entry in CODES]
    sources = reasons()
    places = [f"| {code} | {', '.join(f'`{module}`' for module in sources[code])} |" for code in sorted(sources)]
    return "\n".join(
        (
            *("# Errors and reasons", "", "| code | kind | what |", "|---|---|---|", *rows, ""),
            *("## Where the reasons for a full refresh are found", "", "| code | modules of `dbt_idivm/refresh/` |", "|---|---|"),
            *(*places, ""),
        )
    )


def reasons() -> Mapping[str, tuple[str, ...]]:
    """Code of a reason for a full refresh → the modules below `refresh/` that make a finding with it."""
    folder, found = Path(__file__).parent / "refresh", defaultdict[str, list[str]](list)
    for path in sorted(folder.rglob("*.py")):
        numbers = set(_numbers(ast.parse(path.read_text(encoding="utf-8"))))
        for entry in CODES:
            if entry.kind == "full refresh" and int(entry.code.removeprefix("IDIVM-")) in numbers:
                found[entry.code].append(path.relative_to(folder).as_posix())
    return {code: tuple(modules) for code, modules in found.items()}


def _numbers(tree: ast.AST) -> Iterator[object]:
    """The codes that a module calls `finding` with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "finding":
            yield from (each.value for each in node.args[:1] if isinstance(each, ast.Constant))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def decisions(root: Path) -> str:
    """The list of all decisions: Markdown."""
    found = {path.name: path.read_text(encoding="utf-8").partition("\n")[0] for path in sorted(root.glob("docs/adr/0*.md"))}
    rows = [f"- [{heading.removeprefix('# ')}]({name})" for name, heading in found.items()]
    return "\n".join(("# Decisions", "", "What was decided, why, and what was measured for it.", "", *rows, ""))


def pages(root: Path) -> Mapping[str, str]:
    """Path below the project → text, for every page that is made from the code, wholly or in part."""
    onboarding = (root / "docs/onboarding.md").read_text(encoding="utf-8")
    for name, block in running_example.blocks().items():
        fence = "sql" if block.startswith(("SELECT", "MERGE", "UPDATE")) else ""
        onboarding = with_block(onboarding, name, f"```{fence}\n{block}\n```\n")
    return {
        **error_pages(),
        "docs/support.md": support_page(),
        "docs/adr/README.md": decisions(root),
        "docs/onboarding.md": onboarding,
    }


def with_block(page: str, name: str, block: str) -> str:
    """The page with `block` between the two markers called `name`. Raises ValueError if they are missing."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    if begin not in page or end not in page:
        raise ValueError(f"the page has no place for '{name}'")
    before, _, rest = page.partition(begin)
    return before + begin + block + end + rest.partition(end)[2]


def write(root: Path) -> None:
    """Write all pages below `root`."""
    for name, text in pages(root).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    write(Path(__file__).parent.parent)
