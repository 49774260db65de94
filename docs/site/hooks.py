"""What the site needs besides the pages of docs/: files of the repository that they link to, and Markdown as GitHub reads it.

The pages are written for GitHub. Python-Markdown, which makes the site, needs a blank line before a list and four spaces before
what is nested in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
# The folder of the site with the files from outside of docs/.
SOURCE = "source"
UNSEARCHED = "---\nsearch: {exclude: true}\n---\n\n"
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")
ITEM = re.compile(r" *(?:[-*]|\d+\.) +")
FENCE = re.compile(r" *(```+|~~~+)")
PICTURE = re.compile(r'<picture>\s*<source [^>]*srcset="([^"]+)">\s*<img alt="([^"]+)" src="([^"]+)">\s*</picture>')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each file outside of docs/ that a page links to, and for those that such a page links to."""
    todo = [page.relative_to(ROOT).as_posix() for page in DOCS.rglob("*.md")]
    seen = set(todo)
    while todo:
        for target in _linked(todo.pop()):
            if target not in seen and not target.startswith("docs/") and (ROOT / target).is_file():
                seen.add(target)
                files.append(File.generated(config, _page_of(target), content=_text(target)))
                todo += [target] if target.endswith(".md") else []
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page's text for Python-Markdown. Its links to files outside of docs/ lead to the pages that have been added."""
    pictures = PICTURE.sub(r"![\2](\3#only-light)\n![\2](\1#only-dark)", markdown)  # as the reader has chosen on the site
    return "\n".join(spaced(_relinked(pictures, page.file.src_uri).splitlines()))


def _relinked(markdown: str, here: str) -> str:
    """`here`: the page's path in the site."""
    place = here.removeprefix(f"{SOURCE}/") if here.startswith(f"{SOURCE}/") else f"docs/{here}"

    def moved(found: re.Match[str]) -> str:
        target = normpath(join(dirname(place), found[1]))
        target = f"{target}/README.md" if (ROOT / target).is_dir() else target
        return f"]({relpath(_page_of(target), dirname(here) or '.')}{found[2] or ''})"

    return LINK.sub(moved, markdown)


def _linked(page: str) -> Iterator[str]:
    """The files that a page links to. They and `page` are paths below the project."""
    for found in LINK.finditer((ROOT / page).read_text(encoding="utf-8")):
        yield normpath(join(dirname(page), found[1]))


def _page_of(target: str) -> str:
    """The path in the site of a file, which is a path below the project."""
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    return f"{SOURCE}/{target}" if target.endswith(".md") else f"{SOURCE}/{target}.md"


def _text(target: str) -> str:
    text = (ROOT / target).read_text(encoding="utf-8")
    kind = PurePosixPath(target).suffix.removeprefix(".")
    return text if kind == "md" else f"{UNSEARCHED}# {target}\n\n````{kind}\n{text.rstrip()}\n````\n"


def spaced(lines: list[str]) -> Iterator[str]:
    """The lines, with a blank line before each list and four spaces for each level of what is nested."""
    open_items: list[int] = []  # the columns at which their texts begin
    fence, before = "", ""
    for line in lines:
        mark, item = FENCE.match(line), None if fence else ITEM.match(line)
        indent, depth = len(line) - len(line.lstrip(" ")), len(open_items)
        if line.strip() and not fence and (item or mark or not before.strip() or line.startswith(("#", "|"))):
            while open_items and indent < open_items[-1]:
                open_items.pop()
        if item and before.strip() and len(open_items) == depth:  # the first one of its list
            yield ""
        nested = line[min(indent, open_items[-1] if open_items else 0) :]
        yield f"{'    ' * len(open_items)}{nested}" if line.strip() else ""
        if item:
            open_items.append(item.end())
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        before = line
