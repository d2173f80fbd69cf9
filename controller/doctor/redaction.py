"""What may leave the site for support: what is known to be harmless of a configuration, of the
topics of the daemon and of log lines; no secret, no name of a person, nothing of what lies face
down.
"""

from __future__ import annotations

import errno
import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, get_args, get_origin

import msgspec

from controller.configuration.secrets import SECRET_FILES
from controller.configuration.settings import Configuration, DeviceConfig, TableConfig
from controller.games.games import GAMES, settings_of
from devices.drivers import DRIVERS, driver

SET = "(set)"
"""Stands for a secret, or for where it is."""
UNKNOWN = "(set, and no key that there is)"
UNFIT = "(set, and not as it should be)"
HIDDEN = "(secret)"
"""Stands where a secret of this machine had come into a text."""
SHORTEST = 4
"""Characters of the shortest secret that is looked for in texts."""
TEXT = "(text)"
"""Stands for a text that may name anybody."""
PASS = re.compile(
    r"(?i)\b(\w*(?:pass|secret|token|pin|pwd)\w*)\s*=\s*(?:'[^']*'|\"[^\"]*\"|[^&\s\"',;]*)"
)
ADDRESS = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]*)://([^\s\"'<>]*)")
PATH = re.compile(r"(?<![\w:/)])(/(?:[^\s\"'<>:;,()]+))")
PLACES = re.compile(r"/dev/.*|/(?:(?:etc|opt|var/lib)/novamas[a-z-]*|usr|run|proc|sys)(?=/|$)")
"""Of paths, what every installation has."""
GOT = re.compile(r", got .*", re.DOTALL)
"""How a mistake ends that shows what was written."""

SHOWN = frozenset({
    "id", "node", "decree", "game", "driver", "jackpot", "site", "tables", "elsewhere", "games",
    "client_id", "username", "instance", "bucket", "currency", "day_begins", "models",
})  # fmt: skip
"""Keys of the configuration whose texts are shown."""
ADDRESSES = frozenset({
    "url", "link", "address", "database", "servers", "listen", "proxies",
})  # fmt: skip
"""Keys whose texts are shown as far as the host."""
OPTIONS = re.compile(
    r"(?:baud|bytesize|parity|stopbits|read|write|speed|interface)=[A-Za-z0-9.]{1,8}"
)
"""Options of a link that are shown."""

WORD = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")
TIME = re.compile(r"[0-9T:.+Z-]{10,35}")
FRAME = re.compile(r"(\w+\.py)(?:\", line |:)(\d+)(?:, in (\w+))?")
KIND = re.compile(r"\b[A-Za-z]*(?:Error|Exception)\b")
STRINGS = frozenset({
    "boot", "time", "state", "status", "since", "crossed", "stated_by", "sha256", "instance",
    "elsewhere", "added", "removed", "changed", "restart", "others", "versions",
})  # fmt: skip
"""Keys of the topics ``health`` and ``status`` whose texts are shown."""


