"""Examples in docstrings: each gives what it shows."""

from __future__ import annotations

import doctest
import importlib

from tests.project.test_names import PACKAGES, ROOT


def test_every_example_gives_what_it_shows() -> None:
    modules = [
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if ">>> " in path.read_text(encoding="utf-8")
    ]
    assert "common.suggestions" in modules
    wrong = [name for name in modules if doctest.testmod(importlib.import_module(name)).failed]
    assert wrong == []
