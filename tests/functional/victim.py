"""A process that recovers from the kill before, and runs dbt until it is killed: `python -m tests.functional.victim <file>`.

The file holds a `Round` as JSON. What happens goes to stdout as lines that begin with `@`, each at once: whoever kills
this process wants to know where it is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_idivm.errors import IdivmError
from tests.functional.project import Project

SCHEMA = "kills"
BROKE_OFF = "IDIVM-904"
NO_INPUT = {"IDIVM-301", "IDIVM-310"}  # an input is not there, or is another table by now
OUTRUN = "IDIVM-903"
PATIENCE = 5  # tries, a few seconds apart, while a server may still be busy with what it was sent


@dataclass
class Round:
    """What one process does: `recovery` is the dbt command that makes all models current, whatever was before; after it
    come `changes`, `files` (new texts of models), and `command`, which is to be killed.

    `server` is the profile's part about a server, None means embedded. `setup` makes the sources, in the first process of a
    project; `absent` are the models that may be missing before the recovery.
    """

    folder: str
    server: dict[str, Any] | None
    sources: list[str]
    models: list[str]
    setup: list[str]
    absent: list[str]
    recovery: list[str]
    changes: list[str]
    files: dict[str, str]
    command: list[str]


def say(what: str, **more: Any) -> None:
    # one write: two threads speak
    sys.stdout.write("@" + json.dumps({"what": what, **more}) + "\n")
    sys.stdout.flush()


def session(given: Round) -> Any:
    """A session apart from dbt's, embedded in the same Spark."""
    if given.server is not None:
        from tests.servers import session_of

        return session_of(given.server)
    from pyspark import SparkContext

    from dbt.adapters.idivm.credentials import IdivmCredentials
    from dbt.adapters.idivm.embedded import new_session

    credentials = IdivmCredentials(database=None, schema=SCHEMA, driver_memory="1g")
    credentials.resolve_paths(given.folder)
    found = new_session(credentials)
    say("jvm", pid=SparkContext._gateway.proc.pid)
    return found


def dbt(given: Round, command: list[str], watch: Callable[[Any], None] | None = None) -> Any:
    from dbt.cli.main import dbtRunner

    folders = ["--project-dir", given.folder, "--profiles-dir", given.folder, "--target-path", f"{given.folder}/target"]
    return dbtRunner(callbacks=[watch] if watch else []).invoke([*command, *folders, "--quiet", "--no-use-colors"])


def look_at_what_is_there(given: Round, project: Project) -> None:
    """Each view equals its query at the versions that it records, or is in the middle of a rebuild, or an input of it is."""
    existing = project.relations()
    for name in given.models:
        if name not in existing:
            assert name in given.absent, f"{name} is gone"
            say("gone", model=name)
            continue
        try:
            wrong = settled(lambda name=name: project.differences(project.model(name, "")))  # type: ignore[misc]
        except IdivmError as error:
            dropped = {*given.absent} & {*given.models} - {name, "flip"}  # the killed run may have built them
            assert error.codes == (BROKE_OFF,) or (set(error.codes) <= NO_INPUT and dropped), str(error)
            say("held", model=name)
        else:
            assert not wrong, f"{name} is wrong: {wrong[:5]}"


def settled(differences: Callable[[], list[Any]]) -> list[Any]:
    """A server may commit between the look at a view's state and that at its rows: what is wrong stays wrong."""
    found = differences()
    for _ in range(PATIENCE):
        if not found:
            return []
        time.sleep(2)
        found = differences()
    return found


def recover(given: Round) -> None:
    """The command makes all models current; a server that is still busy with the former run may outrun it, and it says so."""
    command = given.recovery
    for _ in range(PATIENCE):
        outcome = dbt(given, command)
        if outcome.success:
            return
        failed = {r.node.name: str(r.message) for r in outcome.result.results if str(r.status) == "error"}
        assert given.server is not None and failed, f"{command}: {failed or outcome.exception}"
        assert all(OUTRUN in message for message in failed.values()), failed
        say("outrun", models=sorted(failed))
        command = ["retry"]
        time.sleep(2)
    raise AssertionError(f"{given.recovery} does not recover")


def look_at_what_was_recovered(given: Round, project: Project) -> None:
    """Every view equals its query now, and nothing exists beside sources and models."""
    for name in given.models:
        found = project.differences(project.model(name, ""), "now")
        assert not found, f"{name} is not current: {found[:5]}"
    existing = project.relations()
    hidden = {f"{name}__idivm" for name in given.models if existing[name] == "view"}
    assert set(existing) == {*given.sources, *given.models, *hidden}, f"left behind: {sorted(existing)}"


def watch(event: Any) -> None:
    """dbt's events: the message of a refresh before each statement."""
    message = str(getattr(event.data, "base_msg", ""))
    if message.startswith("idivm "):
        say("statement", label=message.removeprefix("idivm "))


def main(given: Round) -> None:
    project = Project(session(given), SCHEMA)
    project.sql(*given.setup)
    if not given.setup:
        look_at_what_is_there(given, project)
    seconds = -time.monotonic()
    recover(given)
    seconds += time.monotonic()
    look_at_what_was_recovered(given, project)
    say("recovered", seconds=seconds)
    for name, text in given.files.items():
        Path(given.folder, "models", name).write_text(text)
    project.sql(*given.changes)
    say("starts")
    seconds = -time.monotonic()
    outcome = dbt(given, given.command, watch)
    say("ended", success=bool(outcome.success), seconds=seconds + time.monotonic())


if __name__ == "__main__":
    main(Round(**json.loads(Path(sys.argv[1]).read_text())))
    sys.stdout.flush()
    os._exit(0)  # a JVM that is gone keeps py4j waiting