def redacted(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a configuration says, sound or not, without its secrets."""
    return _section(Configuration, given)


def _section(kind: type[msgspec.Struct], given: Mapping[str, Any]) -> dict[str, Any]:
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    secret = SECRET_FILES.get(kind, ())
    shown: dict[str, Any] = {}
    for key, value in given.items():
        if key not in fields:
            shown[key] = UNKNOWN
        elif key in secret or key.endswith("_credential"):
            shown[key] = SET
        elif kind is DeviceConfig and key == "options":
            shown[key] = _known(_options_of(given.get("driver")), value)
        elif kind is TableConfig and key == "settings":
            shown[key] = _known(_settings_of(given.get("game")), value)
        else:
            shown[key] = _value(fields[key], value, key)
    return shown


def _known(kind: type[msgspec.Struct] | None, value: Any) -> Any:
    """Options of a driver or settings of a game, as far as it has them."""
    if not isinstance(value, dict):
        return UNKNOWN
    if kind is None:
        return dict.fromkeys(value, UNKNOWN)
    return _section(kind, value)


def _options_of(name: Any) -> type[msgspec.Struct] | None:
    return driver(name).options if isinstance(name, str) and name in DRIVERS else None


def _settings_of(name: Any) -> type[msgspec.Struct] | None:
    return settings_of(name) if isinstance(name, str) and name in GAMES else None


def _value(kind: Any, value: Any, key: str) -> Any:
    """A value, section by section where it has some. Of texts, those of keys that are known to be
    harmless; none that is of another form than it should be, for it may be anything.
    """
    kinds = (kind, *get_args(kind))
    section = next((each for each in kinds if _is_section(each)), None)
    if isinstance(value, dict):
        if section is not None:
            return _section(section, value)
        of = next((get_args(each)[1] for each in kinds if get_origin(each) is dict), None)
        return (
            UNFIT if of is None else {name: _value(of, each, key) for name, each in value.items()}
        )
    if isinstance(value, list):
        several = kind is Any or any(get_origin(each) is tuple for each in kinds)
        inner = section or next((a for each in kinds for a in get_args(each)), Any)
        return [_value(inner, each, key) for each in value] if several else UNFIT
    if section is not None and kind is section:
        return UNFIT
    if _is_number(value):
        return value
    if isinstance(value, str) and (key in SHOWN or _is_word_of(kinds, value)):
        return value
    return plain(value) if isinstance(value, str) and key in ADDRESSES else SET


def _is_word_of(kinds: Iterable[Any], value: str) -> bool:
    """Whether it is one of the words that a key can have."""
    return any(value in get_args(inner) for each in kinds for inner in (each, *get_args(each)))


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def plain(text: str) -> str:
    """A text without passwords and without paths, but for those of every installation; of addresses
    no more than the host: a path or a query can be a password.
    """
    return PATH.sub(_path, PASS.sub(rf"\1={SET}", ADDRESS.sub(_host, text)))


def _path(found: re.Match[str]) -> str:
    path = found[1]
    place = PLACES.match(path)
    return path if place is not None and place[0] == path else f"{place[0] if place else ''}/{SET}"


def _host(address: re.Match[str]) -> str:
    scheme, rest = address.groups()
    at = re.search(r"[/?#]", rest)
    host, tail = (rest, "") if at is None else (rest[: at.start()], rest[at.start() :])
    if "@" in tail:  # the end of a password with a slash
        return f"{scheme}://{SET}"
    hosts = ",".join(
        f"{SET}@{each.rpartition('@')[2]}" if "@" in each else each for each in host.split(",")
    )
    path, _, query = tail.partition("?")
    shown = path if path == "/" or path.startswith("/dev/") or not path else f"/{SET}"
    if query:
        known = all(map(OPTIONS.fullmatch, query.split("&")))
        shown += f"?{query}" if known and shown in (path, "") else f"/{SET}" if not shown else ""
    return f"{scheme}://{hosts}{shown}"


def known(text: str) -> str:
    """What of an error's text is known to name nobody: where in the program it was, of which kind
    it is, and the system's own words.
    """
    frames = [":".join(each for each in found if each) for found in FRAME.findall(text)]
    words = {os.strerror(number) for number in errno.errorcode} - {"Success"}
    system = sorted(each for each in words if each in text)
    kinds = dict.fromkeys(KIND.findall(text))
    return " ".join(dict.fromkeys((TEXT, *frames, *kinds, *system)))


def told_health(value: Any, key: str = "") -> Any:
    """A topic of the daemon, without texts that may name somebody."""
    if isinstance(value, dict):
        inner = key if key in STRINGS else ""
        return {name: told_health(each, inner or name) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [told_health(each, key) for each in value]
    return known(value) if isinstance(value, str) and key not in STRINGS else value


def mistake(line: str) -> str:
    """A mistake of a configuration without what was written there."""
    return GOT.sub("", plain(line))


def spellings(secrets: Iterable[bytes]) -> list[str]:
    """All texts in which these secrets can be written, the longest first."""
    found = set[str]()
    for secret in secrets:
        whole = secret.strip()
        lines = [line.strip() for line in whole.decode("utf-8", "replace").splitlines()]
        found |= {whole.hex(), *(each(whole).decode().rstrip("=") for each in _BASE64), *lines}
        for line in lines:  # a key that is kept as digits
            if re.fullmatch(r"(?:[0-9a-f]{2}){16,}", line):
                key = bytes.fromhex(line)
                found |= {each(key).decode().rstrip("=") for each in _BASE64}
    return sorted((each for each in found if len(each) >= SHORTEST), key=len, reverse=True)


_BASE64 = (b64encode, urlsafe_b64encode)


def without(text: str, spelt: Iterable[str]) -> str:
    """A text in which these do not occur, nor as JSON spells them."""
    for each in spelt:
        for form in {each, json.dumps(each)[1:-1], json.dumps(each, ensure_ascii=False)[1:-1]}:
            text = text.replace(form, HIDDEN)
    return text


def _word(value: Any) -> Any:
    return value if isinstance(value, str) and WORD.fullmatch(value) else SET


def _topic(value: Any) -> Any:
    """A topic without the client to which a table answers."""
    levels = str(value).split("/")
    if not all(each in ("+", "#") or WORD.fullmatch(each) for each in levels):
        return SET
    cut = levels.index("reply") + 1 if "reply" in levels else len(levels)
    return "/".join([*levels[:cut], *([SET] if levels[cut:] else [])])


def _text(value: Any) -> str:
    return known(str(value))


ALWAYS: Mapping[str, Callable[[Any], Any]] = {
    "timestamp": lambda value: value if TIME.fullmatch(str(value)) else SET,
    "level": _word,
    "event": lambda value: plain(str(value)),
    "table": _word,
    "device": _word,
}
"""Fields of a log line that say nothing of a card or a person, and how each is shown. The event is
a text of the program.
"""
ELSEWHERE: Mapping[str, Callable[[Any], Any]] = {
    **ALWAYS,
    "refusal": _word,
    "alert": _word,
    "segment": _word,
    "topic": _topic,
    "topics": lambda value: [_topic(each) for each in value] if isinstance(value, list) else SET,
    "count": lambda value: value if _is_number(value) else SET,
    **dict.fromkeys(("reason", "error", "where", "exception", "why", "what"), _text),
}
"""Fields of lines that are of no table with face-down cards."""


def log_lines(lines: Iterable[str], hidden: Collection[str] | None) -> tuple[list[str], int]:
    """The lines of a log that are JSON, with the fields that may be told, and how many others there
    were. ``hidden``: the tables with face-down cards; None: any may have some.
    """
    kept, left = list[str](), 0
    for line in lines:
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            left += 1
            continue
        fields = ALWAYS if hidden is None or said.get("table") in hidden else ELSEWHERE
        told = {key: show(said[key]) for key, show in fields.items() if key in said}
        if hidden:  # a text of a library may be of any table
            told.pop("exception", None)
        kept.append(json.dumps(told, ensure_ascii=False))
    return kept, left
