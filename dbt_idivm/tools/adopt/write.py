"""Write the new text of a model's file. A text that git does not have is not replaced, so that nothing is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

from dbt_idivm.replaced_file import replace_file
from dbt_idivm.tools.adopt.adopt import Adoption
from dbt_idivm.tools.adopt.choose import CannotAdopt


def write(found: Adoption, folder: Path, is_forced: bool = False) -> Path:
    """Replace the file of a model in the project `folder`, and return its path. `is_forced`: also if git lacks the present text.

    Raises CannotAdopt if the new text is not complete, if the file has changed since it was read, or cannot be written.
    """
    path = folder / found.file
    if not found.is_complete:
        raise CannotAdopt(f"{found.file} is left as it is: {found.obstacles[0].problem}")
    try:
        if path.read_bytes() != found.before.encode("utf-8"):
            raise CannotAdopt(f"{found.file} is left as it is: it has just been changed")
        if not is_forced and (problem := _unsaved(path)):
            raise CannotAdopt(f"{found.file} is left as it is: {problem}. Commit it, or give --force")
        replace_file(path.resolve(), found.after.encode("utf-8"), path.stat().st_mode & 0o7777)
    except OSError as error:
        raise CannotAdopt(f"{found.file} cannot be written: {error.strerror}") from error
    return path


def _unsaved(path: Path) -> str:
    """Why git could not give the text of the file back; "" if it could."""
    command = ["git", "status", "--porcelain", "--ignored", "--untracked-files=all", "--", path.name]
    try:
        found = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
    except OSError:
        return "git is not there, which would keep the present text"
    if found.returncode:
        return "it is in no git repository, which would keep the present text"
    return "its present text is not committed in git" if found.stdout.strip() else ""
