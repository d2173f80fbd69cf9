"""Counts what may not grow without end: ``make counts`` prints it, and a test holds the bounds.

A class has at most 25 methods of its own. A function has at most 80 lines. A file has at most 500
lines, unless a comment above its imports states why it is longer: ``# Long: ...``. No file imports
itself through others, not even for types alone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("common", "devices", "controller", "simulators", "subscribers", "benchmarks")
MAX_METHODS, MAX_LINES, MAX_FUNCTION_LINES = 25, 500, 80
REASON = "# Long: "


class Source(NamedTuple):
    """One file. ``module``: its dotted name; ``path``: from the root of the project."""

    module: str
    path: str
    lines: int
    explained: bool
    """True if the file states why it is long."""
    classes: tuple[tuple[str, int], ...]
    """The name of each class, and the number of its own methods."""
    functions: tuple[tuple[str, int], ...]
    """The name of each function, and the number of its lines."""
    imports: tuple[tuple[str, ...], ...]
    """For each import what it may name: modules, or a module and the names from it."""


def _is_function(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def sources(root: Path = ROOT) -> dict[str, Source]:
    """Return every file of the program by its dotted name."""
    found = {}
    for path in sorted(each for package in PACKAGES for each in (root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[module] = _source(module, str(path.relative_to(root)), path.read_text())
    return found


def _source(module: str, path: str, text: str) -> Source:
    """Count what a file has. No tree is kept: the garbage collector would scan all of them."""
    classes: list[tuple[str, int]] = []
    functions: list[tuple[str, int]] = []
    imports: list[tuple[str, ...]] = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ClassDef():
                classes.append((node.name, sum(map(_is_function, node.body))))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                functions.append((node.name, lines))
            case ast.Import():
                imports += [(each.name,) for each in node.names]
            case ast.ImportFrom(module=str(whole)):
                imports.append((whole, *(f"{whole}.{each.name}" for each in node.names)))
    return Source(
        module,
        path,
        text.count("\n"),
        f"\n{REASON}" in text.partition("\nfrom __future__")[0],
        tuple(classes),
        tuple(functions),
        tuple(imports),
    )


def imports(files: Mapping[str, Source]) -> dict[str, set[str]]:
    """Return the files that each file imports, anywhere in it."""
    graph: dict[str, set[str]] = {}
    for name, source in files.items():
        modules: set[str] = set()
        for whole, *names in source.imports:
            modules |= set(names) & files.keys() or {whole}
        graph[name] = modules & files.keys() - {name}
    return graph


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the sets of files that import each other, found by Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(file: str) -> None:
        order[file] = lowest[file] = len(order)
        stack.append(file)
        for other in sorted(graph[file]):
            if other not in order:
                visit(other)
            if other in stack:
                lowest[file] = min(lowest[file], lowest[other])
        if lowest[file] == order[file]:
            at = stack.index(file)
            circle = sorted(stack[at:])
            del stack[at:]
            if len(circle) > 1:
                found.append(circle)

    for file in graph:
        if file not in order:
            visit(file)
    return found


def main() -> None:
    """Print the longest files and functions, the classes with most methods, and the circles."""
    files = sources()
    say = sys.stdout.write
    say(f"{len(files)} files; longer than {MAX_LINES} lines:\n")
    for source in sorted(files.values(), key=lambda each: -each.lines):
        if source.lines > MAX_LINES:
            say(f"  {source.lines:5} {source.path}{' (states why)' if source.explained else ''}\n")
    classes = [(n, s.path, name) for s in files.values() for name, n in s.classes]
    say(f"{len(classes)} classes; more than {MAX_METHODS - 5} methods:\n")
    for count, path, name in sorted(classes, reverse=True):
        if count > MAX_METHODS - 5:
            say(f"  {count:5} {name} ({path})\n")
    functions = [(n, s.path, name) for s in files.values() for name, n in s.functions]
    say(f"{len(functions)} functions; longer than {MAX_FUNCTION_LINES - 10} lines:\n")
    for count, path, name in sorted(functions, reverse=True):
        if count > MAX_FUNCTION_LINES - 10:
            say(f"  {count:5} {name} ({path})\n")
    say("files that import each other:\n")
    for circle in circles(imports(files)) or [["none"]]:
        say(f"  {' '.join(circle)}\n")


if __name__ == "__main__":
    main()
