"""Build build/novamas_VERSION+debNN_ARCHITECTURE.deb from a commit: build.py [COMMIT] [FOLDER]
[RELEASE].

RELEASE is the Debian release of the package, a key of ``RELEASES``; by default that of this
machine. Requires the Python of that release, which compiles the environment, in `/usr/bin` or on
PATH, and this project's own `.venv`. Uncommitted changes are not in the package. Two builds of one
commit with the same Python are equal byte for byte.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from platform import freedesktop_os_release
from typing import NamedTuple

from contents import contents

CHECKOUT = Path(__file__).parents[2]
HOME = "usr/lib/novamas"
SHARE = "usr/share/doc/novamas"
SITE = f"{SHARE}/html"
SYSTEM = "usr/lib/systemd/system"
RECORDER = "novamas-surveillance"
UNITS = (
    *("novamas.service", "novamas-carrousel.service", "novamas-carrousel-verify.timer"),
    *("novamas-lights.service", "novamas-output.service", "novamas-sign.service"),
    *("novamas-surveillance.service", "'novamas-surveillance@*.service'"),
    *("novamas-web.service", "novamas-webhooks.service"),
)
"""Units restarted by an upgrade and stopped by a removal. A running verification may finish."""
LEFT_OUT = ("pillow", "pygments", "markdown-it-py", "mdurl")
"""Dependencies of libraries for features that are not used: pictures in a PDF, and source code or
Markdown on a terminal.
"""
UNUSED = ("fontTools/**/*.c", "fontTools/**/*.so")
"""C sources and extensions of a font library; PDFs here embed no fonts, and the library also has
them in Python.
"""
SCRIPTS = ("config", "preinst", "postinst", "prerm", "postrm")
"""Maintainer scripts run by dpkg."""
TRIGGERS = "interest-noawait /usr/lib/os-release\n"
"""Runs postinst also when Debian itself is upgraded, to name the package of the new release."""


class Release(NamedTuple):
    """A release of Debian: its name, and the version of its Python."""

    codename: str
    python: str


RELEASES = {"12": Release("bookworm", "3.11"), "13": Release("trixie", "3.13")}
"""Releases with a package, by number. A later release must sort as an upgrade."""


class Python(NamedTuple):
    """The Python that compiles the environment: its path, and its version as in folder names."""

    path: str
    version: str

    @property
    def site(self) -> str:
        """The site-packages folder, relative to the root."""
        return f"{HOME}/lib/python{self.version}/site-packages"


def main(named: str = "HEAD", folder: str = "build", number: str = "") -> int:
    """Build the package and return the exit status."""
    number = number or freedesktop_os_release().get("VERSION_ID", "")
    if number not in RELEASES:
        known = " or ".join(RELEASES)
        print(f"make deb builds for Debian {known}: name one, RELEASE=...", file=sys.stderr)
        return 1
    release = RELEASES[number]
    program = f"python{release.python}"
    path = shutil.which(program, path=f"/usr/bin:{os.environ['PATH']}")
    if path is None:
        print(f"make deb for Debian {number} needs {program}: it is not on PATH", file=sys.stderr)
        return 1
    python = Python(path, release.python)
    commit, seconds = run("git", "log", "-1", "--format=%H %ct", named).split()
    if named == "HEAD" and run("git", "status", "--porcelain"):
        print("what is not committed is not in the package", file=sys.stderr)
    work = CHECKOUT / folder / "deb"
    shutil.rmtree(work, ignore_errors=True)
    source, root = work / "source", work / "root"
    source.mkdir(parents=True)
    archive = work / "source.tar"
    run("git", "archive", f"--output={archive}", commit)
    run("tar", "--extract", "--file", archive, "--directory", source)
    os.environ |= {"SOURCE_DATE_EPOCH": seconds, "PYTHONHASHSEED": "0", "COLUMNS": "80"}
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
    parts = source / "packaging" / "debian"
    if not parts.exists():
        print(f"{named} has no packaging/debian: it is older than this package", file=sys.stderr)
        return 1
    time = datetime.fromtimestamp(int(seconds), UTC)
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    version = for_release(debian_version(project["version"], time, commit), number)
    architecture = run("dpkg", "--print-architecture").strip()
    name = f"novamas_{version}_{architecture}"

    print(f"{name}: environment", flush=True)
    wheels = environment(source, root, work, python)
    print(f"{name}: package", flush=True)
    listed = contents(root / python.site, wheels, time)
    lay(source, parts, root, python)
    generate(parts, source, root, version, release.codename, time)
    (root / SHARE / "contents.cdx.json").write_text(listed)
    control(parts, root, version, architecture, number)
    settle(root, int(seconds))
    package = CHECKOUT / folder / f"{name}.deb"
    pack = ("dpkg-deb", "--root-owner-group", "-Zxz", "-z3", "--threads-max=1", "--build")
    run(*pack, root, package)
    package.with_suffix(".cdx.json").write_text(listed)
    print(package)
    return 0


def debian_version(version: str, time: datetime, commit: str) -> str:
    """Convert a Python version to Debian's order. An unreleased one gets the time of its commit."""
    ordered = re.sub(r"\.?(dev|a|b|rc)", r"~\1", version)
    return f"{ordered}+{time:%Y%m%d.%H%M%S}.{commit[:8]}" if ".dev" in version else ordered


