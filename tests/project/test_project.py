"""The project itself: pinned dependencies, short files, correct documents, no trace of
any machine.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest

from controller.cli import SUBCOMMANDS, main
from devices.drivers import DRIVERS
from tests.chaos.__main__ import THROUGH_A_HELPER, with_a_long_form

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = PROJECT["tool"]["importlinter"]["root_packages"]
ORDINARY = ("/", "/tmp", "/opt", "/srv")
"""Folders that may contain a checkout and that every machine has."""


def files() -> list[Path]:
    """The files of the project."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    paths = [ROOT / name.decode() for name in listed.split(b"\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def binary(path: Path) -> bool:
    return b"\0" in path.read_bytes()[:8192]


def tracked() -> list[Path]:
    """The files of the project that are text."""
    return [path for path in files() if not binary(path)]


def requirement(text: str) -> str:
    """The name of a requirement, in its one form."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", text, maxsplit=1)[0]).lower()


PIN = (
    r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+]+)( ; [^\\]+?)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n"
)
"""One entry of a file of pins: name, version, environment marker, hashes."""


def pins(name: str) -> dict[str, tuple[str, str]]:
    """Entries of a file of pins, each with its version and its hashes. Anything else in it, such as
    an address, is a mistake.
    """
    text = re.sub(r"^#.*\n", "", (ROOT / name).read_text(), flags=re.MULTILINE)
    assert re.sub(PIN, "", text) == ""
    found = {requirement(entry[1]): (entry[2], entry[4]) for entry in re.finditer(PIN, text)}
    assert len(found) == len(re.findall(PIN, text))
    return found


@pytest.mark.parametrize(
    ("name", "extra"),
    [("constraints.txt", ""), ("constraints-dev.txt", "dev"), ("constraints-docs.txt", "docs")],
)
def test_every_dependency_is_pinned_with_its_hashes(name: str, extra: str) -> None:
    project = PROJECT["project"]
    asked = [*project["dependencies"], *PROJECT["build-system"]["requires"]]
    asked += project["optional-dependencies"][extra] if extra else []
    assert {requirement(each) for each in asked} <= pins(name).keys()


@pytest.mark.parametrize("name", ["constraints-dev.txt", "constraints-docs.txt"])
def test_the_checks_run_with_what_is_installed_in_production(name: str) -> None:
    production, checks = pins("constraints.txt"), pins(name)
    assert {name: checks.get(name) for name in production} == production


def test_the_site_is_built_with_what_the_checks_run_with() -> None:
    checks, site = pins("constraints-dev.txt"), pins("constraints-docs.txt")
    both = checks.keys() & site.keys()
    assert {name: site[name] for name in both} == {name: checks[name] for name in both}


def test_installed_packages_are_the_pinned_ones() -> None:
    checks = {name: version for name, (version, _) in pins("constraints-dev.txt").items()}
    installed = {
        requirement(distribution.name): distribution.version for distribution in distributions()
    }
    assert {
        name: version for name, version in installed.items() if version != checks.get(name, version)
    } == {}


@pytest.mark.parametrize("document", ["Makefile", "docs/technician/systemd.md"])
def test_pip_takes_nothing_without_its_hash(document: str) -> None:
    """Neither a dependency, nor the build requirements."""
    steps = re.findall(r"(?:\$\(INSTALL\)|\bpip install) [^`\n&]*", (ROOT / document).read_text())
    ours = [step for step in steps if "--no-deps --no-build-isolation" in step]
    assert ours
    assert [
        step
        for step in steps
        if step not in ours and "--require-hashes" not in step and "pip install --quiet" not in step
    ] == []


@pytest.mark.essential
@pytest.mark.usefixtures("programs")
def test_every_dependency_is_used() -> None:
    modules = {
        "argon2-cffi": "argon2",
        "evdev-binary": "evdev",
        "fpdf2": "fpdf",
        "libusb-package": "libusb_package",
        "nats-py": "nats",
        "paho-mqtt": "paho",
        "prometheus-client": "prometheus_client",
        "pyserial": "serial",
        "pyjwt": "jwt",
        "pynacl": "nacl",
        "pyusb": "usb",
    }
    imported: set[str] = set()
    for path in tracked():
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in PACKAGES:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    imported |= {name.name.partition(".")[0] for name in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    imported.add(node.module.partition(".")[0])
    asked = {
        modules.get(name, name) for name in map(requirement, PROJECT["project"]["dependencies"])
    }
    assert asked <= imported


@pytest.mark.essential
@pytest.mark.usefixtures("programs")
def test_no_file_names_a_machine_or_a_registry() -> None:
    """Paths below the checkout's own folder, home directories, and addresses that packages were
    fetched from.
    """
    homes = [
        "/" + "root/",
        "/" + "home/",
        *([] if str(ROOT.parent) in ORDINARY else [f"{ROOT.parent}/"]),
    ]
    marks = [*homes, "index" + "-url", "file:" + "///", "pypi" + ".org"]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {mark}"
        for path in tracked()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        for mark in marks
        if mark in line
    ]
    assert found == []


@pytest.mark.essential
@pytest.mark.usefixtures("programs")
def test_only_the_pictures_of_documents_and_licensed_fonts_are_binary() -> None:
    fonts = [path for path in files() if path.suffix == ".woff2"]
    assert all(
        [*path.parent.glob(f"{path.stem.removesuffix('-italic')}.LICENSE.txt")] for path in fonts
    )
    assert sum(path.stat().st_size for path in fonts) < 300_000
    found = {
        path.relative_to(ROOT).as_posix() for path in files() if binary(path) and path not in fonts
    }
    documents = [path.read_text() for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))]
    shown = {name for name in found if any(Path(name).name in text for text in documents)}
    assert [
        name for name in found if not name.endswith((".png", ".webp")) or name not in shown
    ] == []


@pytest.mark.essential
@pytest.mark.usefixtures("programs")
def test_no_file_is_left_behind_by_a_program() -> None:
    """Crash dumps, logs and backups of an editor or a merge."""
    left = re.compile(r"MnesiaCore\.|core(\.\d+)?$|.*(\.dump|\.log|\.pid|\.orig|\.rej|~)$")
    assert [str(path.relative_to(ROOT)) for path in files() if left.match(path.name)] == []


@pytest.mark.essential
@pytest.mark.usefixtures("programs")
def test_every_module_has_a_docstring() -> None:
    modules = [
        path
        for path in tracked()
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in PACKAGES
    ]
    assert modules
    assert [
        str(path.relative_to(ROOT))
        for path in modules
        if not ast.get_docstring(ast.parse(path.read_text()))
    ] == []


@pytest.mark.essential
@pytest.mark.usefixtures("programs")
def test_every_package_is_under_the_import_contracts() -> None:
    modules = [path.relative_to(ROOT).parts for path in tracked() if path.name == "__init__.py"]
    own = {"examples", "packaging"}  # extensions and clients are packages of others
    folders = {folder for folder, *_ in modules if folder not in own}
    assert folders == {*PACKAGES, "tests"}
    shipped = {
        name.removesuffix("*")
        for name in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    }
    assert shipped == set(PACKAGES) - {
        "benchmarks"
    }  # they stay in the source tree, as the tests do


def test_the_readme_names_commands_and_files_that_exist() -> None:
    commands = (ROOT / "docs/technician/commands.md").read_text()
    assert sorted(re.findall(r"^\| `novamas ([\w-]+)", commands, re.MULTILINE)) == sorted(
        SUBCOMMANDS
    )
    text = (ROOT / "README.md").read_text()
    assert set(re.findall(r"`novamas (\w+)", text)) <= set(SUBCOMMANDS)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)\b", text)) <= targets


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: novamas {name}" in capsys.readouterr().out


def test_the_readme_is_one_screen_and_names_every_driver() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 80
    named = set(re.findall(r"`([a-z0-9*-]+)`", text))
    boards = {name for name in DRIVERS if name.endswith("-board")}
    assert len(boards) == 5, "README counts them"
    assert set(DRIVERS) - boards <= named


def test_ci_runs_the_command_of_readme_and_then_the_rest() -> None:
    lines = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line]
    assert lines[:2] == ["#!/usr/bin/env bash", "set -euo pipefail"]
    assert lines[-2:] == ["make test", "make test-rest"]


def test_every_test_with_a_long_form_is_run_in_it() -> None:
    """By ``make chaos``, which runs its own tests and these; those of ``tests/brokers`` by
    ``make brokers``.
    """
    found = {path.relative_to(ROOT / "tests").as_posix() for path in with_a_long_form()}
    assert {
        "controller/games/test_drives.py",  # takes `cases`
        "subscribers/carrousel/test_store.py",  # takes `long`
        *THROUGH_A_HELPER,
    } <= found
    assert not {name for name in found if name.startswith(("chaos/", "brokers/"))}
    assert all((ROOT / "tests" / name).is_file() for name in found)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("long_form", ["tests.chaos", "tests.brokers"])
def test_a_long_form_begins(long_form: str) -> None:
    command = [sys.executable, "-m", long_form, "--collect-only", "-k", "faults or checks"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
