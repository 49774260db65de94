"""One process at a time may use a Derby metastore: the first holds this lock, the second gets an error that names the first."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

# The JVM of a process that has just ended needs a short time to end, and holds the lock until then.
PATIENCE = 10.0


def hold_lock(state_dir: Path) -> int:
    """Take the lock of a state folder and return its file descriptor, to be passed to the JVM.

    The kernel releases the lock when the last process that holds the descriptor ends, so no lock is ever stale.
    """
    descriptor = os.open(state_dir / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            owner = os.pread(descriptor, 32, 0).decode().strip()
            if _is_running(owner) or time.monotonic() > deadline:
                os.close(descriptor)
                raise DbtRuntimeError(_in_use(state_dir, owner)) from None
            time.sleep(0.1)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


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
        "wait for it to end, or have one Spark for all of them: `idivm up` in the project's folder, once it has ended."
    )
