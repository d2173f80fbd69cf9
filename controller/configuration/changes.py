"""What differs between two configurations, and what of it a running daemon takes over: its tables
and their devices. All else of its own takes effect when it is started again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from controller.configuration.settings import Configuration, DeviceConfig, SiteConfig, TableConfig

TABLES = "table"

OTHERS: Mapping[str, str] = {
    "web": "novamas web",
    "carrousel": "novamas carrousel",
    "jackpot": "novamas carrousel",
    "sign": "novamas sign",
    "bookmark": "novamas surveillance",
    "video": "novamas web",
    "archive": "novamas surveillance",
}
"""Sections that the daemon has no use for, and the command to start again instead."""


class Changes(msgspec.Struct, frozen=True):
    """What is different in the later of two configurations.

    ``changed``: by table the keys that differ, such as ``decree`` or ``device wheel: link``;
    ``restart``: the keys that take effect when the daemon is started again; ``others``: by command,
    the sections that take effect when that is started again.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: dict[str, tuple[str, ...]] = {}
    restart: tuple[str, ...] = ()
    others: dict[str, tuple[str, ...]] = {}


def changes(before: Configuration, after: Configuration) -> Changes:
    """What is different in ``after``. The order of tables and of devices says nothing."""
    before = replace(before, site=_taught(before, after))  # each table has it by now
    had, has = _by_id(before.table), _by_id(after.table)
    differing = {
        table: keys
        for table in had.keys() & has.keys()
        if (keys := tuple(_of_table(had[table], has[table])))
    }
    others: dict[str, tuple[str, ...]] = {}
    for section, command in OTHERS.items():
        if _differ(getattr(before, section), getattr(after, section)):
            others[command] = (*others.get(command, ()), section)
    return Changes(
        added=tuple(table for table in has if table not in had),
        removed=tuple(table for table in had if table not in has),
        changed={table: differing[table] for table in has if table in differing},
        restart=tuple(
            key
            for section in Configuration.__struct_fields__
            if section != TABLES and section not in OTHERS
            for key in _keys(getattr(before, section), getattr(after, section), section)
        ),
        others=others,
    )


def taken_over(
    before: Configuration, after: Configuration, held: Collection[str] = ()
) -> Configuration:
    """What is in force once a daemon that runs by ``before`` has taken over the tables of
    ``after``, but for those that are ``held``: these stay as they are.
    """
    had, has = _by_id(before.table), _by_id(after.table)
    same = {table for table in had.keys() & has.keys() if not [*_of_table(had[table], has[table])]}
    tables = [
        had.get(table) if table in held or table in same else has.get(table)
        for table in (*has, *(had.keys() - has.keys()))
    ]
    return replace(
        before,
        site=_taught(before, after),
        table=tuple(table for table in tables if table is not None),
        web=after.web,
        carrousel=after.carrousel,
        jackpot=after.jackpot,
        sign=after.sign,
        bookmark=after.bookmark,
        video=after.video,
        archive=after.archive,
    )


def _taught(before: Configuration, after: Configuration) -> SiteConfig:
    """The site, with what ``after`` says there for its tables alone."""
    return replace(before.site, decree=after.site.decree, languages=after.site.languages)


def _of_table(before: TableConfig, after: TableConfig) -> Iterator[str]:
    """The keys in which two tables differ; those of a device after its name."""
    if not _differ(before, after):  # as most do, of many
        return
    had, has = _by_id(before.device), _by_id(after.device)
    for field in TableConfig.__struct_fields__:
        if field != "device":
            yield from _keys(getattr(before, field), getattr(after, field), field)
    for device in dict.fromkeys((*had, *has)):
        if device not in has:
            yield f"device {device}: removed"
        elif device not in had:
            yield f"device {device}: added"
        else:
            for field in DeviceConfig.__struct_fields__:
                one, other = (getattr(each[device], field) for each in (had, has))
                yield from (f"device {device}: {key}" for key in _keys(one, other, field))


def _keys(before: Any, after: Any, at: str) -> Iterator[str]:
    """The keys at and below ``at`` that differ."""
    if isinstance(before, msgspec.Struct) and type(before) is type(after):
        for field in before.__struct_fields__:
            yield from _keys(getattr(before, field), getattr(after, field), f"{at}.{field}")
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from _keys(
                before.get(key, msgspec.UNSET), after.get(key, msgspec.UNSET), f"{at}.{key}"
            )
    elif _differ(before, after):
        yield at


def _differ(before: Any, after: Any) -> bool:
    """Whether they would be written otherwise: to Python, true is 1 and 1 is 1.0."""
    if before is msgspec.UNSET or after is msgspec.UNSET:
        return before is not after
    return msgspec.json.encode(before, order="deterministic") != msgspec.json.encode(
        after, order="deterministic"
    )


def _by_id(each: Any) -> dict[str, Any]:
    return {one.id: one for one in each}
