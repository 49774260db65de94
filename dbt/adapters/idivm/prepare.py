"""`python -m dbt.adapters.idivm.prepare`: check Java and fetch the JARs, so that the first run need not."""

from __future__ import annotations

import sys

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm.embedded import check_java, resolve_jars


def main() -> int:
    try:
        java, jars = check_java(), resolve_jars()
    except DbtRuntimeError as problem:
        print(problem.msg, file=sys.stderr)
        return 1
    print(f"Java {java}; {len(jars)} JARs beside those of pyspark.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
