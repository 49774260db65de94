"""`docs/packages.md`, made from the verdicts on packages: `python -m tests.packages.table` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.packages.catalogue import NOT_RUN, PACKAGES, Package

VERDICTS = Path(__file__).parent / "verdicts"
PAGE = Path(__file__).parents[2] / "docs" / "packages.md"
HEAD = """# Packages

`make packages` installs each of these packages unmodified, gives all its models `materialized: idivm`, loads the seeds of the
package's own tests, and changes all of them in three mixed batches: rows of every source are deleted, updated and inserted.
After each run each model equals its SELECT, except those that read the clock or use random values. These are rebuilt every time
(`volatile: full`). This page is made from what the last run found (`python -m tests.packages.table`).

A share is that of the refreshes after a change that were incremental, or had nothing to do."""
NOT_RUN_HEAD = """## Packages that are not run

These packages were read, and `dbt parse` was tried with type `idivm`. How their models would be maintained is what
`idivm explain --project` says. Spark did not run: where a macro asked for the columns of a model, it got those of its SELECT.

| package | version | parses | why it is not run |
|---|---|---|---|"""


def page() -> str:
    lines = [HEAD, "", "| package | version | models | refreshes | share | rebuilt | failed |", "|---|---|---|---|---|---|---|"]
    found = {package: yaml.safe_load(_file(package).read_text()) for package in PACKAGES if _file(package).exists()}
    lines += [_row(package, verdict) for package, verdict in found.items()]
    for package, verdict in found.items():
        lines += ["", f"## {package.name}", "", *_reasons(verdict)]
    lines += ["", NOT_RUN_HEAD]
    lines += [f"| {each.name} | {each.version} | {'yes' if each.parses else 'no'} | {each.why} |" for each in NOT_RUN]
    return "\n".join([*lines, ""])


def _file(package: Package) -> Path:
    return VERDICTS / f"{package.name}.yml"


def _row(package: Package, verdict: dict[str, Any]) -> str:
    counts = verdict["refreshes"]
    after = sum(number for mode, number in counts.items() if mode != "create")
    share = (counts.get("incremental", 0) + counts.get("noop", 0)) / after if after else 0
    rebuilt, failed = (sum(map(len, verdict[kind].values())) for kind in ("rebuilt", "failed"))
    cells = [package.name, package.version, counts.get("create", 0), after, f"{share:.0%}", rebuilt, failed]
    return f"| {' | '.join(map(str, cells))} |"


def _reasons(verdict: dict[str, Any]) -> list[str]:
    listed = [(kind, reason, names) for kind in ("rebuilt", "failed") for reason, names in verdict[kind].items()]
    lines = [
        f"- {kind}, [{reason}](errors/{reason}.md): {', '.join(f'`{name}`' for name in names)}"
        if reason.startswith("IDIVM-")
        else f"- {kind}, {reason}: {', '.join(f'`{name}`' for name in names)}"
        for kind, reason, names in listed
    ]
    if verdict["skipped"]:
        lines.append(f"- skipped, because they read a model that failed: {', '.join(f'`{name}`' for name in verdict['skipped'])}")
    return lines or ["Every refresh is incremental."]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
