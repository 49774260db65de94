"""Replacing a file in one step: readers see the old content or the new one, and a failure leaves the old one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write `content` to `path`. `mode`: the rights of the file; None: only its owner can read and write it. Raises OSError."""
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        if mode is not None:
            os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
