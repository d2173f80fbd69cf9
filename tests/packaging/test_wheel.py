"""The wheel of ``make wheel`` has all that the program reads, and works where it is installed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("common", "controller", "devices", "simulators", "subscribers")


@pytest.fixture(scope="module")
def wheel(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the tracked files, since the builder writes beside its source."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    files = tracked(*PACKAGES, "pyproject.toml", "README.md", "LICENSE")
    for file in files:
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        (source / file).write_bytes((ROOT / file).read_bytes())
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    pip = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", str(built), str(source)]
    subprocess.run(pip, check=True)
    (made,) = built.glob("novamas-*-py3-none-any.whl")
    return made


def tracked(*paths: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *paths], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [file for file in listed.stdout.split("\0") if (ROOT / file).is_file()]


def test_it_has_every_file_of_the_packages_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == set(tracked(*PACKAGES))


def test_the_program_runs_where_it_is_installed(wheel: Path, tmp_path: Path) -> None:
    """Its dependencies are those of this environment, as `constraints.txt` pins them."""
    home = tmp_path / "home"
    options = ("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
    install = [sys.executable, "-m", "pip", "install", *options, "--target", str(home), str(wheel)]
    subprocess.run(install, check=True)
    code = (
        f"import sys; sys.path.insert(0, {str(home)!r}); import controller.cli as cli;"
        f"assert cli.__file__.startswith({str(home)!r}); sys.exit(cli.main(sys.argv[1:]))"
    )

    def novamas(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, *words], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "roulette-french" in novamas("games", "--decree", "ARA02")
    assert "with a simulated table" in novamas("init", "--decree", "GAL07", "--simulated")
    assert novamas("check").startswith("ok: site casino")
    assert "link.lost" in novamas("explain", "link.lost")
