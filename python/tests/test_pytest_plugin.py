"""The plugin, in runs of pytest of its own."""

TEST = """
import linpoint
import pytest

VIOLATION = [
    {"process": 0, "method": "enq", "arg": 1, "call": 0, "return": 1},
    {"process": 0, "method": "enq", "arg": 2, "call": 2, "return": 3},
    {"process": 1, "method": "deq", "ret": 2, "call": 4, "return": 5},
]

def test_fine(assert_linearizable):
    assert assert_linearizable(VIOLATION[:2], type="queue").verdict == "linearizable"

@pytest.mark.parametrize("name", ["a/b", "c"])
def test_wrong(assert_linearizable, name):
    assert_linearizable(VIOLATION, type="queue")

def test_function():
    linpoint.assert_linearizable(VIOLATION, type="queue")

def test_malformed(assert_linearizable):
    assert_linearizable(VIOLATION, type="stack")

def test_recorder(linpoint_recorder, assert_linearizable):
    with linpoint_recorder.op(0, "write", 1):
        pass
    assert_linearizable(linpoint_recorder, type="register")
"""


def test_failures_show_the_core_and_leave_the_page(pytester):
    pytester.makepyfile(TEST)
    for _ in range(2):
        result = pytester.runpytest_subprocess("--linpoint-pages=pages")
        result.assert_outcomes(passed=2, failed=4)
        result.stdout.fnmatch_lines(["*1 was enqueued before 2, but deq() → 2*", "*page: *.html", "*MalformedError*enq*"])
    pages = sorted(page.name for page in (pytester.path / "pages").iterdir())
    assert len(pages) == 4 and pages[0].endswith("test_wrong_a_b-1.html") or pages[0].endswith("test_wrong_a_b.html")
    assert all(page.read_text().startswith("<!doctype html>") for page in (pytester.path / "pages").iterdir())


def test_pages_go_to_temporary_files(pytester):
    pytester.makepyfile(TEST)
    result = pytester.runpytest_subprocess("-k", "test_wrong", "--basetemp=temporary")
    result.assert_outcomes(failed=2, deselected=4)
    assert len(list((pytester.path / "temporary" / "linpoint-pages").iterdir())) == 2
