"""Checking for a suitable Java before Spark is started, because Spark's own error is a stack trace."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

OLDEST = 17
ADVICE = (
    f"Install Java {OLDEST} or 21 (Debian, Ubuntu: apt-get install openjdk-{OLDEST}-jre-headless; "
    f"macOS: brew install openjdk@{OLDEST}) and put it on PATH or set JAVA_HOME."
)


def find_java() -> str | None:
    """The `java` that Spark's own scripts would choose: JAVA_HOME first, then PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home, "bin", "java")
        return str(java) if java.exists() else None
    return shutil.which("java")


def java_major(version_text: str) -> int | None:
    """The major version in the output of `java -version`, e.g. 17; 8 for the old form
    `1.8.0_392`; None if there is no version.
    """
    found = re.search(r'version "(\d+)(?:\.(\d+))?', version_text)
    if not found:
        return None
    first, second = int(found[1]), int(found[2] or 0)
    return second if first == 1 else first


def check_java() -> int:
    """The major version of the Java to be used. If there is none, or it is too old,
    raises a DbtRuntimeError that says what to do.
    """
    java = find_java()
    if java is None:
        home = os.environ.get("JAVA_HOME")
        where = f"JAVA_HOME is {home}, but there is no bin/java in it" if home else "no java was found on PATH"
        raise DbtRuntimeError(f"The embedded Spark needs Java {OLDEST} or newer, and {where}. {ADVICE}")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    major = java_major(answer.stderr + answer.stdout)
    if major is None:
        raise DbtRuntimeError(f"`{java} -version` did not print a version. {ADVICE}")
    if major < OLDEST:
        raise DbtRuntimeError(f"The embedded Spark needs Java {OLDEST} or newer, but {java} is Java {major}. {ADVICE}")
    return major
