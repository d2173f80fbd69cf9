"""The configuration: one TOML file, its types and its mistakes.

Every mistake is found in one pass and named with its place (line and key); an unknown key is a mistake.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta

from controller import places

Slug = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*\Z",
        max_length=48,
        description="a part of a topic: at most 48 of a-z, 0-9 and single hyphens between them",
    ),
]
Name = Annotated[str, Meta(min_length=1, description="a text that is not empty")]
Positive = Annotated[int, Meta(ge=1, description="a whole number above zero")]
Seconds = Annotated[float, Meta(gt=0, le=86400, description="seconds, above 0 and at most 86400")]
Speed = Annotated[float, Meta(gt=0, le=1000, description="a factor above 0 and at most 1000")]


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Site(_Section, frozen=True):
    """``[site]``: where we are. ``id`` and ``node`` are parts of topics: ``a-z 0-9 -``."""

    id: Slug
    node: Slug = "node-1"


class Journal(_Section, frozen=True):
    """``[journal]``: one SQLite file per daemon. Default: ``$STATE_DIRECTORY/journal.sqlite3``.

    Its days are sealed and kept for ``keep_days``. Checkpoints are signed with the systemd credential ``key_credential``, or
    with a key that is made beside the file.
    """

    path: Name = "journal.sqlite3"
    keep_days: Positive = 30
    key_credential: Name | None = None


class Surveillance(_Section, frozen=True):
    """``[surveillance]``: who alone may read cards that lie face down. ``public_key``: an X25519 key, hexadecimal or base64.

    ``secret_credential``: the systemd credential with the daemon's own key, for what such tables remember; else the key is made
    beside the journal.
    """

    public_key: Name | None = None
    secret_credential: Name | None = None


class Recordings(_Section, frozen=True):
    """``[recordings]``: the raw bytes of each device, on by default, bounded: a new file each day, and where one is full."""

    enabled: bool = True
    path: Name = "recordings"
    max_bytes: Positive = 16_000_000
    max_files: Positive = 60
    max_days: Positive = 30


class Broker(_Section, frozen=True):
    """``[broker]``: where results go. ``url``: ``mqtt://host:port``, ``mqtts://host:port`` or ``embedded://127.0.0.1:port``.

    The password is read from ``password_file``, or from the systemd credential named ``password_credential``.
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
    keepalive: Positive = 10


