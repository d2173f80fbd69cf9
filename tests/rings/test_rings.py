"""The rings of the tests: the marks of a test, the output of a run, the tests that are
run again.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.rings import __main__ as rings
from tests.rings.marks import Seconds, in_order, seconds
from tests.rings.outcomes import read_failures

ROOT = Path(__file__).parents[2]
CONFTEST = """
pytest_plugins = ["tests.rings.marks", "tests.rings.outcomes"]
"""
INI = """
[pytest]
markers =
  essential: x
  process: x
  slow: x
"""


@pytest.fixture
def suite(programs: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tests with this project's marks, which the rings run instead of the project."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text(INI)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(rings, "ROOT", tmp_path)
    monkeypatch.setattr(rings, "REST_WORKERS", 1)
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        monkeypatch.delenv(name)
    # each run starts processes of pytest that need no other plugin
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    return tmp_path


def test_every_entry_of_the_table_names_a_test() -> None:
    named: defaultdict[str, set[str]] = defaultdict(set)
    for name in seconds():
        path, _, test = name.partition("::")
        named[path].add(test.rpartition("::")[2])
    missing = {path: left for path, tests in named.items() if (left := tests - functions(path))}
    assert missing == {}


def functions(path: str) -> set[str]:
    """The functions of a test module; none if it does not exist."""
    module = ROOT / path
    return {
        node.name
        for node in (ast.walk(ast.parse(module.read_text())) if module.is_file() else ())
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_modules_that_compute_begin_between_those_that_wait_the_longest_first() -> None:
    table = {
        "wait_1.py::test": Seconds(1, 60),
        "wait_2.py::test": Seconds(1, 40),
        "compute_1.py::test_1": Seconds(8, 8),
        "compute_1.py::test_2": Seconds(8, 8),
        "compute_2.py::test": Seconds(10, 10),
        "compute_3.py::test": Seconds(4, 4),
    }
    tests = ["short.py::test[a]", "short.py::test[b]", "shortest.py::test", *table]
    assert in_order(tests, table) == [
        *("wait_1.py", "compute_1.py", "compute_2.py", "wait_2.py", "compute_3.py"),
        *("short.py", "shortest.py"),
    ]
    assert in_order(["b.py::test", "a.py::test"], {}) == ["a.py", "b.py"]


def test_a_program_needs_the_fixture(suite: Path) -> None:
    (suite / "test_it.py").write_text(
        "import subprocess, sys, pytest\n"
        "def run():\n"
        "    subprocess.run([sys.executable, '-c', ''], check=True)\n"
        "def test_without():\n"
        "    run()\n"
        "def test_with(programs):\n"
        "    run()\n"
        "@pytest.fixture\n"
        "def broker(programs):\n"
        "    run()\n"
        "def test_through_another(broker):\n"
        "    pass\n"
    )
    status, failures = rings.run_pytest([])
    assert status == rings.FAILED
    [failure] = failures
    assert failure.test == "test_it.py::test_without"
    assert "use the fixture `programs`" in failure.text
    chosen = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "process"],
        cwd=suite,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert chosen.splitlines()[:2] == ["test_it.py::test_with", "test_it.py::test_through_another"]


FAILS_ONCE = """
from pathlib import Path
def test_of_chance(programs):
    first = Path(__file__).with_suffix(".ran")
    if not first.exists():
        first.touch()
        assert False, "the machine was slow"
"""
ALWAYS_FAILS = """
def test_defect(programs):
    assert False, "it is wrong"
"""


def test_a_failure_that_passes_twice_alone_is_listed_with_its_text(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (suite / "test_chance.py").write_text(FAILS_ONCE)
    assert rings.run_rest([]) == rings.PASSED
    end = capfd.readouterr().out.rpartition("=====")[2]
    assert "the machine was slow" in end
    assert "passed only when run again (find the cause of each): 1\n" in end
    assert end.endswith("  test_chance.py::test_of_chance\n")


RUNS_TESTS = """
import os, subprocess, sys
from pathlib import Path
def test_of_tests(programs):
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    inner = Path(__file__).with_name("inner.py")
    inner.write_text("def test_wanted():\\n    assert False\\n")
    assert subprocess.run([sys.executable, "-m", "pytest", str(inner)], env=own).returncode == 1
"""


def test_intended_failures_of_a_test_are_not_counted(suite: Path) -> None:
    (suite / "test_nested.py").write_text(RUNS_TESTS)
    (suite / "test_defect.py").write_text(ALWAYS_FAILS)
    status, failures = rings.run_pytest([*rings.REST, "--numprocesses=2"])
    assert status == rings.FAILED
    assert [failure.test for failure in failures] == ["test_defect.py::test_defect"]


def test_a_failure_that_fails_again_is_one(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (suite / "test_chance.py").write_text(FAILS_ONCE)
    (suite / "test_wrong.py").write_text(ALWAYS_FAILS)
    assert rings.run_rest([]) == rings.FAILED
    out = capfd.readouterr().out
    assert out.endswith("failed again: 1\n  test_wrong.py::test_defect\n")
    assert "passed only when run again (find the cause of each): 1\n" in out


def test_too_many_failures_are_not_run_again(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cases = f"import pytest\n@pytest.mark.parametrize('n', range({rings.MAX_RERUN_TESTS + 1}))\n"
    (suite / "test_wrong.py").write_text(
        cases + "def test_defect(programs, n):\n    assert False\n"
    )
    assert rings.run_rest([]) == rings.FAILED
    assert "again" not in capfd.readouterr().out


def test_a_module_that_cannot_be_imported_fails_the_rest(suite: Path) -> None:
    (suite / "test_broken.py").write_text("import no_such_module\n")
    (suite / "test_chance.py").write_text(FAILS_ONCE)
    assert rings.run_rest([]) != rings.PASSED


def test_arguments_may_leave_no_test_of_a_ring(suite: Path) -> None:
    (suite / "test_wrong.py").write_text("def test_pure():\n    pass\n")
    assert rings.run_rest(["-k", "pure"]) == rings.PASSED
    assert rings.run_rest([]) == rings.NO_TESTS


def test_a_failure_is_read_once_for_each_test(tmp_path: Path) -> None:
    assert read_failures(tmp_path / "none.jsonl") == []
    file = tmp_path / "failures.jsonl"
    file.write_text(
        '{"test":"a","text":"call"}\n{"test":"b","text":"call"}\n{"test":"a","text":"end"}\n'
    )
    assert [(each.test, each.text) for each in read_failures(file)] == [
        ("a", "call"),
        ("b", "call"),
    ]
