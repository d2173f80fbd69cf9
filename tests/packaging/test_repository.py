"""The apt repository of ``make repository``: apt installs from it what the key has signed, and
nothing else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BUILDER = ROOT / "packaging" / "debian" / "repository.py"


def run(*words: str | Path, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, words)], capture_output=True, text=True, **how)


class Apt:
    """apt with state and sources of its own, which trusts one key."""

    def __init__(self, folder: Path, repository: Path, codename: str) -> None:
        for name in ("etc/apt/preferences.d", "etc/apt/apt.conf.d", "state", "cache", "log"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        key = folder / "novamas.asc"
        key.write_bytes((repository / "novamas.asc").read_bytes())
        (folder / "sources").write_text(
            f"deb [signed-by={key}] file:{repository} {codename} main\n"
        )
        paths = {
            "Dir::Etc": folder / "etc/apt",
            "Dir::Etc::sourcelist": folder / "sources",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State": folder / "state",
            "Dir::State::status": folder / "status",
            "Dir::Cache": folder / "cache",
            "Dir::Log": folder / "log",
            "APT::Sandbox::User": "root",
        }
        self._options = [f"-o{name}={value}" for name, value in paths.items()]

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run("apt-get", *self._options, *words)


@pytest.fixture
def key(programs: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    home = Path(mkdtemp(prefix="gnupg-"))  # the path of its agent's socket must be short
    monkeypatch.setenv("GNUPGHOME", str(home))
    made = run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "packages@casino.test")
    assert made.returncode == 0, made.stderr
    yield "packages@casino.test"
    run("gpgconf", "--kill", "all")
    shutil.rmtree(home, ignore_errors=True)


def package(folder: Path, version: str) -> Path:
    """A small package with the name of ours."""
    control = folder / version / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    control.write_text(
        f"Package: novamas\nVersion: {version}\nArchitecture: amd64\nSection: misc\n"
        "Priority: optional\nMaintainer: Tests <tests@casino.test>\nDescription: of a test\n"
    )
    file = folder / f"novamas_{version}_amd64.deb"
    built = run("dpkg-deb", "--root-owner-group", "--build", folder / version, file)
    assert built.returncode == 0, built.stderr
    return file


def write(repository: Path, key: str, *packages: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return run(sys.executable, BUILDER, repository, key, *packages, env=environment)


def test_apt_takes_the_newest_package_of_its_release(tmp_path: Path, key: str) -> None:
    repository = tmp_path / "repository"
    first, second, other = (
        package(tmp_path, version) for version in ("0.3.0+deb12", "0.4.0+deb12", "0.5.0+deb13")
    )
    for packages in ([first], [second, other], [first]):
        written = write(repository, key, *packages)
        assert (written.returncode, written.stderr) == (0, "")
    apt = Apt(tmp_path / "apt", repository, "bookworm")
    updated = apt("update")
    assert (updated.returncode, updated.stderr) == (0, "")
    would = apt("-oAPT::Architecture=amd64", "install", "--simulate", "novamas").stdout
    assert "Inst novamas (0.4.0+deb12 Novamás:bookworm [amd64])" in would


def test_apt_refuses_what_was_changed_after_signing(tmp_path: Path, key: str) -> None:
    repository = tmp_path / "repository"
    assert write(repository, key, package(tmp_path, "0.3.0+deb12")).returncode == 0
    signed = repository / "dists" / "bookworm" / "InRelease"
    signed.write_text(signed.read_text().replace("Suite: bookworm", "Suite: trixie"))
    updated = Apt(tmp_path / "apt", repository, "bookworm")("update")
    assert updated.returncode != 0
    assert "invalid" in updated.stderr or "BADSIG" in updated.stderr


def test_a_package_that_names_no_release_is_refused(tmp_path: Path, key: str) -> None:
    refused = write(tmp_path / "repository", key, package(tmp_path, "0.3.0"))
    assert refused.returncode == 1
    assert "its version 0.3.0 names no release; `make deb` builds it" in refused.stderr
