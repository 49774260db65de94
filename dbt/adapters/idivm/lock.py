"""File locks. The kernel releases them when their process ends, however it ends, so that none is ever stale.

A Derby metastore admits one process at a time: the first holds its lock, the second gets an error that names the first.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

# In seconds. The JVM of a process that has just ended takes a short time to end, and holds the lock until then.
PATIENCE = 10.0


def hold_lock(state_dir: Path) -> int:
    """Take the lock of a state folder. Returns its file descriptor, to be passed to the
    JVM. Raises DbtRuntimeError if it is in use.

    It is released when the last process that holds the descriptor ends.
    """
    descriptor = os.open(state_dir / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    deadline = time.monotonic() + PATIENCE
    while True:
        if _try_lock(descriptor):
            break
        owner = os.pread(descriptor, 32, 0).decode().strip()
        if _is_running(owner) or time.monotonic() > deadline:
            os.close(descriptor)
            raise DbtRuntimeError(_in_use(state_dir, owner))
        time.sleep(0.1)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def hold(path: Path) -> int | None:
    """Lock a file exclusively until the returned descriptor is closed or this process
    ends; None if another process holds a lock.
    """
    descriptor = _opened(path)
    if _try_lock(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def share(path: Path) -> int:
    """Take a shared lock of a file and return its descriptor. Waits while another process holds it exclusively."""
    descriptor = _opened(path)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def is_locked(path: Path) -> bool:
    """Whether any process holds a lock of the file, exclusive or shared."""
    if not path.exists():
        return False
    descriptor = hold(path)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is None


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_running(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        pass
    return True


def _in_use(state_dir: Path, owner: str) -> str:
    return (
        f"The embedded catalog in {state_dir} admits one process at a time and is in use by process {owner or '?'}: "
        "wait for it to end. To use one Spark for all processes, run `idivm up` in the project's folder once it has ended."
    )