def for_release(version: str, number: str) -> str:
    """Return the version of the package for a Debian release; it is higher for a newer release.
    With ``~``, 0.2.0 would sort before its own candidate 0.2.0~rc1.
    """
    return f"{version}+deb{number}"


def environment(source: Path, root: Path, work: Path, python: Python) -> dict[str, str]:
    """Install every dependency with its pinned hash, and this project, for the release's Python.
    Return the SHA-256 of each installed file, by distribution.
    """
    pinned = re.split(r"^(?=\S)", (source / "constraints.txt").read_text(), flags=re.MULTILINE)
    needed = work / "requirements.txt"
    without = tuple(f"{name}==" for name in ("setuptools", *LEFT_OUT))
    needed.write_text("".join(each for each in pinned if not each.startswith(without)))
    report, target = work / "installed.json", root / python.site
    pip = (sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check")
    to = ("--python", python.path, "install", "--no-compile", "--no-deps", "--target", target)
    only = ("--only-binary", ":all:", "--no-warn-conflicts")
    run(*pip, *to, *only, "--require-hashes", "--requirement", needed, "--report", report)
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", work, source)
    (wheel,) = work.glob("novamas-*.whl")
    version = wheel.name.split("-")[1]
    run(*pip, *to, "--no-index", "--find-links", work, f"novamas=={version}")
    shutil.rmtree(target / "bin", ignore_errors=True)
    unused = [file for pattern in UNUSED for file in target.glob(pattern)]
    for file in [*target.rglob("direct_url.json"), *target.rglob("REQUESTED"), *unused]:
        file.unlink()
    installed = json.loads(report.read_text())["install"]
    hashes = {
        each["metadata"]["name"]: each["download_info"]["archive_info"]["hashes"]["sha256"]
        for each in installed
    }
    return {**hashes, "novamas": hashlib.sha256(wheel.read_bytes()).hexdigest()}


def lay(source: Path, parts: Path, root: Path, python: Python) -> None:
    """Compile the program, and copy other files of the source."""
    put = partial(_put, root)
    put("usr/bin/novamas", (parts / "novamas").read_text())
    put(f"{HOME}/pyvenv.cfg", (parts / "pyvenv.cfg").read_text())
    (root / HOME / "bin").mkdir()
    (root / HOME / "bin" / "python3").symlink_to(f"../../../bin/python{python.version}")
    compiled = ("-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash")
    run(python.path, *compiled, "-s", root, "-p", "/", root / HOME)

    lay_units(source, parts, root)
    put(f"{SHARE}/copyright", (parts / "copyright").read_text())
    put("usr/share/lintian/overrides/novamas", (parts / "lintian-overrides").read_text())
    for file in [
        source / "README.md",
        source / "CHANGELOG.md",
        *sorted((source / "docs").rglob("*.md")),
        *sorted((source / "docs").rglob("monitoring/*")),
    ]:
        put(f"{SHARE}/{file.relative_to(source)}", file.read_text())
    samples = (source / "docs").rglob("novamas.toml")
    for file in [*samples, *sorted((source / "examples").iterdir())]:
        put(f"{SHARE}/examples/{file.name}", file.read_text())


def lay_units(source: Path, parts: Path, root: Path) -> None:
    """Write the systemd units adapted to the package, and the udev rules."""
    put = partial(_put, root)
    for file in sorted((source / "systemd").iterdir()):
        text = file.read_text().replace("/opt/novamas/bin/novamas ", "/usr/bin/novamas ")
        where = "usr/lib/udev/rules.d" if file.suffix == ".rules" else SYSTEM
        put(f"{where}/{file.name}", text)
        if file.suffix == ".service":
            own = "novamas" if file.stem == "novamas" else "other-services"
            override = (parts / "units" / f"{own}.conf").read_text()
            put(f"{SYSTEM}/{file.name}.d/package.conf", override)
        if file.stem == RECORDER:
            put(f"{SYSTEM}/{RECORDER}@.service", text)
            put(f"{SYSTEM}/{RECORDER}@.service.d/package.conf", override)
            instance = (parts / "units" / "surveillance-instance.conf").read_text()
            put(f"{SYSTEM}/{RECORDER}@.service.d/surveillance-instance.conf", instance)
    put("usr/lib/sysusers.d/novamas.conf", (parts / "novamas.sysusers").read_text())
    put("usr/lib/tmpfiles.d/novamas.conf", (parts / "novamas.tmpfiles").read_text())


def _put(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def generate(
    parts: Path, source: Path, root: Path, version: str, codename: str, time: datetime
) -> None:
    """Write site-packages, the manual pages, the completions and the changelog."""
    python = (sys.executable, "-P")
    ours = {"PYTHONPATH": f"{source}:{parts}"}
    manual = root / "usr/share/man/man1"
    run(*python, parts / "manual.py", manual, version, f"{time:%F}", environment=ours)
    run(*python, parts / "completion.py", root / "usr/share", environment=ours)
    site = source / "packaging" / "site"
    if site.exists():
        strict = ("-q", "-W", "-j", "1", "-c", site, "-d", root.parent / "doctrees")
        run(*python, "-m", "sphinx", *strict, source / "docs", root / SITE, environment=ours)
        (root / SITE / ".buildinfo").unlink()
        (root / SITE / "objects.inv").unlink()
    changes = root / SHARE / "changelog"
    (keeper,) = re.findall(r"^Maintainer: (.*)", (parts / "control").read_text(), re.MULTILINE)
    changes.write_text(
        f"novamas ({version}) {codename}; urgency=medium\n\n  * What changed: CHANGELOG.md.\n\n"
        f" -- {keeper}  {format_datetime(time)}\n"
    )
    for page in [*manual.iterdir(), changes]:
        page.with_name(f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), 9, mtime=0))
        page.unlink()


