"""The guest: a Debian 12 disk image from packages, with kernel, systemd and Mosquitto. Built once,
and again when its recipe changes.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "build" / "vm"
OVERLAY_FOLDER = HERE / "root"
"""Files copied over the packages, with their paths in the guest."""
SOURCES = Path("/etc/apt/sources.list.d/debian.sources")
PACKAGES = (
    *("linux-image-amd64", "systemd-sysv", "udev", "dbus", "kmod", "e2fsprogs", "iproute2"),
    *("procps", "util-linux", "usbutils"),
    # What the package of this project depends on and recommends: it is installed without a network.
    *("python3", "zlib1g", "libstdc++6", "mosquitto", "mosquitto-clients"),
)
ENABLED = ("host-commands", "systemd-networkd")
MASKED = ("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer")
MODULES = ("virtio_pci", "virtio_blk", "ext4")
"""Modules in the initial file system of the kernel: enough to find the disk."""
SIZE = "3G"


class Image(NamedTuple):
    disk: Path
    kernel: Path
    initrd: Path


def image() -> Image:
    """Return the guest's disk without our package, its kernel, and its initial file system."""
    recipe = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(OVERLAY_FOLDER.rglob("*")):
        if path.is_file():
            recipe.update(f"{path.relative_to(OVERLAY_FOLDER)}\n".encode() + path.read_bytes())
    made = FOLDER / f"debian-12-{recipe.hexdigest()[:12]}"
    found = Image(made / "root.ext4", made / "vmlinuz", made / "initrd.img")
    if made.exists():
        return found
    FOLDER.mkdir(parents=True, exist_ok=True)
    part, root = made.with_suffix(".part"), FOLDER / "root"
    for folder in (part, root):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    try:
        _lay(root)
        (kernel,) = (root / "boot").glob("vmlinuz-*")
        (initrd,) = (root / "boot").glob("initrd.img-*")
        shutil.copyfile(kernel, part / found.kernel.name)
        shutil.copyfile(initrd, part / found.initrd.name)
        _run("mke2fs", "-q", "-t", "ext4", "-d", root, part / found.disk.name, SIZE)
        part.rename(made)
    finally:
        shutil.rmtree(root)
    return found


def _lay(root: Path) -> None:
    """Unpack the packages, and copy the guest's files over them."""
    modules = "\\n".join(MODULES)
    small = (
        'mkdir -p "$1/etc/initramfs-tools/conf.d" && '
        'echo MODULES=list >"$1/etc/initramfs-tools/conf.d/guest" && '
        f'printf "{modules}\\n" >"$1/etc/initramfs-tools/modules"'
    )
    archive = root.with_suffix(".tar")
    source = [SOURCES] if SOURCES.exists() else []
    debstrap = ("mmdebstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}")
    _run(*debstrap, f"--essential-hook={small}", "bookworm", archive, *source)
    _run("tar", "--extract", "--file", archive, "--directory", root)
    archive.unlink()
    shutil.copytree(OVERLAY_FOLDER, root, dirs_exist_ok=True)
    for unit in ENABLED:
        _run("systemctl", f"--root={root}", "enable", unit)
    for unit in MASKED:
        _run("systemctl", f"--root={root}", "mask", unit)
    (root / "etc/hostname").write_text("guest\n")
    (root / "etc/machine-id").write_text("")
    (root / "etc/mosquitto/passwords").write_text("")
    (root / "var/lib/novamas").mkdir(exist_ok=True)


def _run(*words: str | Path) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{words[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
