"""The configuration: one TOML file, its types and its mistakes.

Every mistake is found in one pass and named with its place (line and key); an unknown key is a mistake.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Site(_Section, frozen=True):
    """``[site]``: where we are. ``id`` and ``node`` are parts of topics: ``a-z 0-9 -``."""

    id: str
    node: str = "node-1"


class Journal(_Section, frozen=True):
    """``[journal]``: one SQLite file per daemon. Default: ``$STATE_DIRECTORY/journal.sqlite3``."""

    path: str = "journal.sqlite3"


class Recordings(_Section, frozen=True):
    """``[recordings]``: the raw bytes of each device, on by default, bounded."""

    enabled: bool = True
    path: str = "recordings"
    max_bytes: int = 16_000_000
    max_files: int = 8


class Broker(_Section, frozen=True):
    """``[broker]``: where results go. ``url``: ``mqtt://host:port``, ``mqtts://host:port`` or ``embedded://127.0.0.1:port``.

    The password is read from ``password_file``, or from the systemd credential named ``password_credential``.
    """

    url: str = "mqtt://127.0.0.1:1883"
    client_id: str | None = None
    username: str | None = None
    password_file: str | None = None
    password_credential: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    protocol: Literal["5", "3.1.1"] = "5"
    keepalive: int = 10


class Log(_Section, frozen=True):
    """``[log]``: to standard error. ``json`` for machines, ``console`` for people."""

    format: Literal["json", "console"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"


class Device(_Section, frozen=True):
    """``[[table.device]]``: one device of a table. ``link`` is an address: ``serial:///dev/serial/by-id/...?baud=9600``."""

    id: str
    driver: str
    link: str
    commands: bool = False
    stale_after: float = 5.0
    options: dict[str, Any] = {}


class Table(_Section, frozen=True):
    """``[[table]]``: one gaming table. ``speed`` runs the clock of a simulated table faster; a real one has 1."""

    id: str
    game: str
    decree: str
    simulated: bool = False
    speed: float = 1.0
    settings: dict[str, Any] = {}
    device: tuple[Device, ...] = ()


class Configuration(_Section, frozen=True):
    """The whole file."""

    site: Site
    table: tuple[Table, ...]
    journal: Journal = Journal()
    recordings: Recordings = Recordings()
    broker: Broker = Broker()
    log: Log = Log()


class Mistake(msgspec.Struct, frozen=True):
    """One thing that is wrong: ``place`` as ``line 12: table[0].device[0].link``, and what."""

    place: str
    what: str


class Mistaken(ValueError):
    """The configuration cannot be used; ``mistakes`` holds all of them."""

    def __init__(self, path: str, mistakes: tuple[Mistake, ...]) -> None:
        super().__init__("\n".join(f"{path}: {m.place}: {m.what}" for m in mistakes))
        self.path = path
        self.mistakes = mistakes
