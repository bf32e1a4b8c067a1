"""The `linpoint` command: `python -m linpoint check history.jsonl`."""

import signal
import sys

from linpoint import _native


def main() -> None:
    """Runs the command with the arguments of this process, and exits with its code."""
    # The command has handlers of its own, and what it does not handle ends it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.main(["linpoint", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
