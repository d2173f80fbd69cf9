"""Build an image for containers from the Debian package: container_image.py PACKAGE.deb FOLDER.

The smallest root of Debian with the package and Mosquitto, from the archives that apt on this
machine is configured with. Requires mmdebstrap and buildah. Written in two formats:
FOLDER/novamas_VERSION_ARCHITECTURE.docker.tar is what `podman load` and `docker load` read with its
healthcheck, for which the format of OCI has no place; .oci.tar is for registries and Kubernetes.
All files have the time of the package's commit.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import roots

from build import RELEASES

UID = 10001
"""User of every program in the image, who may open serial ports (group `dialout`). A number: the
volumes of one image stay readable for the next, and Kubernetes sees that it is not root.
"""
NAME = "localhost/novamas"
CONFIGURATION, STATE = "/etc/novamas", "/var/lib/novamas"
INCLUDED = (
    *("python3", "zlib1g", "libstdc++6", "tzdata", "ca-certificates", "mosquitto"),
    *("systemd-standalone-sysusers", "systemd-standalone-tmpfiles"),
)
"""What the package depends on, the broker, time zones, and the authorities of certificates."""
LEFT_OUT = ("doc", "info", "locale", "man", "lintian", "bash-completion", "fish", "zsh")
"""Folders below `/usr/share` that nobody reads in a container."""
KEPT = ("doc/*/copyright", "doc/novamas/contents.cdx.json", "doc/novamas/examples/*")
"""Files below them all the same."""
SETTLE = f"""\
set -e
root="$1"
mkdir -p "$root/etc/sysusers.d"
echo 'u novamas {UID} "Novamas" {STATE}' >"$root/etc/sysusers.d/novamas.conf"
cp "$PACKAGE" "$root/novamas.deb"
chroot "$root" dpkg --install /novamas.deb
chroot "$root" usermod --append --groups dialout novamas
chroot "$root" python3 -m compileall -q -f --invalidation-mode unchecked-hash /usr/lib/python3*
cd "$root"
find usr/share/doc -depth -type d -empty -delete
find . -xdev -perm /6000 -type f -exec chmod ug-s {{}} +
rm -rf novamas.deb etc/sysusers.d/novamas.conf etc/apt/sources.list* etc/dpkg/dpkg.cfg.d
rm -rf var/cache/* var/log/* var/lib/apt var/backups/* tmp/* run/* etc/*- var/lib/dpkg/*-old
"""
"""Install the package, and remove what it leaves of this machine. Files get the time of the image,
so Python's compiled modules must not be judged by that of their source.
"""
SETTINGS = (
    *(f"--user={UID}", f"--workingdir={CONFIGURATION}", "--stop-signal=SIGTERM"),
    *('--entrypoint=["novamas"]', "--cmd=run novamas.toml"),
    *(f"--volume={CONFIGURATION}", f"--volume={STATE}", "--port=1883/tcp", "--port=8080/tcp"),
    *("--env=LANG=C.UTF-8", f"--env=STATE_DIRECTORY={STATE}"),
    *("--healthcheck=CMD novamas health novamas.toml", "--healthcheck-interval=30s"),
    *("--healthcheck-timeout=15s", "--healthcheck-start-period=60s", "--healthcheck-retries=3"),
    "--label=org.opencontainers.image.title=Novamás",
    "--label=org.opencontainers.image.description=results of the gaming tables of a casino",
    "--label=org.opencontainers.image.licenses=Apache-2.0",
)


def main(package: str, folder: str) -> int:
    """Build both archives, print their paths, and return the exit status."""
    deb, target = Path(package).resolve(), Path(folder).resolve()
    version = run("dpkg-deb", "--field", deb, "Version").strip()
    number = re.search(r"\+deb(\d+)$", version)
    if number is None or number[1] not in RELEASES:
        raise SystemExit(f"{package}: its version {version} names no release; `make deb` builds it")
    work = target / "image"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        root, seconds = work / "root.tar", time_of(deb)
        print(f"{deb.stem}: Debian {number[1]} with the package", flush=True)
        lay(number[1], deb, root, seconds)
        print(f"{deb.stem}: image", flush=True)
        for path in pack(root, target / deb.stem, version, seconds):
            print(path)
    finally:
        shutil.rmtree(work)
    return 0


def time_of(deb: Path) -> int:
    """Return the time of the package's commit, which all its files have."""
    words = ("dpkg-deb", "--fsys-tarfile", str(deb))
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        with tarfile.open(fileobj=process.stdout, mode="r|") as files:
            first = files.next()
        process.kill()
    assert first is not None
    return int(first.mtime)


def lay(number: str, deb: Path, root: Path, seconds: int) -> None:
    """Write the root as a tar."""
    sources, settle = root.with_suffix(".sources"), root.with_suffix(".sh")
    sources.write_text(roots.sources(number))
    settle.write_text(SETTLE)
    excluded = (f"path-exclude=/usr/share/{name}/*" for name in LEFT_OUT)
    included = (f"path-include=/usr/share/{name}" for name in KEPT)
    hook = f'PACKAGE={shlex.quote(str(deb))} sh {shlex.quote(str(settle))} "$1"'
    run(
        *("mmdebstrap", "--quiet", "--variant=essential", f"--include={','.join(INCLUDED)}"),
        '--aptopt=APT::Install-Recommends "false"',
        *(f"--dpkgopt={each}" for each in (*excluded, *included)),
        *(f"--customize-hook={hook}", RELEASES[number].codename, root, sources),
        environment={"SOURCE_DATE_EPOCH": str(seconds)},
    )


def pack(root: Path, target: Path, version: str, seconds: int) -> list[Path]:
    """Make the image of a root, in a store of its own, and write it in both formats. The archive of
    Docker has two names of it, that of its version and the latest.
    """
    store = root.parent
    stored = (f"--root={store / 'store'}", f"--runroot={store / 'run'}", "--storage-driver=vfs")

    def buildah(*words: str | Path) -> str:
        return run("buildah", *stored, *words).strip()

    made = buildah("from", "scratch")
    buildah("add", "--quiet", made, root, "/")
    label = f"--label=org.opencontainers.image.version={version}"
    buildah("config", *SETTINGS, label, made)
    how = ("--quiet", "--format=docker", f"--timestamp={seconds}")
    image = f"{NAME}:latest"
    buildah("commit", *how, made, image)
    written = []
    for kind in ("docker", "oci"):
        path = target.with_name(f"{target.name}.{kind}.tar")
        path.unlink(missing_ok=True)
        tag = re.sub(r"[^\w.-]", "-", version)
        buildah("push", "--quiet", image, f"{kind}-archive:{path}:{NAME}:{tag}")
        written.append(path)
    return written


def run(*words: str | Path, environment: dict[str, str] | None = None) -> str:
    """Return the output of a command. Ends the build if it fails."""
    given = {**os.environ, **(environment or {})}
    done = subprocess.run(words, env=given, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"make image: {words[0]}: {done.stderr.strip()[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: container_image.py PACKAGE.deb FOLDER")
    raise SystemExit(main(*sys.argv[1:]))
