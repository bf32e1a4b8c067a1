"""The examples of the documentation run and print what they say."""

import doctest
import importlib
import pkgutil

import linpoint
import pytest
from conftest import ROOT

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["linpoint", *(f"linpoint.{module.name}" for module in pkgutil.iter_modules(linpoint.__path__))]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(("__main__", "_native"))])
def test_docstrings(name):
    if name == "linpoint.tables":
        pytest.importorskip("pyarrow")
    module = importlib.import_module(name)
    globals = vars(module) | {"linpoint": linpoint}
    failed, _ = doctest.testmod(module, globs=globals, optionflags=OPTIONS)
    assert not failed


def test_enough_of_them_have_examples():
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) >= 7


@pytest.mark.parametrize("path", ["docs/python.md", "python/README.md", "README.md"])
def test_pages(path, tmp_path, monkeypatch):
    for library in ("pyarrow", "polars", "duckdb"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(ROOT / path), module_relative=False, globs={"linpoint": linpoint}, optionflags=OPTIONS)
    assert tried and not failed
