"""docs/engineer/architecture.md against the code: names exist, rooms import only those it lists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.for_each import for_each

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "engineer"
PAGE = (PAGES / "architecture.md").read_text()
NAMED = sorted(
    {
        named
        for page in PAGES.glob("*.md")
        for named in re.findall(r"`([\w/]+\.py)::([\w.]+)`", page.read_text())
    }
)
ROOMS = {
    folder.rstrip("/"): set() if knows == "nothing else" else set(knows.split(", "))
    for folder, knows in re.findall(r"^\| `([\w/]+/)` \| .* \| (.*) \|$", PAGE, re.MULTILINE)
}


def defined(tree: ast.AST, prefix: str = "") -> set[str]:
    """The qualified names of the classes and functions in a module."""
    names: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names |= {prefix + node.name} | defined(node, f"{prefix}{node.name}.")
    return names


def room(module: str) -> str | None:
    """The room of a module: ``controller/games``, ``devices``; None outside the project."""
    parts = module.split(".")
    return next((name for name in ("/".join(parts[:2]), parts[0]) if name in ROOMS), None)


def within(path: Path) -> str | None:
    """The room of a file."""
    return room(".".join(path.relative_to(ROOT).parts[:-1]))


def imported(path: Path) -> set[str]:
    """The modules that a file imports."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            modules |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return modules


@for_each(("file", "name"), NAMED)
def test_each_named_function_exists(file: str, name: str) -> None:
    assert name in defined(ast.parse((ROOT / file).read_text())), f"{file} has no {name}"


def test_the_three_walks_name_functions() -> None:
    walks = PAGE.split("\n## ")[2:]
    assert len(walks) == 3
    assert all(walk.count(".py::") >= 5 for walk in walks)


def test_every_room_is_listed() -> None:
    folders = {
        path.parent
        for top in ("common", "controller", "subscribers")
        for path in (ROOT / top).glob("*/__init__.py")
    }
    folders |= {
        ROOT / top for top in ("common", "devices", "simulators", "subscribers", "benchmarks")
    }
    assert {str(folder.relative_to(ROOT)) for folder in folders} == ROOMS.keys()


@pytest.mark.parametrize("folder", ROOMS)
def test_a_room_imports_only_the_rooms_that_it_knows(folder: str) -> None:
    files = [path for path in (ROOT / folder).rglob("*.py") if within(path) == folder]
    assert files
    rooms = {room(module) for file in files for module in imported(file)} - {folder, None}
    if not folder.startswith("common"):
        rooms = {name for name in rooms if name and not name.startswith("common")}
    assert {name.removeprefix("controller/") for name in rooms if name} <= ROOMS[folder]
