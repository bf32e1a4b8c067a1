"""The plugin for pytest, which is there as soon as linpoint is installed.

A test that calls :func:`linpoint.assert_linearizable`, or the fixture of that name, fails with the core of the violation, and the page
is left in the folder of `--linpoint-pages`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import linpoint


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("linpoint")
    group.addoption(
        "--linpoint-pages",
        metavar="DIR",
        default=None,
        help="where pages of histories that fail a test go [default: linpoint-pages in pytest's folder of temporary files]",
    )


@pytest.fixture
def assert_linearizable(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., linpoint.Report | linpoint.ConditionReport]:
    """:func:`linpoint.assert_linearizable`, which leaves the page of a history that fails, and names it."""

    def check(history: Any, **options: Any) -> linpoint.Report | linpoint.ConditionReport:
        __tracebackhide__ = True
        report: linpoint.Report | linpoint.ConditionReport = linpoint.check(history, **options)
        if report.verdict in ("linearizable", "holds"):
            return report
        # Conditions have no page.
        if isinstance(report, linpoint.ConditionReport):
            pytest.fail(str(report), pytrace=False)
        page = _page(request, tmp_path_factory)
        report.to_html(page)
        pytest.fail(f"{report}\n  page: {page}", pytrace=False)

    return check


@pytest.fixture
def linpoint_recorder() -> Iterator[linpoint.Recorder]:
    """A recorder that keeps its lines in memory."""
    with linpoint.Recorder() as recorder:
        yield recorder


def _page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is not there yet, named after the test."""
    chosen = request.config.getoption("--linpoint-pages")
    folder = Path(chosen) if chosen else tmp_path_factory.getbasetemp() / "linpoint-pages"
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]+", "_", request.node.nodeid).strip("_")
    numbered = (folder / f"{name}{f'-{i}' if i else ''}.html" for i in range(1_000_000))
    return next(path for path in numbered if not path.exists())
