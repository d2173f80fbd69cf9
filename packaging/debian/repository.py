"""Write packages into a signed apt repository: repository.py FOLDER KEY PACKAGE.deb...

Requires reprepro and GnuPG. KEY is an id of a secret key in the keyring of GnuPG. FOLDER can be
served by any web server or mounted; its public key is FOLDER/novamas.asc. It has the newest package
for each release: a newer one replaces it, and an older one is left out.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from build import RELEASES

ARCHITECTURES = "amd64 arm64"
DISTRIBUTION = """\
Origin: Novamás
Label: Novamás
Suite: {codename}
Codename: {codename}
Architectures: {architectures}
Components: main
SignWith: {key}

"""


def main(folder: str, key: str, *packages: str) -> int:
    """Add the packages, each to the release that its version names. Return the exit status."""
    base = Path(folder)
    (base / "conf").mkdir(parents=True, exist_ok=True)
    (base / "conf" / "distributions").write_text(
        "".join(
            DISTRIBUTION.format(codename=each.codename, architectures=ARCHITECTURES, key=key)
            for each in RELEASES.values()
        )
    )
    (base / "novamas.asc").write_text(run("gpg", "--batch", "--armor", "--export", key))
    for package in packages:
        run("reprepro", "--silent", "-b", folder, "includedeb", codename(package), package)
    run("reprepro", "--silent", "-b", folder, "export")
    print(base.resolve())
    return 0


def codename(package: str) -> str:
    """Return the codename of the Debian release that a package is built for."""
    version = run("dpkg-deb", "--field", package, "Version").strip()
    number = re.search(r"\+deb(\d+)$", version)
    if number is None or number[1] not in RELEASES:
        raise SystemExit(f"{package}: its version {version} names no release; `make deb` builds it")
    return RELEASES[number[1]].codename


def run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{words[0]}: {done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    if len(sys.argv) < 4:
        raise SystemExit("usage: repository.py FOLDER KEY PACKAGE.deb...")
    raise SystemExit(main(*sys.argv[1:]))
