"""Making the class archive (`archive.py`): a Spark is started that writes it when it ends.

It takes about half a minute, and 200 MB in the user's cache folder. It saves about four seconds of every dbt command (measured on
two cores).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dbt.adapters.idivm.archive import class_archive
from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.embedded import new_session

# Statements similar to those of a refresh, so that the archive contains their classes.
TRAINING = (
    "create schema if not exists main",
    "create table main.t using delta tblproperties ('delta.enableChangeDataFeed' = 'true') as select id, 'a' as s from range(9)",
    "create table main.v using delta as select s, sum(id) as n from main.t group by s",
    "update main.t set s = 'b' where id = 3",
    "merge into main.v as t using (select s, count(*) as n from table_changes('main.t', 1, 1) group by s) as d on t.s <=> d.s "
    "when matched then update set t.n = d.n when not matched then insert *",
    "describe history main.v limit 1",
    "describe detail main.v",
    "show table extended in main like '*'",
    "show tblproperties main.v",
    "select /*+ BROADCAST(v) */ count(*) from main.t version as of 0 as t join main.v as v on t.s = v.s",
)


def make_archive(jars: Sequence[str]) -> Path | None:
    """Make the archive in a separate process, unless it exists. Returns its path; None if the JVM did not write it."""
    archive = class_archive(jars)
    if archive.exists():
        return archive
    archive.parent.mkdir(parents=True, exist_ok=True)
    draft = archive.with_suffix(f".{os.getpid()}.draft")
    with tempfile.TemporaryDirectory(prefix="idivm-") as folder:
        subprocess.run([sys.executable, "-m", __name__, str(draft), folder], capture_output=True, check=False)
    if not draft.exists():
        return None
    draft.rename(archive)
    return archive


def _train(draft: str, folder: str) -> None:
    """Start Spark, run the statements, and wait for the JVM, which writes the archive when it ends."""
    from pyspark import SparkContext

    options = {"spark.driver.extraJavaOptions": f"-XX:ArchiveClassesAtExit={draft}"}
    credentials = IdivmCredentials(database=None, schema="main", server_side_parameters=options)
    credentials.resolve_paths(folder)
    session = new_session(credentials)
    for statement in TRAINING:
        session.sql(statement).collect()
    gateway = SparkContext._gateway
    assert gateway is not None
    jvm = gateway.proc
    session.stop()
    jvm.stdin.close()
    jvm.wait(timeout=120)


if __name__ == "__main__":
    _train(*sys.argv[1:])
