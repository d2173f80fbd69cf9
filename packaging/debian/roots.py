"""Clean roots of Debian's releases, and packages for them, for the tests of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from build import RELEASES

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
INCLUDED = "python3,systemd,zlib1g,libstdc++6,mosquitto,mosquitto-clients,prometheus,sudo"
"""Dependencies and recommendations, installed beforehand, because tests have no network."""
SOURCES = Path("/etc/apt/sources.list.d/debian.sources")


def run(*words: str | Path, path: str = os.environ["PATH"]) -> str:
    given = {**os.environ, "PATH": path}
    done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, env=given)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def lay(number: str, root: Path, included: str = INCLUDED) -> None:
    """Create a clean root of a Debian release with these packages, once."""
    clean = CHECKOUT / "build" / f"debian-{number}-with-{included.count(',') + 1}.tar"
    if not clean.exists():
        clean.parent.mkdir(exist_ok=True)
        made = clean.with_suffix(".part.tar")
        made.with_suffix(".sources").write_text(sources(number))
        words = ("mmdebstrap", "--variant=minbase", f"--include={included}")
        run(*words, RELEASES[number].codename, made, made.with_suffix(".sources"))
        made.rename(clean)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    run("tar", "--extract", "--file", clean, "--directory", root)


def sources(number: str) -> str:
    """Return the sources.list of a release: the archives configured on this machine, or else
    Debian's own.
    """
    codename = RELEASES[number].codename
    if SOURCES.exists():
        text = SOURCES.read_text()
        for release in RELEASES.values():
            text = text.replace(release.codename, codename)
        return text
    return f"deb http://deb.debian.org/debian {codename} main\n"


def inside(root: Path, script: str, network: bool = False) -> str:
    """Return the output of a script in a root, with separate processes and, without ``network``,
    only a loopback interface.
    """
    enter = (
        'ip link set lo up && mount -t proc proc "$0/proc" && exec chroot "$0" env -i '
        "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "
        'DEBIAN_FRONTEND=noninteractive "$@"'
    )
    isolated = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
    alone = () if network else ("--net",)
    return run(*isolated, *alone, "sh", "-c", enter, root, "sh", "-ec", script)


def package(commit: str, folder: str, number: str) -> Path:
    """Return the package of a commit, built if necessary. The name of an unreleased package has the
    commit.
    """
    short = run("git", "log", "-1", "--format=%H", commit)[:8]
    there = sorted((CHECKOUT / folder).glob(f"novamas_*.{short}+deb{number}_*.deb"))
    return there[0] if there else build(commit, folder, number)


def build(commit: str, folder: str, number: str) -> Path:
    (CHECKOUT / folder).mkdir(parents=True, exist_ok=True)
    path = f"{python(number)}:{os.environ['PATH']}"
    words = (sys.executable, HERE / "build.py", commit, folder, number)
    return Path(run(*words, path=path).splitlines()[-1])


def python(number: str) -> Path:
    """Return a folder with the Python of a release: of this machine, or of a root of the release
    with its libraries.
    """
    program = f"python{RELEASES[number].python}"
    if Path("/usr/bin", program).exists():
        return Path("/usr/bin")
    root = CHECKOUT / "build" / f"python-root-{number}"
    folder = root / "here"
    if not folder.exists():
        lay(number, root)
        (loader,) = root.glob("usr/lib/*-linux-gnu/ld-linux-*.so.*")
        folder.mkdir()
        wrapper = folder / program
        wrapper.write_text(
            f"#!/bin/sh\nPYTHONHOME={root}/usr exec {loader} --library-path {loader.parent}"
            f' {root}/usr/bin/{program} "$@"\n'
        )
        wrapper.chmod(0o755)
    return folder
