"""No class knows everything, no file is endless, and no files import each other."""

from __future__ import annotations

from functools import cache

from tests.project.counts import (
    MAX_FUNCTION_LINES,
    MAX_LINES,
    MAX_METHODS,
    Source,
    circles,
    imports,
    sources,
)


@cache
def files() -> dict[str, Source]:
    """All files of the program, read once, and not while tests are collected."""
    return sources()


def test_a_class_has_no_more_methods_than_can_be_held_in_mind() -> None:
    found = {
        name
        for source in files().values()
        for name, methods in source.classes
        if methods > MAX_METHODS
    }
    assert not found


def test_a_function_is_no_longer_than_can_be_read_at_once() -> None:
    found = {
        (source.path, name)
        for source in files().values()
        for name, lines in source.functions
        if lines > MAX_FUNCTION_LINES
    }
    assert not found


def test_a_long_file_states_why() -> None:
    found = {
        each.path for each in files().values() if each.lines > MAX_LINES and not each.explained
    }
    assert not found


def test_no_files_import_each_other() -> None:
    assert not circles(imports(files()))


def test_a_circle_is_found_also_over_several_files() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set[str](), "e": {"a"}}
    assert circles(graph) == [["a", "b", "c"]]