def control(parts: Path, root: Path, version: str, architecture: str, number: str) -> None:
    """Write the control files of dpkg."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    words = {
        "VERSION": version,
        "ARCHITECTURE": architecture,
        "SIZE": str(sum(-(-path.stat().st_size // 1024) for path in files)),
        "UNITS": " ".join(UNITS),
        "RELEASE": number,
        "PYTHON": f"python{RELEASES[number].python}",
    }
    folder = root / "DEBIAN"
    folder.mkdir()
    for name in ("control", "templates", *SCRIPTS):
        text = re.sub(r"@([A-Z]+)@", lambda found: words[found[1]], (parts / name).read_text())
        (folder / name).write_text(text)
    (folder / "triggers").write_text(TRIGGERS)
    (folder / "md5sums").write_text(
        "".join(
            f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}"
            f"  {path.relative_to(root)}\n"
            for path in files
        )
    )


def settle(root: Path, seconds: int) -> None:
    """Set every file's mode, and the commit's time."""
    programs = {root / "usr/bin/novamas"}
    programs |= {root / "DEBIAN" / name for name in SCRIPTS}
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path in programs else 0o644)
        os.utime(path, (seconds, seconds), follow_symlinks=False)


def run(*words: str | Path, environment: dict[str, str] | None = None) -> str:
    """Return the output of a command. Ends the build if it fails."""
    given = {**os.environ, **(environment or {})}
    done = subprocess.run(words, cwd=CHECKOUT, env=given, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"make deb: {' '.join(map(str, words[:4]))} ended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
