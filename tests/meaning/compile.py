"""The classes of the engine: compiled once per source and Spark version, by the Scala compiler among Spark's own JARs."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pyspark

SOURCES = sorted((Path(__file__).parent / "scala").glob("*.scala"))
JARS = Path(pyspark.__file__).parent / "jars"
CACHE = Path(__file__).parents[2] / ".idivm" / "meaning"  # which git ignores


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def class_path() -> str:
    """Spark's JARs and the compiled engine, which is compiled now if it is not there."""
    return os.pathsep.join((str(_classes()), f"{JARS}/*"))


def _classes() -> Path:
    """The folder of classes. Of several processes at once one compiles, the others wait; a folder that is there is whole."""
    found = CACHE / _version()
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            fresh = Path(tempfile.mkdtemp(dir=CACHE))
            try:
                _compile(fresh)
                fresh.rename(found)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
    return found


def _version() -> str:
    mark = hashlib.sha256(pyspark.__version__.encode())
    for source in SOURCES:
        mark.update(source.read_bytes())
    return f"{pyspark.__version__}-{mark.hexdigest()[:16]}"


def _compile(target: Path) -> None:
    """The compiler is among the JARs that the sources are compiled against."""
    subprocess.run(
        [
            java(),
            "-XX:+UseSerialGC",
            "-Xmx900m",
            "-cp",
            f"{JARS}/*",
            "scala.tools.nsc.Main",
            "-usejavacp",
            "-nowarn",
            "-d",
            str(target),
            *map(str, SOURCES),
        ],
        check=True,
    )
