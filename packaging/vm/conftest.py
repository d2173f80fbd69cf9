"""One guest for all tests, which must run in order: this project's package is installed and its
daemon runs. The disk of its journal has a simulated write-back cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from disk import Disk
from guest import Guest, acceleration
from image import HERE, Image, image
from play import WHEEL, Simulator, open_session, until_link, until_more

from tests.support.brokers.mosquitto import Subscriber

CHECKOUT = HERE.parents[1]
DATA_SIZE = "96M"


def printed(*words: str | Path) -> str:
    done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def package(commit: str, folder: str) -> Path:
    """Return the package of a commit, built if necessary."""
    short = printed("git", "log", "-1", "--format=%H", commit)[:8]
    if there := sorted((CHECKOUT / folder).glob(f"novamas_*.{short}+deb12_*.deb")):
        return there[0]
    (CHECKOUT / folder).mkdir(parents=True, exist_ok=True)
    build = CHECKOUT / "packaging" / "debian" / "build.py"
    return Path(printed(sys.executable, build, commit, folder, "12").splitlines()[-1])


@pytest.fixture(scope="session")
def present() -> Path:
    """The tested package: of this commit, or the file in DEB."""
    named = os.environ.get("DEB")
    return Path(named) if named else package("HEAD", "build")


@pytest.fixture(scope="session")
def older() -> Path:
    """The package to upgrade from: of the commit BASE, else of the last tag or the parent."""
    tags = printed("git", "tag", "--sort=-creatordate", "--merged", "HEAD^").split()
    return package(os.environ.get("BASE") or (tags[0] if tags else "HEAD^"), "build/deb-older")


@pytest.fixture(scope="session")
def machine() -> tuple[Image, str]:
    """The guest's disk image, and the accelerator."""
    if os.geteuid() != 0:
        pytest.exit("make vm makes a root and mounts the guest's disk: run it as root", 1)
    made = image()
    accelerator = acceleration(made)
    print(f"the guest runs by {accelerator}")
    return made, accelerator


@pytest.fixture(scope="session")
def handed(present: Path, older: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages and the site's files, attached to the guest as a disk."""
    path = tmp_path_factory.mktemp("handed") / "handed.tar"
    with tarfile.open(path, "w") as packed:
        packed.add(present, "site/novamas.deb")
        packed.add(older, "site/novamas-older.deb")
        for file in sorted((HERE / "site").iterdir()):
            packed.add(file, f"site/{file.name}")
    return path


@pytest.fixture(scope="session")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    folder = tmp_path_factory.mktemp("disk")
    empty = folder / "data.ext4"
    printed("mke2fs", "-q", "-t", "ext4", "-b", "4096", empty, DATA_SIZE)
    served = Disk(folder / "nbd", empty.read_bytes())
    yield served
    served.close()


@pytest.fixture(scope="session")
def guest(
    machine: tuple[Image, str],
    disk: Disk,
    handed: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Guest]:
    """The booted guest with the package installed by hand and the daemon running."""
    made = Guest(tmp_path_factory.mktemp("guest"), *machine, disk.path, handed)
    try:
        made.start()
        made.run("tar --extract --file /dev/disk/by-id/virtio-handed --directory /srv")
        made.run("DEBIAN_FRONTEND=noninteractive dpkg --install /srv/site/novamas.deb")
        made.run("sh -e /srv/site/settle && sync")
        yield made
    finally:
        made.power_off()


@pytest.fixture
def heard(guest: Guest) -> Iterator[Subscriber]:
    """A subscriber outside the guest."""
    subscriber = Subscriber(guest.broker)
    yield subscriber
    subscriber.close()


@pytest.fixture
def wheel(guest: Guest, heard: Subscriber) -> Iterator[Simulator]:
    """A playing wheel at the adapter, at a table with an open session and at least one result. Its
    speed is the one that the table expects; otherwise data after a delay would be late for ever.
    """
    with closing(Simulator("--games-per-hour", "120")) as made:
        guest.plug_serial("wheel", "WHEEL1", made.port)
        try:
            open_session(heard, WHEEL)
            until_more(heard, WHEEL, "round.result", 0)
            yield made
        finally:
            if guest.is_plugged("wheel"):
                guest.unplug("wheel")
            until_link(heard, WHEEL, "wheel", "lost")
