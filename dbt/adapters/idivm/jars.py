"""The Delta JARs for the installed pyspark: resolved once through Spark's own resolver, then passed as files.

Resolving costs a second or two and eighty console lines at every start, and needs the network at the first one. So it is done in
a separate process with captured output. The result is kept in the user's cache folder.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm.extras import install_advice

SCALA = "2.13"
# Settings for the repositories that Spark's resolver uses. They are passed on if the profile sets them.
RESOLVER_CONFS = ("spark.jars.ivySettings", "spark.jars.repositories", "spark.jars.ivy")

# This starts only the gateway, no Spark: spark-submit resolves the packages first and puts the files into `spark.jars`.
RESOLVE = """
import sys
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway
conf = SparkConf(loadDefaults=False)
for pair in sys.argv[1:]:
    conf.set(*pair.split("=", 1))
gateway = launch_gateway(conf)
print("JARS=" + gateway.jvm.System.getProperty("spark.jars"), flush=True)
"""


def delta_coordinates() -> str:
    """`io.delta:delta-spark_4.1_2.13:4.4.0`: since Delta 4.1 the artifact carries Spark's minor version."""
    try:
        spark, delta = version("pyspark"), version("delta-spark")
    except PackageNotFoundError as missing:
        raise DbtRuntimeError(f"The embedded Spark needs the package {missing.name}. {install_advice('pyspark')}") from missing
    minor = "" if delta.startswith("4.0.") else f"_{'.'.join(spark.split('.')[:2])}"
    return f"io.delta:delta-spark{minor}_{SCALA}:{delta}"


def delta_jars(parameters: Mapping[str, str]) -> list[str]:
    """The paths of the JARs for the driver's class path. They are resolved now if that was not done before."""
    coordinates = delta_coordinates()
    memory = _memory_file(coordinates)
    known = _remembered(memory)
    if known is None:
        known = _without_shipped(_resolve(coordinates, parameters))
        memory.parent.mkdir(parents=True, exist_ok=True)
        memory.write_text(json.dumps(known, indent=1))
    return known


def are_resolved() -> bool:
    """Whether the JARs are on this machine, so that no network is needed."""
    return _remembered(_memory_file(delta_coordinates())) is not None


def _memory_file(coordinates: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "dbt-idivm", re.sub(r"[^\w.-]", "_", coordinates) + ".json")


def _remembered(memory: Path) -> list[str] | None:
    """The remembered paths; None if nothing is remembered or a file no longer exists."""
    try:
        jars = json.loads(memory.read_text())
    except (OSError, ValueError):
        return None
    return jars if jars and all(os.path.isfile(jar) for jar in jars) else None


def _resolve(coordinates: str, parameters: Mapping[str, str]) -> list[str]:
    confs = [f"spark.jars.packages={coordinates}"]
    confs += [f"{key}={parameters[key]}" for key in RESOLVER_CONFS if key in parameters]
    answer = subprocess.run([sys.executable, "-c", RESOLVE, *confs], capture_output=True, text=True, check=False)
    found = re.search(r"^JARS=(.+)$", answer.stdout, re.MULTILINE)
    if not found:
        raise DbtRuntimeError(_no_jars(coordinates, answer.stdout + answer.stderr))
    return [jar.removeprefix("file://").removeprefix("file:") for jar in found[1].split(",")]


def _no_jars(coordinates: str, output: str) -> str:
    causes = [line.strip() for line in output.splitlines() if "not found" in line or "unresolved" in line.lower()]
    return (
        f"The Delta JARs ({coordinates}) are not on this machine yet and could not be downloaded "
        f"({causes[0] if causes else 'no answer from the repository'}). Connect once to the network, or point "
        "`spark.jars.ivySettings` or `spark.jars.repositories` under `server_side_parameters` in the profile "
        "to a repository that can be reached; they are kept afterwards. There are JARs for the versions that this "
        f"release asks for; if others are installed: {install_advice('pyspark')}"
    )


def _without_shipped(jars: Iterable[str]) -> list[str]:
    """The JARs that pyspark does not ship itself (hadoop-client, jackson, ..): duplicates slow down
    the start, and the wrong version may win.
    """
    import pyspark

    shipped = {_artifact(jar.name) for jar in Path(pyspark.__file__).parent.joinpath("jars").glob("*.jar")}
    return [jar for jar in jars if _artifact(Path(jar).name.partition("_")[2]) not in shipped]


def _artifact(file_name: str) -> str:
    """`jackson-core-2.18.2.jar` → `jackson-core`. The resolver prefixes names with `<group>_`."""
    return re.sub(r"-\d[\w.-]*\.jar$", "", file_name)
