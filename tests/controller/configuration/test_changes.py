"""Differences between two configurations, key by key, and those that a daemon applies."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.configuration.changes import COMMANDS_BY_SECTION, Changes, apply_changes, changes
from controller.configuration.settings import Configuration, DeviceConfig, SiteConfig, TableConfig

WHEEL = DeviceConfig(id="wheel", driver="cammegh-ss2", link="tcp://a:1", options={"pockets": 37})
BOARD = DeviceConfig(id="board", driver="alpha-sign", link="tcp://b:1")


def table(name: str) -> TableConfig:
    return TableConfig(
        id=name, game="roulette-french", decree="ARA02", device=(WHEEL, BOARD), settings={"a": 1}
    )


BEFORE = Configuration(site=SiteConfig(id="palma"), table=(table("r1"), table("r2"), table("r3")))


def leaves(value: Any, at: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The paths of all values that are not structs."""
    if not isinstance(value, msgspec.Struct):
        return [at]
    fields = value.__struct_fields__
    return [path for field in fields for path in leaves(getattr(value, field), (*at, field))]


def another(value: Any) -> Any:
    """A value other than that one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, tuple):
        return (*value, "x")
    if isinstance(value, dict):
        return {**value, "x": 1}
    return "x"


def put(value: Any, path: tuple[str, ...]) -> Any:
    """Return a copy with another value at that path."""
    if not path:
        return another(value)
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    return type(value)(**{**fields, path[0]: put(fields[path[0]], path[1:])})


def spelled(value: Any, path: tuple[str, ...]) -> str:
    """How a changed value is named: in a dictionary, by its new key."""
    for name in path:
        value = getattr(value, name)
    return ".".join((*path, "x") if isinstance(value, dict) else path)


FOR_TABLES = [("site", "decree"), ("site", "languages")]
"""Keys that are set once for all tables; each table has its own copy once the file is read."""
OF_EXTENSIONS = [path for path in leaves(BEFORE) if path[0] == "extensions"]
"""Keys that take effect with the tables: a driver is loaded with the table that uses it."""
SECTIONS = [
    path
    for path in leaves(BEFORE)
    if path[0] not in ("table", *COMMANDS_BY_SECTION) and path not in (*FOR_TABLES, *OF_EXTENSIONS)
]
OF_OTHERS = [path for path in leaves(BEFORE) if path[0] in COMMANDS_BY_SECTION]
OF_TABLE = [path for path in leaves(BEFORE.table[0]) if path[0] not in ("id", "device")]
OF_DEVICE = [path for path in leaves(WHEEL) if path != ("id",)]


def some(paths: list[tuple[str, ...]]) -> st.SearchStrategy[list[tuple[str, ...]]]:
    return st.lists(st.sampled_from(paths), unique=True, max_size=4)


@given(some(SECTIONS), some(OF_OTHERS), some(OF_TABLE), some(OF_DEVICE), st.permutations((0, 1, 2)))
def test_every_key_that_differs_is_named_and_no_other(
    own: list[tuple[str, ...]],
    others: list[tuple[str, ...]],
    of_table: list[tuple[str, ...]],
    of_device: list[tuple[str, ...]],
    order: list[int],
) -> None:
    after = BEFORE
    for path in (*FOR_TABLES, *OF_EXTENSIONS, *own, *others):
        after = put(after, path)
    changed, wheel = BEFORE.table[1], WHEEL
    for path in of_table:
        changed = put(changed, path)
    for path in of_device:
        wheel = put(wheel, path)
    changed = msgspec.structs.replace(changed, device=(BOARD, wheel))
    tables = (BEFORE.table[0], changed, BEFORE.table[2])
    after = msgspec.structs.replace(after, table=tuple(tables[each] for each in order))

    found = changes(BEFORE, after)
    keys = {spelled(BEFORE.table[1], path) for path in of_table}
    keys |= {f"device wheel: {spelled(WHEEL, path)}" for path in of_device}
    assert set(found.restart) == {spelled(BEFORE, path) for path in own}
    assert {section for each in found.others.values() for section in each} == {
        path[0] for path in others
    }
    assert {name: set(said) for name, said in found.changed.items()} == (
        {"r2": keys} if keys else {}
    )
    assert (found.added, found.removed) == ((), ())

    applied = apply_changes(BEFORE, after)
    assert applied.extensions == after.extensions
    assert changes(applied, after) == Changes(restart=found.restart)
    assert changes(BEFORE, applied) == msgspec.structs.replace(found, restart=())
    kept = apply_changes(BEFORE, after, {"r2"})
    assert changes(BEFORE, kept).changed == {}
    assert changes(kept, after).changed == found.changed


@given(some(SECTIONS), some(OF_OTHERS))
def test_a_configuration_differs_in_nothing_from_itself(
    own: list[tuple[str, ...]], others: list[tuple[str, ...]]
) -> None:
    made = BEFORE
    for path in (*own, *others):
        made = put(made, path)
    assert changes(made, made) == Changes()
    assert apply_changes(made, made) == made


@pytest.mark.parametrize("held", [set(), {"r1"}, {"r4"}, {"r1", "r2"}])
def test_tables_come_and_go(held: set[str]) -> None:
    after = Configuration(site=BEFORE.site, table=(table("r4"), table("r3"), table("r2")))
    found = changes(BEFORE, after)
    assert found == Changes(added=("r4",), removed=("r1",))
    applied = apply_changes(BEFORE, after, held)
    assert {each.id for each in applied.table} == {
        *({"r4"} - held),
        "r3",
        "r2",
        *({"r1"} & held),
    }
    assert len(applied.table) == len({each.id for each in applied.table})


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (1, 1.0), (0, False), ([1], [True]), ({"b": 1}, {"b": True})]
)
def test_values_that_only_python_holds_equal_differ(one: Any, other: Any) -> None:
    first, second = (
        msgspec.structs.replace(
            BEFORE, table=(msgspec.structs.replace(table("r1"), settings={"a": each}),)
        )
        for each in (one, other)
    )
    (keys,) = changes(first, second).changed.values()
    assert keys[0].startswith("settings.a")


def test_devices_come_and_go() -> None:
    had = msgspec.structs.replace(table("r1"), device=(WHEEL,))
    has = msgspec.structs.replace(table("r1"), device=(BOARD,))
    before, after = (msgspec.structs.replace(BEFORE, table=(each,)) for each in (had, has))
    assert changes(before, after).changed == {
        "r1": ("device wheel: removed", "device board: added")
    }


def test_every_section_is_applied_or_has_a_command() -> None:
    """A new section of the configuration must be in one of the three kinds."""
    whole = {path[0] for path in leaves(BEFORE)}
    with_tables = {"table", *(path[0] for path in OF_EXTENSIONS)}
    assert whole == {path[0] for path in SECTIONS} | COMMANDS_BY_SECTION.keys() | with_tables
    after = BEFORE
    for path in OF_OTHERS:
        after = put(after, path)
    assert changes(apply_changes(BEFORE, after), after) == Changes()
