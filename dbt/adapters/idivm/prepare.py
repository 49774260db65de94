"""`python -m dbt.adapters.idivm.prepare [--fast-start]`: prepare in advance what the first run would otherwise have to.

It checks Java and downloads the JARs. With `--fast-start` it also makes the class archive (see make_archive.py).
"""

from __future__ import annotations

import sys

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm.embedded import check_java, resolve_jars
from dbt.adapters.idivm.make_archive import make_archive


def main(arguments: list[str]) -> int:
    try:
        java, jars = check_java(), resolve_jars()
    except DbtRuntimeError as problem:
        print(problem.msg, file=sys.stderr)
        return 1
    print(f"Java {java}; {len(jars)} JARs beside those of pyspark.")
    if "--fast-start" in arguments:
        archive = make_archive(jars)
        print(f"Class archive: {archive or 'this Java writes none; Spark starts without it'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
