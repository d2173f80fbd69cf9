"""A Python that is too old says so in one sentence, wherever the program is entered."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from common.python_version import OLDEST
from tests.support.for_each import for_each

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = ("controller.cli", "simulators", "subscribers.web")
READ_FIRST = (
    "common/__init__.py",
    "common/python_version.py",
    "controller/__init__.py",
    "controller/cli/__init__.py",
    "simulators/__init__.py",
    "subscribers/__init__.py",
    "setup.py",
)
"""Files that are read before the check, or together with it."""
pytestmark = pytest.mark.usefixtures("programs")

SENTENCE = "novamas needs Python 3.11 or newer; "
OLD = [
    path
    for folder in sorted((Path.home() / ".pyenv" / "versions").glob("3.*"))
    if (path := folder / "bin" / "python").exists()
    and tuple(map(int, folder.name.split(".")[:2])) < OLDEST
]
"""Real old Pythons of this machine."""


def test_it_is_the_version_that_the_package_requires() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={OLDEST[0]}.{OLDEST[1]}"


@for_each("file", READ_FIRST)
def test_old_pythons_can_parse_what_is_read_first(file: str) -> None:
    ast.parse((ROOT / file).read_text(), feature_version=(3, 8))


def as_python_3_9(code: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-c", f"import sys; sys.version_info = (3, 9, 18)\n{code}")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("module", ENTRIES)
def test_each_entry_says_it_in_one_sentence(module: str) -> None:
    code = f"import runpy; runpy.run_module({module!r}, run_name='__main__')"
    ended = as_python_3_9(code)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.startswith(SENTENCE)
    assert ended.stderr.count("\n") == 1


def test_a_build_of_the_package_says_it() -> None:
    ended = as_python_3_9("import runpy; runpy.run_path('setup.py')")
    assert ended.returncode == 1
    assert ended.stderr.startswith(SENTENCE)


def test_real_old_pythons_say_it() -> None:
    for python in OLD:
        for words in (*(("-m", module) for module in ENTRIES), ("common/python_version.py",)):
            ended = run(str(python), "-B", *words)
            assert (ended.returncode, ended.stdout) == (1, ""), (python, words)
            assert ended.stderr.startswith(SENTENCE), (python, words)


def test_this_python_is_silent() -> None:
    ended = run(sys.executable, "common/python_version.py")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("page", ["systemd.md", "install.md"])
def test_pages_check_before_they_install(page: str) -> None:
    text = (ROOT / "docs" / "technician" / page).read_text()
    before, _, _ = text.partition("--require-hashes")
    assert "python3 common/python_version.py" in before
