"""Texts of log lines that tests wait for, or that must not come: a program writes each of them.

A test that asks for a text that nobody writes any more waits in vain, and one that asks that it be
absent can never fail.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("common", "controller", "devices", "simulators", "subscribers")
METHODS = {"logged", "until_logged"}
"""Methods of a started daemon that look for the fixed text of a log line."""


def sources(*folders: str) -> Iterator[tuple[str, str]]:
    """Each module of the folders, with its text."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def texts_asked_for() -> Iterator[tuple[str, str]]:
    """The texts that tests look for, each with its place."""
    for module, source in sources("tests"):
        if "logged(" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in METHODS
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                yield f"{module}:{node.lineno}", str(node.args[0].value)


def test_each_log_text_in_tests_is_written_by_a_program() -> None:
    written = "\n".join(source for _, source in sources(*PACKAGES))
    asked = list(texts_asked_for())
    assert len(asked) > 50, "the methods have other names now"
    assert [(place, text) for place, text in asked if f'"{text}"' not in written] == []
