"""An archive of Spark's, Hive's and Delta's classes, which the JVM maps at start instead of loading 20,000 of them.

Optional: `make_archive.py` makes it. An archive that does not fit, because Java or a JAR has changed, is ignored by the JVM; its
name changes with them, so the next `prepare` makes another.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from dbt.adapters.idivm.java import find_java


def class_archive(jars: Sequence[str]) -> Path:
    """The path of the archive for this Java, this pyspark and these JARs, whether it exists or not."""
    import pyspark

    java = os.path.realpath(find_java() or "java")
    parts = [java, str(_changed(java)), pyspark.__version__, str(Path(pyspark.__file__).parent), *jars]
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "dbt-idivm", f"classes-{name}.jsa")


def _changed(path: str) -> float:
    return os.path.getmtime(path) if os.path.exists(path) else 0.0