class Log(_Section, frozen=True):
    """``[log]``: to standard error. ``json`` for machines, ``console`` for people."""

    format: Literal["json", "console"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"


class Device(_Section, frozen=True):
    """``[[table.device]]``: one device of a table. ``link`` is an address: ``serial:///dev/serial/by-id/...?baud=9600``."""

    id: Slug
    driver: Name
    link: Name
    commands: bool = False
    stale_after: Seconds = 5.0
    options: dict[str, Any] = {}


class Table(_Section, frozen=True):
    """``[[table]]``: one gaming table. ``speed`` runs the clock of a simulated table faster; a real one has 1."""

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


def load(path: str | Path) -> Configuration:
    """Read a configuration file. Raises :class:`Mistaken` with every mistake in it.

    A relative ``path`` of the journal and the recordings is meant from ``$STATE_DIRECTORY`` (systemd sets it), else from the
    folder of the file; a relative file of the broker always from the folder of the file.
    """
    from controller.soundness import flaws  # here, so that the types alone import no game and no driver

    file = Path(path)
    try:
        text = file.read_bytes().decode()
        given = tomllib.loads(text)
    except OSError as error:
        raise Mistaken(str(path), (Mistake("file", f"cannot be read: {error.strerror}"),)) from error
    except UnicodeDecodeError as error:
        raise Mistaken(str(path), (Mistake(f"byte {error.start + 1}", "is not UTF-8 text"),)) from error
    except (ValueError, RecursionError) as error:  # a number of too many digits, or brackets within brackets without end
        what, _, where = str(error).rpartition(" (at ")
        raise Mistaken(str(path), (Mistake(where.rstrip(")") if what else "file", what or str(error)),)) from error
    notes: Notes = []
    configuration = _absolute(read(Configuration, given, (), notes), file.resolve().parent)
    notes += flaws(configuration)
    if notes:
        found = places.lines(text)
        ordered = sorted({note: places.line(found, note[0]) or 0 for note in notes}.items(), key=lambda item: item[1])
        raise Mistaken(str(path), tuple(Mistake(_place(line, at), what) for (at, what), line in ordered))
    return configuration


Notes = list[tuple[places.Path, str]]
_Kind = TypeVar("_Kind", bound=msgspec.Struct)


def read(kind: type[_Kind], given: object, at: places.Path, notes: Notes) -> _Kind:
    """Make a ``kind`` of what the file gives and note every mistake. A mistaken field takes its default, or is empty."""
    known = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    if not isinstance(given, dict):
        notes.append((at, f"expected a section with the keys {', '.join(known)}, got {given!r}"))
        given = dict.fromkeys(known)
        notes = []  # one mistake, not one for each key
    notes += [((*at, key), _unknown(key, list(known))) for key in given if key not in known]
    notes += [(at, f"the key `{key}` is missing") for key, field in known.items() if field.required and key not in given]
    values = {field.name: _value(field, given, (*at, key), notes) for key, field in known.items()}
    try:
        return kind(**values)
    except ValueError as error:  # values that do not go together
        notes.append((at, str(error)))
        return kind(**{field.name: _value(field, {}, (*at, key), []) for key, field in known.items()})


def _value(field: msgspec.structs.FieldInfo, given: dict[str, Any], at: places.Path, notes: Notes) -> Any:
    value = given.get(field.encode_name, msgspec.UNSET)
    kind, part = field.type, next(iter(get_args(field.type)), None)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return read(kind, {} if value is msgspec.UNSET else value, at, notes if value is not msgspec.UNSET else [])
    if get_origin(kind) is tuple and isinstance(part, type) and issubclass(part, msgspec.Struct) and isinstance(value, list):
        return tuple(read(part, item, (*at, index), notes) for index, item in enumerate(value))
    if value is not msgspec.UNSET:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            notes.append((at, _expected(kind, value, str(error))))
    if field.default is not msgspec.NODEFAULT:
        return field.default
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return () if get_origin(kind) is tuple else ""


def _unknown(key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return "unknown key" + (f"; is `{near[0]}` meant?" if near else f"; there are: {', '.join(known) or 'none'}")


def _expected(kind: Any, value: Any, error: str) -> str:
    meant = next((part for part in (kind, *get_args(kind)) if get_origin(part) is Annotated), None)
    if meant is not None and (description := meant.__metadata__[0].description):
        return f"expected {description}, got {value!r}"
    if get_origin(kind) is Literal:
        return f"expected one of {', '.join(map(str, get_args(kind)))}, got {value!r}"
    return f"{error[0].lower()}{error[1:]}"


def _place(line: int, at: places.Path) -> str:
    return f"line {line}: {places.spell(at)}" if line else places.spell(at) or "file"


def _absolute(configuration: Configuration, folder: Path) -> Configuration:
    state = Path(os.environ.get("STATE_DIRECTORY", "").partition(":")[0] or folder)
    broker = configuration.broker
    files = {key: str(folder / name) for key in BROKER_FILES if (name := getattr(broker, key))}
    return msgspec.structs.replace(
        configuration,
        journal=msgspec.structs.replace(configuration.journal, path=str(state / configuration.journal.path)),
        recordings=msgspec.structs.replace(configuration.recordings, path=str(state / configuration.recordings.path)),
        broker=msgspec.structs.replace(broker, **files),
    )


BROKER_FILES = ("password_file", "ca_file", "cert_file", "key_file")
"""The keys of ``[broker]`` that name a file."""
