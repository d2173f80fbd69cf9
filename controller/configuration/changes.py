"""Differences between two configurations, and which of them a running daemon applies: its tables
and their devices. Its other settings take effect after a restart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from controller.configuration.settings import Configuration, DeviceConfig, SiteConfig, TableConfig

TABLES, EXTENSIONS = "table", "extensions"
"""Sections that take effect at a reload: a driver is loaded with the table that uses it."""

COMMANDS_BY_SECTION: Mapping[str, str] = {
    "web": "novamas web",
    "api": "novamas web",
    "carrousel": "novamas carrousel",
    "jackpot": "novamas carrousel",
    "sign": "novamas sign",
    "output": "novamas output",
    "light": "novamas lights",
    "bookmark": "novamas surveillance",
    "video": "novamas web",
    "archive": "novamas surveillance",
    "webhooks": "novamas webhooks",
    "webhook": "novamas webhooks",
}
"""Sections that the daemon does not use, and the command to restart when they change."""


class Changes(msgspec.Struct, frozen=True):
    """The differences between two configurations.

    ``changed``: by table the keys that differ, such as ``decree`` or ``device wheel: link``;
    ``restart``: keys that take effect when the daemon is restarted; ``others``: by command, the
    sections that take effect when that command is restarted.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: dict[str, tuple[str, ...]] = {}
    restart: tuple[str, ...] = ()
    others: dict[str, tuple[str, ...]] = {}


def changes(before: Configuration, after: Configuration) -> Changes:
    """Compare two configurations. The order of tables and of devices does not matter."""
    before = replace(before, site=_with_site_of(before, after))  # tables already have its values
    old, new = _by_id(before.table), _by_id(after.table)
    differing = {
        table: keys
        for table in old.keys() & new.keys()
        if (keys := tuple(_of_table(old[table], new[table])))
    }
    others: dict[str, tuple[str, ...]] = {}
    for section, command in COMMANDS_BY_SECTION.items():
        if _differ(getattr(before, section), getattr(after, section)):
            others[command] = (*others.get(command, ()), section)
    return Changes(
        added=tuple(table for table in new if table not in old),
        removed=tuple(table for table in old if table not in new),
        changed={table: differing[table] for table in new if table in differing},
        restart=tuple(
            key
            for section in Configuration.__struct_fields__
            if section not in (TABLES, EXTENSIONS) and section not in COMMANDS_BY_SECTION
            for key in _keys(getattr(before, section), getattr(after, section), section)
        ),
        others=others,
    )


def apply_changes(
    before: Configuration, after: Configuration, held: Collection[str] = ()
) -> Configuration:
    """Return the configuration in force after a daemon that runs ``before`` has applied the tables
    of ``after``, except for the tables ``held``, which remain unchanged.
    """
    old, new = _by_id(before.table), _by_id(after.table)
    unchanged = {
        table for table in old.keys() & new.keys() if not [*_of_table(old[table], new[table])]
    }
    tables = [
        old.get(table) if table in held or table in unchanged else new.get(table)
        for table in (*new, *(old.keys() - new.keys()))
    ]
    return replace(
        before,
        site=_with_site_of(before, after),
        table=tuple(table for table in tables if table is not None),
        web=after.web,
        api=after.api,
        carrousel=after.carrousel,
        jackpot=after.jackpot,
        sign=after.sign,
        output=after.output,
        light=after.light,
        bookmark=after.bookmark,
        video=after.video,
        archive=after.archive,
        webhooks=after.webhooks,
        webhook=after.webhook,
        extensions=after.extensions,
    )


def _with_site_of(before: Configuration, after: Configuration) -> SiteConfig:
    """Return the site with the defaults for tables from ``after``."""
    return replace(before.site, decree=after.site.decree, languages=after.site.languages)


def _of_table(before: TableConfig, after: TableConfig) -> Iterator[str]:
    """Yield the keys in which two tables differ; the keys of a device follow its name."""
    if not _differ(before, after):  # the common case
        return
    old, new = _by_id(before.device), _by_id(after.device)
    for field in TableConfig.__struct_fields__:
        if field != "device":
            yield from _keys(getattr(before, field), getattr(after, field), field)
    for device in dict.fromkeys((*old, *new)):
        if device not in new:
            yield f"device {device}: removed"
        elif device not in old:
            yield f"device {device}: added"
        else:
            for field in DeviceConfig.__struct_fields__:
                old_value, new_value = (getattr(by_id[device], field) for by_id in (old, new))
                yield from (f"device {device}: {key}" for key in _keys(old_value, new_value, field))


def _keys(before: Any, after: Any, at: str) -> Iterator[str]:
    """Yield the keys at and below ``at`` that differ."""
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
    """Compare the encoded values, because 1, 1.0 and true are equal in Python."""
    if before is msgspec.UNSET or after is msgspec.UNSET:
        return before is not after
    return msgspec.json.encode(before, order="deterministic") != msgspec.json.encode(
        after, order="deterministic"
    )


def _by_id(sections: Any) -> dict[str, Any]:
    return {section.id: section for section in sections}
