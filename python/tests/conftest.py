"""What the tests share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def corpus() -> Path:
    return ROOT / "corpus"


@pytest.fixture
def command():
    """Runs the `linpoint` command of the wheel: the completed process."""
    script = Path(sys.executable).with_name("linpoint")

    def run(*arguments: object, **options: object) -> "subprocess.CompletedProcess[str]":
        words = [str(script), *map(str, arguments)]
        return subprocess.run(words, text=True, capture_output=True, check=False, timeout=600, **options)

    return run


def ops(*rows):
    """Operations: (process, method, arg, ret, call, return), of which the last may be None."""
    names = ("process", "method", "arg", "ret", "call", "return")
    return [dict(zip(names, row, strict=True)) for row in rows]


VIOLATION = ops((0, "enq", 1, None, 0, 1), (0, "enq", 2, None, 2, 3), (1, "deq", None, 2, 4, 5))
FINE = ops((0, "enq", 1, None, 0, 1), (0, "enq", 2, None, 2, 3), (1, "deq", None, 1, 4, 5))


def number(name: str, default: int) -> int:
    """A number that the environment sets."""
    return int(os.environ.get(name, default))
