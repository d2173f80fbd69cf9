"""The promises of docs/engineer/evidence-durability.md: each names tests, and they exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def promises() -> list[tuple[str, list[str]]]:
    text = (
        (ROOT / "docs" / "engineer" / "evidence-durability.md")
        .read_text()
        .split("## Promises", 1)[1]
        .split("\n## ", 1)[0]
    )
    rows = [
        line.strip("|").split("|")
        for line in text.splitlines()
        if line.startswith("| ") and "Shown by" not in line
    ]
    return [(row[0].strip(), re.findall(r"`(\w+)`", row[1])) for row in rows]


def test_every_promise_names_tests_that_exist() -> None:
    found = promises()
    named = {name for _, shown in found for name in shown}
    texts = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    tests = {
        node.name
        for text in texts
        if any(f"def {name}(" in text for name in named)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(found) > 10
    assert [promise for promise, shown in found if not shown] == []
    assert named - tests == set()
