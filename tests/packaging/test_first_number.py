"""The ways to the first number, without walking them: each is short, and has what it names.
`make stranger` walks them.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controller.cli import SUBCOMMANDS

ROOT = Path(__file__).parents[2]
PARTS = ROOT / "packaging" / "debian"
WAYS = ("By package", "By image", "By clone", "By wheel")


@pytest.fixture(scope="module")
def commands() -> Iterator[Callable[[str], list[str]]]:
    sys.path.insert(0, str(PARTS))
    yield runpy.run_path(str(PARTS / "stranger.py"))["commands"]
    sys.path.remove(str(PARTS))


@pytest.mark.parametrize("way", WAYS)
def test_a_way_has_at_most_three_commands_and_ends_with_setup(
    commands: Callable[[str], list[str]], way: str
) -> None:
    typed = commands(way)
    assert 1 <= len(typed) <= 3
    assert typed[-1].split()[-1] == "setup"
    assert "setup" in SUBCOMMANDS


def test_each_way_in_is_one_line_of_the_readme_and_a_target(
    commands: Callable[[str], list[str]],
) -> None:
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    section = readme.partition("## Install\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    for target in ("deb", "repository", "image", "wheel", "setup"):
        assert len([row for row in rows if f"`make {target}" in row]) == 1, target
        assert f"\n{target}: " in makefile
    for command in commands("By package"):
        assert f"`{command}`" in section
