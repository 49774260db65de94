"""The embedded Spark: one JVM per process, started at the first statement, with one session per connection.

No output of Spark, Hive, Derby or the JVM reaches the console: it is written to files in the state folder.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm.archive import class_archive
from dbt.adapters.idivm.extras import install_advice, missing_module
from dbt.adapters.idivm.jars import are_resolved, delta_jars
from dbt.adapters.idivm.java import check_java
from dbt.adapters.idivm.lock import hold_lock
from dbt.adapters.idivm.spark_handle import quiet_pyspark
from dbt.adapters.idivm.state_folder import make_state_folder

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    from dbt.adapters.idivm.credentials import IdivmCredentials

__all__ = ["check_java", "new_session", "resolve_jars", "start", "starting"]

logger = AdapterLogger("Idivm")
_starting = threading.Lock()

DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"

# For small data on one machine: few partitions, no web server, no look-up of the host name.
SMALL_AND_LOCAL = {
    "spark.app.name": "dbt-idivm",
    "spark.master": "local[*]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",  # for VACUUM, which uses 10,000 tasks by default
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
    "spark.hadoop.hive.metastore.schema.verification": "false",
    "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
}

# The same as Spark's `spark.redaction.regex`.
SECRET = re.compile(r"secret|password|token|access[.]?key", re.IGNORECASE)

LOG4J = """\
status = error
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{HH:mm:ss}} %p %c{{1}}: %m%n%ex
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
"""


def new_session(credentials: IdivmCredentials) -> SparkSession:
    """A new session. It shares catalog and engine with the others, but neither settings nor temporary views."""
    session = start(credentials).newSession()
    for key, value in credentials.server_side_parameters.items():
        # A Spark that somebody else started lacks these; static settings cannot be changed any more.
        if session.conf.isModifiable(key) and session.conf.get(key, None) != value:
            session.conf.set(key, value)
    return session


def start(credentials: IdivmCredentials) -> SparkSession:
    """The process's Spark: the active one if there is one, else a new one with the profile's settings."""
    with _starting:
        if missing_module("pyspark"):
            raise DbtRuntimeError(f"The embedded Spark needs the package pyspark. {install_advice('pyspark')}")
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        if SparkContext._active_spark_context is not None:
            return _checked(SparkSession.builder.getOrCreate())
        return _launch(credentials)


def starting() -> str:
    """What is said when a Spark starts. Raises DbtRuntimeError if pyspark or delta-spark is not installed."""
    return "Starting Spark (15 to 25 s)" if are_resolved() else "Downloading the Delta JARs, once, and starting Spark"


def resolve_jars(credentials: IdivmCredentials | None = None) -> list[str]:
    """The paths of the Delta JARs. They are downloaded if they are not on this machine yet."""
    return delta_jars(credentials.server_side_parameters if credentials else {})


def _checked(session: SparkSession) -> SparkSession:
    if session.conf.get("spark.sql.catalog.spark_catalog", None) != DELTA_CATALOG:
        raise DbtRuntimeError(
            "The active Spark session has no Delta: start it with spark.sql.extensions="
            f"{SMALL_AND_LOCAL['spark.sql.extensions']} and spark.sql.catalog.spark_catalog={DELTA_CATALOG}."
        )
    return session


def _launch(credentials: IdivmCredentials) -> SparkSession:
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    check_java()
    quiet_pyspark()
    # Spark's Python workers must run this Python version; pyspark would take the first python3 on PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    state_dir = credentials.state_folder
    make_state_folder(state_dir)
    jars = resolve_jars(credentials)
    lock = hold_lock(state_dir) if credentials.catalog == "hive" else None
    conf = _spark_conf(credentials, state_dir, jars)
    try:
        with open(state_dir / "jvm.log", "w") as log:
            inherited = {"stdout": log, "stderr": subprocess.STDOUT}
            # The JVM holds the lock as well, because it ends a little later than this process.
            gateway = launch_gateway(_shown(conf), {**inherited, "pass_fds": [lock] if lock is not None else []})
            SparkContext._ensure_initialized(gateway=gateway, conf=conf)
        return SparkSession.builder.config(conf=conf).getOrCreate()
    except Exception as failure:
        if lock is not None:
            os.close(lock)
        raise DbtRuntimeError(f"Spark did not start: {failure}. Its log: {state_dir}/jvm.log") from failure


def _spark_conf(credentials: IdivmCredentials, state_dir: Path, jars: list[str]) -> SparkConf:
    """All settings of a new Spark. `server_side_parameters` of the profile override the defaults here."""
    from pyspark import SparkConf

    given = dict(credentials.server_side_parameters)
    settings = {
        **SMALL_AND_LOCAL,
        "spark.driver.memory": credentials.driver_memory,
        "spark.sql.catalogImplementation": credentials.catalog,
        "spark.sql.warehouse.dir": _warehouse(credentials, state_dir),
        "spark.hadoop.javax.jdo.option.ConnectionURL": _metastore_url(state_dir),
        **given,
        "spark.driver.extraClassPath": os.pathsep.join([*jars, *_given(given, "spark.driver.extraClassPath")]),
        "spark.driver.extraJavaOptions": " ".join(
            [*_java_options(credentials, state_dir, jars), *_given(given, "spark.driver.extraJavaOptions")]
        ),
    }
    return SparkConf(loadDefaults=False).setAll(list(settings.items()))


def _shown(conf: SparkConf) -> SparkConf:
    """The settings for the JVM's command line, which is visible to all users. Secret ones are passed to the context later."""
    from pyspark import SparkConf

    return SparkConf(loadDefaults=False).setAll([(key, value) for key, value in conf.getAll() if not SECRET.search(key)])


def _given(settings: dict[str, str], key: str) -> list[str]:
    return [settings[key]] if settings.get(key) else []


def _metastore_url(state_dir: Path) -> str:
    return f"jdbc:derby:;databaseName={state_dir}/metastore_db;create=true"


def _warehouse(credentials: IdivmCredentials, state_dir: Path) -> str:
    """The folder of tables. It is temporary for the in-memory catalog, which loses its tables when the process ends."""
    if credentials.warehouse_dir:
        return credentials.warehouse_dir
    if credentials.catalog == "hive":
        return str(state_dir / "warehouse")
    folder = tempfile.mkdtemp(prefix="warehouse-", dir=state_dir)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _java_options(credentials: IdivmCredentials, state_dir: Path, jars: list[str]) -> list[str]:
    log4j = state_dir / "log4j2.properties"
    log4j.write_text(LOG4J.format(log=state_dir / "spark.log"))
    archive = class_archive(jars)
    return [
        *([f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []),
        # The default heap starts small and grows late, and its concurrent collector takes a fifth of the total time.
        "-XX:+UseParallelGC",
        f"-Xms{credentials.driver_memory}",
        f"-Dlog4j2.configurationFile=file:{log4j}",
        f"-Dderby.stream.error.file={state_dir / 'derby.log'}",
        "-Duser.timezone=UTC",
    ]
