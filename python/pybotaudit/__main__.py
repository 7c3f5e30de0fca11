"""The command line: `pybotaudit`, or `python -m pybotaudit`."""

from __future__ import annotations

import signal
import sys

from pybotaudit import _botaudit


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    # Python's handler would only take note of Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _botaudit.run(["botaudit", *sys.argv[1:]])


if __name__ == "__main__":
    main()
