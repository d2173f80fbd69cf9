"""A stranger gets the first number of the own wheel in the browser, by package, by image and by
clone, from a clean Debian, with the commands of docs/technician/first-number.md alone: what setup
asks is answered from what it prints. `make stranger`; `-rP` shows the stopwatch.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
import roots
from containers import NUMBER, simulated_wheel
from containers import archives as archives
from containers import network as network
from containers import shown as shown
from engine import CHECKOUT, Engine, Image, Network, run
from stranger import Stranger, commands
from test_compose import listens, start

from tests.support.waiting import until

MOST_COMMANDS = 3
BUILD = CHECKOUT / "build"
ADDRESS = r"Open in the browser: (http://\S+/floor)"
FIRST = r"ruleta-1: first number (\d+)"
PAST_A_CLONE = "python3,python3-venv,git,make,sudo"
"""Debian's packages that the page names, beside a newcomer's `sudo`."""
ENTER = """\
mount -t proc proc "$0/proc"
mkdir -p "$0/dev/pts"
mount -t devpts -o ptmxmode=0666,gid=5 devpts "$0/dev/pts"
touch "$0/dev/ttyUSB0"
mount --bind "$1" "$0/dev/ttyUSB0"
exec chroot "$0" env -i HOME=/srv/newcomer TERM=dumb LANG=C.UTF-8 \\
  PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \\
  setpriv --reuid newcomer --regid newcomer --init-groups sh -ec "cd; $2"
"""
Look = Callable[[Sequence[str], str], str]


@pytest.fixture
def own_wheel(tmp_path: Path) -> Iterator[Path]:
    """A wheel at its own speed, twice a minute."""
    with simulated_wheel(tmp_path / "ttyUSB0", "--games-per-hour", "120") as port:
        yield port


def newcomer(root: Path, included: str) -> Path:
    """Lay a clean Debian 12 with a user who may `sudo` and open serial ports. Return the home."""
    roots.lay("12", root, included)
    roots.inside(
        root,
        "useradd --create-home --home-dir /srv/newcomer --groups dialout --shell /bin/sh newcomer",
    )
    (root / "etc/sudoers.d/newcomer").write_text("newcomer ALL=(ALL:ALL) NOPASSWD: ALL\n")
    return root / "srv" / "newcomer"


def inside(network: Network, root: Path, wheel: Path, typed: Sequence[str]) -> list[str]:
    """Return the words that start a newcomer's commands in a root."""
    isolated = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
    return network.inside(*isolated, "sh", "-ec", ENTER, root, wheel, "\n".join(typed))


def watch(way: str, typed: Sequence[str], stranger: Stranger, network: Network, look: Look) -> None:
    """Follow the stranger to the number in the browser, and print the stopwatch."""
    assert len(typed) <= MOST_COMMANDS
    with closing(stranger):
        address = stranger.until(ADDRESS)
        assert stranger.until(FIRST) == NUMBER
        assert look(network.inside(), address) == NUMBER
        questions = len(stranger.asked)
        print(f"{way}: {len(typed)} commands, {questions} answers, {stranger.seconds():.0f} s")


def test_by_package(network: Network, own_wheel: Path, shown: Look) -> None:
    root = BUILD / "stranger-package"
    home = newcomer(root, roots.INCLUDED)
    (package,) = (path for path in BUILD.glob("novamas_*+deb12_*.deb"))
    shutil.copyfile(package, home / package.name)
    (root / "etc/apt/apt.conf.d/yes").write_text('APT::Get::Assume-Yes "true";\n')
    typed = commands("By package")
    stranger = Stranger(inside(network, root, own_wheel, typed))
    watch("by package", typed, stranger, network, shown)
    shutil.rmtree(root)


def test_by_image(
    network: Network, own_wheel: Path, shown: Look, archives: dict[str, Path], tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
    stand_in = shlex.join([sys.executable, str(Path(__file__).with_name("podman_stand_in.py"))])
    (programs / "podman").write_text(f'#!/bin/sh\nexec {stand_in} "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    typed = commands("By image")
    script = f"cd {shlex.quote(str(BUILD))}\n" + "\n".join(typed)
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PODMAN_STAND_IN": str(tmp_path / "podman"),
        "STAND_IN_DEVICE": str(own_wheel),
    }
    assert archives["docker"].parent == BUILD
    stranger = Stranger(network.inside("sh", "-ec", script), environment)
    watch("by image", typed, stranger, network, shown)

    engine = Engine(Image.loaded(tmp_path / "podman"), tmp_path / "podman" / "engine", network)
    with closing(engine):
        names = ("broker", "daemon", "web", "surveillance")
        services = {name: start(engine, name, own_wheel) for name in names}
        daemon = services["daemon"]
        until("the daemon of the compose file", lambda: daemon.check().returncode == 0, daemon.log)
        until("the displays", lambda: listens(engine, 8080), services["web"].log)
        assert shown(network.inside(), "http://127.0.0.1:8080/table/ruleta-1") == NUMBER
        assert all(service.process.poll() is None for service in services.values())


@pytest.fixture
def python() -> Iterator[Path]:
    """A clean root with what Python needs of Debian, and its packages in a folder, since the
    network is none.
    """
    root = BUILD / "stranger-python"
    newcomer(root, PAST_A_CLONE)
    wheels = BUILD / "stranger-wheels"
    pip = (sys.executable, "-m", "pip", "-qq", "download", "--no-deps", "--require-hashes")
    run(*pip, "--dest", wheels, "--requirement", CHECKOUT / "constraints.txt")
    shutil.copytree(wheels, root / "srv" / "wheels")
    (root / "etc/pip.conf").write_text("[global]\nno-index = true\nfind-links = /srv/wheels\n")
    yield root
    shutil.rmtree(root)


def test_by_clone(network: Network, own_wheel: Path, shown: Look, python: Path) -> None:
    repository = python / "srv" / "novamas.git"
    run("git", "clone", "--quiet", "--bare", CHECKOUT, repository)
    run("chown", "--recursive", f"--reference={python / 'srv' / 'newcomer'}", repository)
    typed = [each.replace("REPOSITORY", "/srv/novamas.git") for each in commands("By clone")]
    stranger = Stranger(inside(network, python, own_wheel, typed))
    watch("by clone", typed, stranger, network, shown)


def test_by_wheel(network: Network, own_wheel: Path, shown: Look, python: Path) -> None:
    home = python / "srv" / "newcomer"
    pip = (sys.executable, "-m", "pip", "-qq", "wheel", "--no-deps", "--no-build-isolation")
    run(*pip, "--wheel-dir", home, CHECKOUT)
    shutil.copyfile(CHECKOUT / "constraints.txt", home / "constraints.txt")
    typed = commands("By wheel")
    stranger = Stranger(inside(network, python, own_wheel, typed))
    watch("by wheel", typed, stranger, network, shown)
