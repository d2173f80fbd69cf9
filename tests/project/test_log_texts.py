"""Texts of log lines that tests wait for, or that must not come: a program writes each of them.

A test that waits for a text that no program writes waits in vain, and one that asserts its absence
can never fail.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("controller", "devices", "simulators", "subscribers")
ASKS = {"logged", "until_logged"}
"""Methods of a started daemon that search for the fixed text of a log line."""


def nodes(*folders: str) -> Iterator[tuple[str, ast.AST]]:
    """Each node of each module of the folders, with the module."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            module = path.relative_to(ROOT).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                yield module, node


def test_each_log_text_in_tests_is_written_by_a_program() -> None:
    written = {node.value for _, node in nodes(*PACKAGES) if isinstance(node, ast.Constant)}
    asked = [
        (f"{module}:{node.lineno}", node.args[0].value)
        for module, node in nodes("tests")
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ASKS
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ]
    assert len(asked) > 50, "the methods that ask have other names now"
    assert [each for each in asked if each[1] not in written] == []
