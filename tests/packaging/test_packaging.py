"""The contents of the Debian package: a page of the manual and a completion for every command and
option, a version that Debian sorts, units that systemd accepts. The package itself is tried by
`make deb-test`.
"""

from __future__ import annotations

import argparse
import os
import re
import runpy
import subprocess
import sys
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from controller.cli import SUBCOMMANDS

ROOT = Path(__file__).parents[2]
PARTS = ROOT / "packaging" / "debian"
SYSTEMD = ROOT / "systemd"


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Any:
    """They import each other from their own folder."""
    sys.path.insert(0, str(PARTS))
    yield
    sys.path.remove(str(PARTS))


def script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(PARTS / f"{name}.py"))


@pytest.fixture(scope="module")
def commands(scripts: None) -> dict[str, argparse.ArgumentParser]:
    return {name: parser for name, _, parser in script("command_tree")["commands"]()}


@pytest.fixture(scope="module")
def completions(scripts: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The file of each shell."""
    folder, completion = tmp_path_factory.mktemp("share"), script("completion")
    completion["main"](folder)
    return {shell: folder / name for shell, name in completion["FILES"].items()}


def options(parser: argparse.ArgumentParser) -> set[str]:
    """The documented long options."""
    return {
        word
        for action in parser._actions
        if action.help is not argparse.SUPPRESS
        for word in action.option_strings
        if word.startswith("--")
    }


def test_the_tree_has_every_command_and_action(
    commands: dict[str, argparse.ArgumentParser],
) -> None:
    assert [name for name in commands if " " not in name] == list(SUBCOMMANDS)
    assert {"carrousel verify", "surveillance search", "surveillance settle"} <= commands.keys()
    assert {"--jackpot", "--number"} <= options(commands["carrousel receipt"])
    assert "--fault" in options(commands["simulate"])


def test_each_command_has_a_page_of_the_manual_with_all_its_options(
    commands: dict[str, argparse.ArgumentParser], tmp_path: Path
) -> None:
    script("manual")["main"](tmp_path, "0.2.0", "2026-11-23")
    pages = {path.name: path.read_text().replace("\\-", "-") for path in tmp_path.iterdir()}
    assert pages.keys() == {"novamas.1", *(f"novamas-{name}.1" for name in SUBCOMMANDS)}
    for name, parser in commands.items():
        command = name.partition(" ")[0]
        page = pages[f"novamas-{command}.1"]
        told = set(re.findall(r"--[a-z][a-z-]*", page))
        assert options(parser) <= told, name
        assert f"novamas {name}" in page
        assert f"novamas-{command}" in pages["novamas.1"]


def test_each_shell_completes_every_command_and_option(
    commands: dict[str, argparse.ArgumentParser], completions: dict[str, Path]
) -> None:
    for name, path in completions.items():
        words = set(re.findall(r"[a-z][a-z-]*", path.read_text()))
        for command, parser in commands.items():
            assert set(command.split()) <= words, (name, command)
            if command not in ("carrousel", "surveillance"):  # they complete their actions
                assert {option.removeprefix("--") for option in options(parser)} <= words, name


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (["novamas", "dec"], {"decode"}),
        (["novamas", "surveillance", "se"], {"settle", "search"}),
        (["novamas", "carrousel", "verify", "--chec"], {"--checkpoint"}),
    ],
    ids=["command", "action", "option"],
)
def test_bash_completes(
    completions: dict[str, Path], typed: list[str], completed: set[str]
) -> None:
    asked = (
        f'source "{completions["bash"]}"; '
        f"COMP_WORDS=({' '.join(typed)}); COMP_CWORD={len(typed) - 1}; "
        f'_shtab_novamas novamas "{typed[-1]}"; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=False)
    assert set(done.stdout.split()) == completed, done.stderr


@pytest.mark.usefixtures("programs")
def test_debian_sorts_versions_as_they_were_made() -> None:
    version = script("build")["debian_version"]
    day, later = datetime(2026, 11, 22, 9, tzinfo=UTC), datetime(2026, 11, 22, 10, tzinfo=UTC)
    made = [
        version("0.2.0.dev0", day, "f" * 40),
        version("0.2.0.dev0", later, "0" * 40),
        version("0.2.0rc1", later, "0" * 40),
        version("0.2.0", later, "0" * 40),
    ]
    assert made[-1] == "0.2.0"
    for older, newer in pairwise(made):
        compared = ["dpkg", "--compare-versions", older, "lt", newer]
        assert subprocess.run(compared, check=False).returncode == 0, (older, newer)
    assert "Version: @VERSION@\n" in (PARTS / "control").read_text()


@pytest.mark.usefixtures("programs")
def test_the_package_of_a_newer_debian_is_an_upgrade_and_any_later_version_too() -> None:
    build = script("build")
    day, later = datetime(2026, 11, 22, 9, tzinfo=UTC), datetime(2026, 11, 22, 10, tzinfo=UTC)
    versions = [
        build["debian_version"](*each, "f" * 40)
        for each in [("0.2.0.dev0", day), ("0.2.0.dev0", later), ("0.2.0rc1", day), ("0.2.0", day)]
    ]
    made = [
        each
        for version in (*versions, "0.2.1")
        for each in (version, *(build["for_release"](version, number) for number in ("12", "13")))
    ]
    assert [*build["RELEASES"]] == ["12", "13"]
    for older, newer in pairwise(made):
        compared = ["dpkg", "--compare-versions", older, "lt", newer]
        assert subprocess.run(compared, check=False).returncode == 0, (older, newer)


@pytest.mark.usefixtures("programs")
def test_the_package_handles_every_unit_and_systemd_accepts_them(tmp_path: Path) -> None:
    build = script("build")
    build["lay_units"](ROOT, PARTS, tmp_path)
    laid = tmp_path / build["SYSTEM"]
    named = {unit.strip("'").replace("@*", "@") for unit in build["UNITS"]}
    units = {path.name for path in laid.iterdir() if path.is_file()}
    assert named | {"novamas-carrousel-verify.service"} == units
    program = str(Path(sys.executable).with_name("novamas"))
    for path in laid.rglob("*"):
        if path.is_file():
            assert "/opt/" not in path.read_text()
            path.write_text(path.read_text().replace("/usr/bin/novamas", program))
    found = {**os.environ, "SYSTEMD_UNIT_PATH": f"{laid}:"}
    asked = [name.replace("@.", "@palma.") for name in sorted(units)]
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *asked],
        env=found,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (verified.returncode, verified.stderr) == (0, "")
