"""The version that the program states is that of the package."""

from __future__ import annotations

import tomllib
from pathlib import Path

from controller.contract.version import VERSION

ROOT = Path(__file__).parents[2]


def test_the_program_states_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == VERSION
