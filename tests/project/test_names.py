"""Names of classes: each is found by its name alone, over all packages."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("common", "controller", "devices", "simulators", "subscribers")
FAMILIES = {"Options": "devices/"}
"""Names that a module of a folder may give to one class: the options of each driver."""
ON_THE_WIRE = "common/contract/"
"""A command and the event that follows from it may share the name that both have on the wire."""


def classes() -> dict[str, list[str]]:
    """The modules that define a class, by its name."""
    found = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            module = path.relative_to(ROOT).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(module)
    return found


def test_no_two_classes_share_a_name() -> None:
    shared = {
        name: modules
        for name, modules in classes().items()
        if len(modules) > 1
        and not all(module.startswith(FAMILIES.get(name, ON_THE_WIRE)) for module in modules)
    }
    assert shared == {}
