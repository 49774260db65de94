"""Run a command that ends with the process that started it, even if that one is killed: `python tests/tied.py command ..`.

Our standard input is a pipe that only the starting process writes to, so it closes when that process is gone.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from types import FrameType


def main(command: list[str]) -> int:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def stop(*_: int | FrameType | None) -> None:
        process.terminate()

    def watch() -> None:
        sys.stdin.buffer.read()
        stop()

    signal.signal(signal.SIGTERM, stop)
    threading.Thread(target=watch, daemon=True).start()
    return process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
