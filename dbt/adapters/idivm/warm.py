"""A Spark that keeps running: the project's embedded Spark in a separate process, to which dbt attaches instead of starting one.

It is a Spark Connect server on the loopback interface, protected by a token that only the user can read. Its files in the state
folder:

| file | |
|---|---|
| `server.json` | process, port, token and settings of the server, while it runs; readable by the user only |
| `server.lock` | locked by the server while it runs; without the lock a `server.json` was left behind |
| `clients.lock` | shared by all attached clients. The server takes it alone to see that no client is left, and before it ends |
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm.__version__ import version
from dbt.adapters.idivm.credentials import FIXED, OFF, TIME_ZONE, ConnectionMethod, seconds_of
from dbt.adapters.idivm.embedded import check_java, resolve_jars, starting
from dbt.adapters.idivm.extras import install_advice, missing_module
from dbt.adapters.idivm.lock import PATIENCE, is_locked, share
from dbt.adapters.idivm.progress import is_interactive
from dbt.adapters.idivm.spark_handle import has_spark
from dbt.adapters.idivm.state_folder import make_state_folder
from dbt.adapters.idivm.waiting import say, waiting

if TYPE_CHECKING:
    from dbt.adapters.idivm.connect import ConnectConnection
    from dbt.adapters.idivm.credentials import IdivmCredentials

logger = AdapterLogger("Idivm")

KEPT_SECONDS = 15 * 60
START_SECONDS = 120
STOP_SECONDS = 30


@dataclass(frozen=True)
class Server:
    """A running server. `made_of`: the digest of the versions and settings with which it was started. `automatic`: a command
    that needed it has started it, not `idivm up`."""

    pid: int
    port: int
    token: str
    made_of: str
    idle_seconds: int
    started: float  # seconds since 1970
    automatic: bool = False

    @classmethod
    def in_folder(cls, state_dir: Path) -> Server | None:
        """The server of a state folder; None if none runs. Files of a killed server do not count."""
        found = cls.written(state_dir) if is_locked(state_dir / "server.lock") else None
        try:
            if found is not None:
                os.kill(found.pid, 0)
        except OSError:
            return None
        return found

    @classmethod
    def written(cls, state_dir: Path) -> Server | None:
        """The content of `server.json`; None if the server starts or ends now, or has another version."""
        try:
            return cls(**json.loads((state_dir / "server.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, state_dir: Path) -> None:
        """Publish the server's data, atomically and readable by the user only."""
        draft = state_dir / "server.json.new"
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(asdict(self), file)
        draft.replace(state_dir / "server.json")


