"""An archive of Spark's, Hive's and Delta's classes. The JVM maps it at start instead of loading 20,000 classes one by one.

It is optional; `make_archive.py` makes it. The JVM ignores an archive that does not match because Java or a JAR has changed. Its
name changes with them, so the next `prepare` makes a new one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from dbt.adapters.idivm.java import find_java


def class_archive(jars: Sequence[str]) -> Path:
    """The path of the archive for this Java, pyspark and set of JARs, whether it exists or not."""
    import pyspark

    java = os.path.realpath(find_java() or "java")
    parts = [java, str(_changed(java)), pyspark.__version__, str(Path(pyspark.__file__).parent), *jars]
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "dbt-idivm", f"classes-{name}.jsa")


def _changed(path: str) -> float:
    return os.path.getmtime(path) if os.path.exists(path) else 0.0
