"""The types of the configuration file (TOML) and of its mistakes.

Every mistake is found in one pass and reported with its place (line and key); an unknown key is a
mistake.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from devices.errors import NovamasError

Slug = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*\Z",
        max_length=48,
        description="1 to 48 characters a-z, 0-9 and single hyphens between them",
    ),
]
Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        pattern=r"^[^\x00]*\Z",
        description="a non-empty string of at most 4096 characters, without NUL",
    ),
]
Days = Annotated[int, Meta(ge=1, le=36_500, description="whole days, 1 to 36500")]
Size = Annotated[int, Meta(ge=1, le=1 << 40, description="bytes, 1 to 1099511627776")]
Files = Annotated[int, Meta(ge=1, le=10_000, description="a whole number from 1 to 10000")]
ResponseTopic = Annotated[
    str,
    Meta(
        pattern=r"^(?!novamas(-sim)?(/|\Z))[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,7}\Z",
        max_length=128,
        description="the beginning of a topic outside novamas/: 1 to 8 levels of letters, digits, "
        "dots, dashes and underscores, at most 128 characters",
    ),
]
KeepAlive = Annotated[int, Meta(ge=1, le=65535, description="whole seconds, 1 to 65535")]
Seconds = Annotated[float, Meta(gt=0, le=86400, description="seconds, above 0 and at most 86400")]
Speed = Annotated[float, Meta(gt=0, le=1000, description="a factor above 0 and at most 1000")]


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Site(_Section, frozen=True):
    """``[site]``: the casino and this daemon. ``id`` and ``node`` become parts of topics: ``a-z 0-9
    -``.
    """

    id: Slug
    node: Slug = "node-1"


class Journal(_Section, frozen=True):
    """``[journal]``: one SQLite file per daemon. Default: ``$STATE_DIRECTORY/journal.sqlite3``.

    Its days are sealed and kept for ``keep_days``. Checkpoints are signed with the key in the
    systemd credential ``key_credential``, or else with a key made beside the file.
    ``read_back_every``: seconds between two checks that read the whole file back from the disk.
    """

    path: Name = "journal.sqlite3"
    keep_days: Days = 30
    key_credential: Name | None = None
    read_back_every: Seconds = 21_600.0


class Surveillance(_Section, frozen=True):
    """``[surveillance]``: who alone may read face-down cards. ``public_key``: an X25519 key,
    hexadecimal or base64.

    ``secret_credential``: the systemd credential with the daemon's own key, which locks what such
    tables remember; without it, the key is made beside the journal.
    """

    public_key: Name | None = None
    secret_credential: Name | None = None


class Recordings(_Section, frozen=True):
    """``[recordings]``: the raw bytes of each device. On by default and bounded: a new file begins
    each day, and when one is full.
    """

    enabled: bool = True
    path: Name = "recordings"
    max_bytes: Size = 16_000_000
    max_files: Files = 60
    max_days: Days = 30


class Broker(_Section, frozen=True):
    """``[broker]``: where results are published. ``url``: ``mqtt://host:port``,
    ``mqtts://host:port`` or ``embedded://127.0.0.1:port``.

    The password is read from ``password_file`` or from the systemd credential
    ``password_credential``. ``response_topics``: prefixes under which a response topic of MQTT 5 is
    accepted, besides ``reply/``.
    """

    url: Name = "mqtt://127.0.0.1:1883"
    client_id: Name | None = None
    username: Name | None = None
    password_file: Name | None = None
    password_credential: Name | None = None
    ca_file: Name | None = None
    cert_file: Name | None = None
    key_file: Name | None = None
    protocol: Literal["5", "3.1.1"] = "5"
    keepalive: KeepAlive = 10
    response_topics: Annotated[
        tuple[ResponseTopic, ...],
        Meta(max_length=16, description="at most 16 topic prefixes"),
    ] = ()


class People(_Section, frozen=True):
    """``[people]``: who may act. ``file``: the people file, which the site's key signed; ``key``:
    the public part of that key, as ``novamas people key`` prints it.

    ``required``: whether a command must be signed. ``two_persons``: what takes two. ``may``: for
    each command named here, the roles that keep it.
    """

    file: Name | None = None
    key: Name | None = None
    required: bool | Literal["accept-the-risk"] = True
    two_persons: tuple[Name, ...] = ("result.correct", "round.confirm", "round.void")
    may: dict[str, tuple[Name, ...]] = {}


class Log(_Section, frozen=True):
    """``[log]``: the log on standard error. ``json`` for machines, ``console`` for people."""

    format: Literal["json", "console"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"


class Device(_Section, frozen=True):
    """``[[table.device]]``: one device of a table. ``link`` is an address:
    ``serial:///dev/serial/by-id/...?baud=9600``.
    """

    id: Slug
    driver: Name
    link: Name
    commands: bool = False
    stale_after: Seconds = 5.0
    options: dict[str, Any] = {}


class Table(_Section, frozen=True):
    """``[[table]]``: one gaming table. ``speed`` makes the clock of a simulated table run faster; a
    real table has 1.
    """

    id: Slug
    game: Name
    decree: Name
    simulated: bool = False
    speed: Speed = 1.0
    settings: dict[str, Any] = {}
    device: tuple[Device, ...] = ()


class Configuration(_Section, frozen=True):
    """The whole file."""

    site: Site
    table: tuple[Table, ...] = ()
    journal: Journal = Journal()
    surveillance: Surveillance = Surveillance()
    recordings: Recordings = Recordings()
    broker: Broker = Broker()
    people: People | None = None
    log: Log = Log()


BROKER_FILES = ("password_file", "ca_file", "cert_file", "key_file")
"""The keys of ``[broker]`` that name a file."""


class Mistake(msgspec.Struct, frozen=True):
    """One mistake: its ``place``, such as ``line 12: table[0].device[0].link``, and
    what is wrong.
    """

    place: str
    what: str


class ConfigurationError(NovamasError, ValueError):
    """The configuration cannot be used; ``mistakes`` holds every mistake."""

    def __init__(self, path: str, mistakes: tuple[Mistake, ...]) -> None:
        super().__init__("\n".join(f"{path}: {m.place}: {m.what}" for m in mistakes))
        self.path = path
        self.mistakes = mistakes