def made_of(credentials: IdivmCredentials) -> str:
    """The digest of everything that is fixed when a Spark starts: versions, memory, folders, and the profile's settings."""
    own = {key: value for key, value in credentials.server_side_parameters.items() if key not in FIXED and key != TIME_ZONE}
    parts = (
        version,
        version_of("pyspark"),
        sys.version_info[:2],
        credentials.catalog,
        credentials.warehouse_dir,
        credentials.driver_memory,
        sorted(own.items()),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


# state folder → descriptor of the shared lock; this process stays attached until it ends
_attached: dict[str, int] = {}


def attached(credentials: IdivmCredentials) -> ConnectConnection | None:
    """A session of the project's running server; None if no server runs and this process has to start its own Spark.

    A server is started as `kept_for` says. One of another version or with other settings is replaced if a command has started
    it and nobody uses it. Otherwise it is a DbtRuntimeError, because two Sparks cannot share an embedded catalog.
    """
    state_dir, seconds = credentials.state_folder, kept_for(credentials)
    if seconds is None and not (state_dir / "server.lock").exists():
        return None
    if credentials.catalog != "hive" or has_spark():
        return None
    if missing := missing_module("spark-connect"):
        _say_what_is_missing(credentials, missing)
        return None
    _stop_outdated(credentials)
    if seconds is not None and not is_locked(state_dir / "server.lock") and not is_locked(state_dir / "lock"):
        _start(credentials, seconds)
    if not (state_dir / "server.lock").exists():
        return None
    _attach(state_dir)
    server = Server.in_folder(state_dir)
    if server is None:
        _detach(state_dir)
        return None
    if server.made_of != made_of(credentials):
        _detach(state_dir)
        raise DbtRuntimeError(
            f"The Spark that runs in the background for {state_dir} (process {server.pid}) was started by another version or "
            "with other settings of the profile. `idivm down` stops it; the next run starts its own"
        )
    from dbt.adapters.idivm.connect import open_connect
    from dbt_idivm.errors import IdivmError

    there = replace(
        credentials,
        method=ConnectionMethod.CONNECT,
        host="localhost",
        port=server.port,
        token=server.token,
        keep_warm=None,
        server_side_parameters={},
    )
    try:
        return open_connect(there)
    except IdivmError as error:
        _detach(state_dir)
        raise DbtRuntimeError(
            f"The Spark that runs in the background for {state_dir} (process {server.pid}) does not answer: "
            f"{error.findings[0].why}. `idivm down --force` stops it; its log is {state_dir}/spark.log"
        ) from error


def kept_for(credentials: IdivmCredentials) -> int | None:
    """How many seconds a Spark that is started now stays after its last use; None if it ends with its process.

    `keep_warm` of the profile says it. Without it, a Spark stays that somebody's command at a terminal has started. In
    continuous integration none does.
    """
    if os.environ.get("CI") or credentials.catalog != "hive" or credentials.keep_warm == OFF:
        return None
    if credentials.keep_warm is not None:
        return seconds_of(str(credentials.keep_warm))
    return KEPT_SECONDS if is_interactive() else None


def _start(credentials: IdivmCredentials, seconds: int) -> None:
    """Start a server, and say so. If it does not start, there is a warning, and the process starts its own Spark.

    Raises DbtRuntimeError if Java or the JARs are missing, which no Spark can do without.
    """
    how = "" if credentials.keep_warm else "; `keep_warm: off` in the profile switches that off"
    with waiting(f"{starting()}, kept for {time_text(seconds)} after its last use{how}"):
        check_java()
        resolve_jars(credentials)
        try:
            start_server(credentials, seconds, automatic=True)
        except DbtRuntimeError as problem:
            logger.warning(problem.msg)


def _stop_outdated(credentials: IdivmCredentials) -> None:
    """Stop a server that has other settings than this profile, if a command has started it and nobody uses it."""
    state_dir = credentials.state_folder
    server = Server.in_folder(state_dir)
    if server is None or not server.automatic or server.made_of == made_of(credentials) or is_used(state_dir):
        return
    say("The Spark in the background is of another version or has other settings than the profile: it is replaced")
    with suppress(DbtRuntimeError):  # somebody has just attached to it
        stop_server(state_dir, force=False)
    until = time.monotonic() + PATIENCE
    while is_locked(state_dir / "lock") and time.monotonic() < until:  # its JVM ends a little later
        time.sleep(0.1)


def start_server(credentials: IdivmCredentials, idle_seconds: int, automatic: bool = False) -> Server:
    """Start a server in the background and wait until it can be used. Raises DbtRuntimeError if it does not start.

    If the waiting is interrupted, the server ends.
    """
    if missing := missing_module("spark-connect"):
        raise DbtRuntimeError(_needed(missing))
    state_dir = credentials.state_folder
    make_state_folder(state_dir)
    given = {
        "credentials": {**credentials.to_dict(omit_none=True), "server_side_parameters": credentials.server_side_parameters},
        "idle_seconds": idle_seconds,
        "automatic": automatic,
        "token": secrets.token_urlsafe(24),
    }
    with open(state_dir / "server.log", "w") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dbt.adapters.idivm.warm_server"],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        )
    assert process.stdin is not None
    try:
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(json.dumps(given))  # not as arguments, which are visible to all users
        return _when_started(state_dir, process)
    except KeyboardInterrupt:
        process.kill()
        raise


def _when_started(state_dir: Path, process: subprocess.Popen[str]) -> Server:
    """The server once it runs. `process`: the one that was started for it. Raises DbtRuntimeError."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        found = Server.in_folder(state_dir)
        if found is not None:
            return found
        if process.poll() is not None and not is_locked(state_dir / "server.lock"):  # another process may be starting one
            break
        time.sleep(0.1)
    else:
        process.kill()
    last = (state_dir / "server.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise DbtRuntimeError(
        f"Spark does not start in the background: {last[0] if last else 'it did not answer in time'}. "
        f"Its log is {state_dir}/server.log"
    )


def stop_server(state_dir: Path, force: bool) -> bool:
    """Stop the folder's server. Returns whether there was one. Raises DbtRuntimeError
    if it is in use and `force` is not given.
    """
    server = Server.in_folder(state_dir)
    if server is None:
        if not is_locked(state_dir / "server.lock"):
            (state_dir / "server.json").unlink(missing_ok=True)
        return False
    if not force and is_used(state_dir):
        raise DbtRuntimeError("A dbt process is attached to it. Wait until it has ended, or stop the server with --force")
    with suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGTERM)
    until = time.monotonic() + STOP_SECONDS
    while is_locked(state_dir / "server.lock"):
        if time.monotonic() > until:
            with suppress(ProcessLookupError):
                os.kill(server.pid, signal.SIGKILL)  # its JVM ends when its parent has ended
            until += STOP_SECONDS
        time.sleep(0.1)
    (state_dir / "server.json").unlink(missing_ok=True)
    return True


def time_text(seconds: float) -> str:
    """`90 s`, or `15 min` if it is two minutes or more."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def is_used(state_dir: Path) -> bool:
    """Whether a process is attached to the folder's server."""
    return is_locked(state_dir / "clients.lock")


def _needed(missing: str) -> str:
    return f"A Spark that stays needs the package {missing}. {install_advice('spark-connect')}"


def _say_what_is_missing(credentials: IdivmCredentials, missing: str) -> None:
    """Warn that this process starts its own Spark. Raises DbtRuntimeError if it cannot, because a server holds the catalog."""
    if is_locked(credentials.state_folder / "server.lock"):
        raise DbtRuntimeError(f"{_needed(missing)}. Or stop the one that runs for this project: `idivm down`")
    if credentials.keep_warm is not None and kept_for(credentials) is not None:
        logger.warning(f"keep_warm: {_needed(missing)}")


def _attach(state_dir: Path) -> None:
    key = str(state_dir)
    if key not in _attached:
        _attached[key] = share(state_dir / "clients.lock")  # waits for a server that is about to end


def _detach(state_dir: Path) -> None:
    descriptor = _attached.pop(str(state_dir), None)
    if descriptor is not None:
        os.close(descriptor)
