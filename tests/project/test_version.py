"""The version that the program states is that of the package, with the commit that it was built
from, which is known without git.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from common.contract.version import COMMIT, RELEASE, SOFTWARE, VERSION, read_commit
from controller.cli import main
from controller.doctor.bundle import versions

ROOT = Path(__file__).parents[2]
PARTS = ("common/contract/version.py", "common/contract/commit.txt", ".gitattributes")
STATE = """
import sys
sys.path[:0] = [sys.argv[1]]
from common.contract.version import VERSION
print(VERSION)
"""
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
AUTHOR = ("-c", "user.name=Test", "-c", "user.email=test@localhost")


def test_the_program_states_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == RELEASE


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *AUTHOR, *words],
        cwd=folder,
        env={**os.environ, **GIT},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def clone(programs: None, tmp_path: Path) -> Path:
    """A small repository with the files that give the commit, and those that build a wheel."""
    made = tmp_path / "clone"
    build = ("setup.py", "common/python_version.py", "pyproject.toml", "README.md", "LICENSE")
    for part in (*PARTS, *build):
        (made / part).parent.mkdir(parents=True, exist_ok=True)
        (made / part).write_bytes((ROOT / part).read_bytes())
    for package in ("common", "common/contract"):
        (made / package / "__init__.py").touch()
    git(made, "init", "--quiet", "--initial-branch=main")
    git(made, "add", ".")
    git(made, "commit", "--quiet", "--message=first")
    return made


def stated(folder: Path) -> str:
    """The version stated by a program that runs there, without git."""
    done = subprocess.run(
        [sys.executable, "-ISc", STATE, folder],
        env={"PATH": "/nowhere"},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def expected(clone: Path) -> str:
    return f"{RELEASE}+{git(clone, 'rev-parse', 'HEAD')[:12]}"


def test_a_clone_knows_its_commit(clone: Path, tmp_path: Path) -> None:
    """On a branch, packed or not, with a detached head, and in a linked worktree."""
    first = expected(clone)
    assert stated(clone) == first
    git(clone, "pack-refs", "--all")
    assert stated(clone) == first
    git(clone, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "linked"))
    git(clone, "commit", "--quiet", "--allow-empty", "--message=second")
    assert stated(clone) == expected(clone) != first
    assert stated(tmp_path / "linked") == first
    git(clone, "checkout", "--quiet", "--detach")
    assert stated(clone) == expected(clone)


def test_a_wheel_and_an_archive_of_the_sources_know_their_commit(
    clone: Path, tmp_path: Path
) -> None:
    """Also a wheel of the archive, from which the Debian package is made."""
    commit = expected(clone)
    archive, sources = tmp_path / "sources.tar", tmp_path / "sources"
    git(clone, "archive", f"--output={archive}", "HEAD")
    with tarfile.open(archive) as packed:
        packed.extractall(sources, filter="data")
    assert stated(sources) == commit
    for source in (clone, sources):
        wheels, target = tmp_path / f"{source.name}-wheels", tmp_path / f"{source.name}-installed"
        pip = (sys.executable, "-m", "pip", "-qq", "wheel", "--no-deps", "--no-build-isolation")
        subprocess.run([*pip, "--wheel-dir", wheels, source], check=True)
        (wheel,) = wheels.glob("*.whl")
        with zipfile.ZipFile(wheel) as packed_wheel:
            packed_wheel.extractall(target)
        assert stated(target) == commit
    assert git(clone, "status", "--porcelain", "--untracked-files=no") == ""


def test_a_version_without_a_commit_omits_it(tmp_path: Path) -> None:
    assert read_commit(tmp_path, tmp_path) is None
    (tmp_path / ".git").mkdir()
    for head in ("", "ref: refs/heads/main", "ref: ../../etc/passwd", "no commit", "\xe9"):
        (tmp_path / ".git" / "HEAD").write_text(head, encoding="latin-1")
        assert read_commit(tmp_path, tmp_path) is None


def test_the_version_is_stated_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    """``audit`` names the ``software`` of each ``boot`` event and its own."""
    assert COMMIT is None or f"{RELEASE}+{COMMIT[:12]}" == VERSION
    assert f"novamas {VERSION}" == SOFTWARE
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"{SOFTWARE}\n"
    assert versions()["novamas"] == VERSION
