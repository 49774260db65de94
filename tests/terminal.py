"""A terminal without a person: what a program writes to it, and what is seen there then."""

from __future__ import annotations

import errno
import os
import re
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress

CONTROL = re.compile(r"\x1b\[(\d*)([A-Za-z])")


class Terminal:
    """A pseudo-terminal. `side`: the file descriptor for the program."""

    def __init__(self) -> None:
        self._master, self.side = os.openpty()
        self.written = ""

    def wait(self, process: subprocess.Popen[str]) -> list[str]:
        """The lines that are seen when a program has ended whose input and output are this terminal."""
        os.close(self.side)
        while process.poll() is None:
            self.read(0.2)
        shown = self.screen
        self.close()
        return shown

    def close(self) -> None:
        for each in (self._master, self.side):
            with suppress(OSError):
                os.close(each)

    def read(self, seconds: float = 0.0) -> str:
        """All that was written so far; `seconds`: how long to wait for more."""
        until = time.monotonic() + seconds
        while True:
            ready, _, _ = select.select([self._master], [], [], max(until - time.monotonic(), 0))
            if not ready:
                return self.written
            try:
                self.written += os.read(self._master, 65536).decode()
            except OSError as error:  # the program has ended, and nobody else has this side
                if error.errno != errno.EIO:
                    raise
                return self.written

    @property
    def screen(self) -> list[str]:
        """The lines that are seen now."""
        return [line.rstrip() for line in seen(self.read())]


def seen(written: str) -> Iterator[str]:
    """The lines of a terminal that knows newlines, carriage returns and `erase to the end of the line`. Colours do not count."""
    for line in written.replace("\r\n", "\n").split("\n"):
        cells, column, place = [], 0, 0
        while place < len(line):
            if found := CONTROL.match(line, place):
                if found[2] == "K":
                    del cells[column:]
                place = found.end()
                continue
            if line[place] == "\r":
                column = 0
            else:
                cells[column : column + 1] = [line[place]]
                column += 1
            place += 1
        yield "".join(cells)
