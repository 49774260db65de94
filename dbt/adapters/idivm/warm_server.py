"""`python -m dbt.adapters.idivm.warm_server`: the process of a Spark that keeps running (see warm.py). It reads settings from
stdin.

Spark is a child process that ends when this one ends, even if it is killed. This one ends when Spark has ended.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.embedded import start
from dbt.adapters.idivm.lock import hold
from dbt.adapters.idivm.warm import Server, made_of

PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"
LOOK_SECONDS = 1.0


def main() -> int:
    given = json.load(sys.stdin)
    credentials = IdivmCredentials.from_dict(given["credentials"])
    state_dir = credentials.state_folder
    lock = hold(state_dir / "server.lock") or hold(state_dir / "server.lock")  # again, because is_locked() holds it for a moment
    if lock is None:
        print("another one is starting or running", file=sys.stderr)
        return 1
    (state_dir / "server.json").unlink(missing_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the terminal may be closed
    port = _free_port()
    settings = {
        "spark.plugins": PLUGIN,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.authenticate.token": given["token"],
    }
    try:
        start(replace(credentials, server_side_parameters={**credentials.server_side_parameters, **settings}))
    except DbtRuntimeError as problem:
        print(problem.msg, file=sys.stderr)
        return 1
    process = (os.getpid(), port, given["token"], made_of(credentials))
    server = Server(*process, given["idle_seconds"], time.time(), given["automatic"])
    server.write(state_dir)
    try:
        _wait_until_unused(state_dir, server, lock)
    finally:
        if _is_in(state_dir, lock):
            (state_dir / "server.json").unlink(missing_ok=True)
            hold(state_dir / "clients.lock")  # new clients wait until this process has ended, then start their own Spark
        _stop_spark()
    return 0


def _wait_until_unused(state_dir: Path, server: Server, lock: int) -> None:
    """Return when Spark has ended, when the state folder was removed, or when no client was attached for `idle_seconds`. In the
    last case no client can attach any more.

    `idivm up` may change `idle_seconds` meanwhile.
    """
    last_used = time.monotonic()
    while _spark().poll() is None and _is_in(state_dir, lock):
        unused = hold(state_dir / "clients.lock")
        if unused is None:
            last_used = time.monotonic()
        elif time.monotonic() - last_used > (Server.written(state_dir) or server).idle_seconds:
            return
        else:
            os.close(unused)
        time.sleep(LOOK_SECONDS)


def _is_in(state_dir: Path, lock: int) -> bool:
    """Whether the folder is still the one in which this process holds the lock. Another one may have been made in its place."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(state_dir / "server.lock"))
    except FileNotFoundError:
        return False


def _spark() -> Popen[bytes]:
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    assert gateway is not None
    process: Popen[bytes] = gateway.proc
    return process


def _stop_spark() -> None:
    process = _spark()
    process.terminate()
    try:
        process.wait(timeout=10)
    except Exception:
        process.kill()


def _free_port() -> int:
    """A port of the loopback interface that is free now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # py4j would wait for the JVM
