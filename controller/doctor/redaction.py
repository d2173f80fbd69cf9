"""Redaction of data for support: only parts of a configuration, of the daemon's topics and of log
lines that are known to be harmless remain; no secrets, no names of people, nothing about face-down
cards.
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
from devices.drivers import driver, driver_names

SET_MARK = "(set)"
"""Replaces a secret, or its location."""
UNKNOWN_MARK = "(set, unknown key)"
UNFIT_MARK = "(set, of an unexpected type)"
HIDDEN_MARK = "(secret)"
"""Replaces a secret of this machine that occurs in a text."""
MIN_SECRET_CHARACTERS = 4
"""Minimum characters of a secret that is searched for in texts."""
TEXT_MARK = "(text)"
"""Replaces a text that could name a person."""
PASSWORD_PATTERN = re.compile(
    r"(?i)\b(\w*(?:pass|secret|token|pin|pwd)\w*)\s*=\s*(?:'[^']*'|\"[^\"]*\"|[^&\s\"',;]*)"
)
ADDRESS_PATTERN = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]*)://([^\s\"'<>]*)")
PATH_PATTERN = re.compile(r"(?<![\w:/)])(/(?:[^\s\"'<>:;,()]+))")
COMMON_PATHS = re.compile(
    r"/dev/.*|/(?:(?:etc|opt|var/lib)/novamas[a-z-]*|usr|run|proc|sys)(?=/|$)"
)
"""Paths that exist on every installation."""
QUOTED_VALUE = re.compile(r", got .*", re.DOTALL)
"""End of an error message that quotes the value."""

HARMLESS_KEYS = frozenset({
    "id", "node", "decree", "game", "driver", "jackpot", "site", "tables", "elsewhere", "games",
    "client_id", "username", "instance", "bucket", "currency", "day_begins", "models", "drivers",
    "adapter",
})  # fmt: skip
"""Keys of the configuration whose texts remain."""
ADDRESS_KEYS = frozenset({
    "url", "link", "address", "database", "servers", "listen", "proxies",
})  # fmt: skip
"""Keys whose texts remain up to the host."""
HARMLESS_OPTIONS = re.compile(
    r"(?:baud|bytesize|parity|stopbits|read|write|speed|interface)=[A-Za-z0-9.]{1,8}"
)
"""Options of a link that remain."""

WORD_PATTERN = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")
TIME_PATTERN = re.compile(r"[0-9T:.+Z-]{10,35}")
FRAME_PATTERN = re.compile(r"(\w+\.py)(?:\", line |:)(\d+)(?:, in (\w+))?")
EXCEPTION_PATTERN = re.compile(r"\b[A-Za-z]*(?:Error|Exception)\b")
HARMLESS_HEALTH_KEYS = frozenset({
    "boot", "time", "state", "status", "since", "crossed", "stated_by", "sha256", "instance",
    "elsewhere", "added", "removed", "changed", "restart", "others", "versions",
})  # fmt: skip
"""Keys of the topics ``health`` and ``status`` whose texts remain."""


def redact_configuration(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Redact a configuration, valid or not."""
    return _redact_section(Configuration, configuration)


def _redact_section(kind: type[msgspec.Struct], section: Mapping[str, Any]) -> dict[str, Any]:
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    secret = SECRET_FILES.get(kind, ())
    shown: dict[str, Any] = {}
    for key, value in section.items():
        if key not in fields:
            shown[key] = UNKNOWN_MARK
        elif key in secret or key.endswith("_credential"):
            shown[key] = SET_MARK
        elif kind is DeviceConfig and key == "options":
            shown[key] = _redact_known(_options_of(section.get("driver")), value)
        elif kind is TableConfig and key == "settings":
            shown[key] = _redact_known(_settings_of(section.get("game")), value)
        else:
            shown[key] = _redact_value(fields[key], value, key)
    return shown


def _redact_known(kind: type[msgspec.Struct] | None, value: Any) -> Any:
    """Redact the options of a driver or the settings of a game."""
    if not isinstance(value, dict):
        return UNKNOWN_MARK
    if kind is None:
        return dict.fromkeys(value, UNKNOWN_MARK)
    return _redact_section(kind, value)


def _options_of(name: Any) -> type[msgspec.Struct] | None:
    return driver(name).options if isinstance(name, str) and name in driver_names() else None


def _settings_of(name: Any) -> type[msgspec.Struct] | None:
    return settings_of(name) if isinstance(name, str) and name in GAMES else None


def _redact_value(kind: Any, value: Any, key: str) -> Any:
    """Redact a value recursively. Texts remain only for keys that are known to be harmless. Values
    of an unexpected type are dropped: they could hold a secret.
    """
    kinds = (kind, *get_args(kind))
    section = next((option for option in kinds if _is_section(option)), None)
    if isinstance(value, dict):
        if section is not None:
            return _redact_section(section, value)
        item_kind = next(
            (get_args(option)[1] for option in kinds if get_origin(option) is dict), None
        )
        return (
            UNFIT_MARK
            if item_kind is None
            else {name: _redact_value(item_kind, option, key) for name, option in value.items()}
        )
    if isinstance(value, list):
        several = kind is Any or any(get_origin(option) is tuple for option in kinds)
        inner = section or next((a for option in kinds for a in get_args(option)), Any)
        return [_redact_value(inner, option, key) for option in value] if several else UNFIT_MARK
    if section is not None and kind is section:
        return UNFIT_MARK
    if _is_number(value):
        return value
    if isinstance(value, str) and (key in HARMLESS_KEYS or _is_word_of(kinds, value)):
        return value
    return redact_text(value) if isinstance(value, str) and key in ADDRESS_KEYS else SET_MARK


def _is_word_of(kinds: Iterable[Any], value: str) -> bool:
    """True if the value is one of the words allowed for its key."""
    return any(
        value in get_args(inner) for option in kinds for inner in (option, *get_args(option))
    )


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def redact_text(text: str) -> str:
    """Redact a text: passwords, paths that are specific to this installation, and everything behind
    the host of an address, which could be a password.
    """
    return PATH_PATTERN.sub(
        _path, PASSWORD_PATTERN.sub(rf"\1={SET_MARK}", ADDRESS_PATTERN.sub(_host, text))
    )


def _path(match: re.Match[str]) -> str:
    path = match[1]
    place = COMMON_PATHS.match(path)
    return (
        path
        if place is not None and place[0] == path
        else f"{place[0] if place else ''}/{SET_MARK}"
    )


def _host(address: re.Match[str]) -> str:
    scheme, rest = address.groups()
    at = re.search(r"[/?#]", rest)
    host, tail = (rest, "") if at is None else (rest[: at.start()], rest[at.start() :])
    if "@" in tail:  # the end of a password that contains a slash
        return f"{scheme}://{SET_MARK}"
    hosts = ",".join(
        f"{SET_MARK}@{part_of_hosts.rpartition('@')[2]}" if "@" in part_of_hosts else part_of_hosts
        for part_of_hosts in host.split(",")
    )
    path, _, query = tail.partition("?")
    shown = path if path == "/" or path.startswith("/dev/") or not path else f"/{SET_MARK}"
    if query:
        redact_error = all(map(HARMLESS_OPTIONS.fullmatch, query.split("&")))
        shown += (
            f"?{query}"
            if redact_error and shown in (path, "")
            else f"/{SET_MARK}"
            if not shown
            else ""
        )
    return f"{scheme}://{hosts}{shown}"


def redact_error(text: str) -> str:
    """Reduce the text of an error to parts that cannot name a person: source lines, exception types
    and system error messages.
    """
    frames = [":".join(part for part in groups if part) for groups in FRAME_PATTERN.findall(text)]
    words = {os.strerror(number) for number in errno.errorcode} - {"Success"}
    system = sorted(part for part in words if part in text)
    kinds = dict.fromkeys(EXCEPTION_PATTERN.findall(text))
    return " ".join(dict.fromkeys((TEXT_MARK, *frames, *kinds, *system)))


def redact_health(value: Any, key: str = "") -> Any:
    """Redact a topic of the daemon: drop texts that could name a person."""
    if isinstance(value, dict):
        inner = key if key in HARMLESS_HEALTH_KEYS else ""
        return {name: redact_health(item, inner or name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_health(item, key) for item in value]
    return (
        redact_error(value) if isinstance(value, str) and key not in HARMLESS_HEALTH_KEYS else value
    )


def redact_mistake(line: str) -> str:
    """Redact a configuration error: drop the quoted value."""
    return QUOTED_VALUE.sub("", redact_text(line))


def spellings(secrets: Iterable[bytes]) -> list[str]:
    """Return all texts in which these secrets can be written, longest first."""
    texts = set[str]()
    for secret in secrets:
        whole = secret.strip()
        lines = [line.strip() for line in whole.decode("utf-8", "replace").splitlines()]
        texts |= {whole.hex(), *(item(whole).decode().rstrip("=") for item in _BASE64), *lines}
        for line in lines:  # a key stored as hexadecimal digits
            if re.fullmatch(r"(?:[0-9a-f]{2}){16,}", line):
                key = bytes.fromhex(line)
                texts |= {item(key).decode().rstrip("=") for item in _BASE64}
    return sorted(
        (item for item in texts if len(item) >= MIN_SECRET_CHARACTERS), key=len, reverse=True
    )


_BASE64 = (b64encode, urlsafe_b64encode)


def replace_texts(text: str, texts: Iterable[str]) -> str:
    """Replace these texts in a text, also in their JSON notation."""
    for secret_text in texts:
        for form in {
            secret_text,
            json.dumps(secret_text)[1:-1],
            json.dumps(secret_text, ensure_ascii=False)[1:-1],
        }:
            text = text.replace(form, HIDDEN_MARK)
    return text


def _word(value: Any) -> Any:
    return value if isinstance(value, str) and WORD_PATTERN.fullmatch(value) else SET_MARK


def _topic(value: Any) -> Any:
    """Redact a topic: drop the client that a reply is sent to."""
    levels = str(value).split("/")
    if not all(level_ in ("+", "#") or WORD_PATTERN.fullmatch(level_) for level_ in levels):
        return SET_MARK
    cut = levels.index("reply") + 1 if "reply" in levels else len(levels)
    return "/".join([*levels[:cut], *([SET_MARK] if levels[cut:] else [])])


def _text(value: Any) -> str:
    return redact_error(str(value))


FIELDS_OF_ANY_LINE: Mapping[str, Callable[[Any], Any]] = {
    "timestamp": lambda value: value if TIME_PATTERN.fullmatch(str(value)) else SET_MARK,
    "level": _word,
    "event": lambda value: redact_text(str(value)),
    "table": _word,
    "device": _word,
}
"""Log fields that cannot reveal a card or a person, and how each is redacted. The event is a fixed
text of the program.
"""
FIELDS_OF_OPEN_LINES: Mapping[str, Callable[[Any], Any]] = {
    **FIELDS_OF_ANY_LINE,
    "refusal": _word,
    "alert": _word,
    "segment": _word,
    "topic": _topic,
    "topics": lambda value: (
        [_topic(each) for each in value] if isinstance(value, list) else SET_MARK
    ),
    "count": lambda value: value if _is_number(value) else SET_MARK,
    **dict.fromkeys(("reason", "error", "where", "exception", "why", "what"), _text),
}
"""Log fields of lines that do not concern a table with face-down cards."""


def redact_log(lines: Iterable[str], hidden: Collection[str] | None) -> tuple[list[str], int]:
    """Redact the JSON lines of a log, and count the other lines. ``hidden``: the tables with
    face-down cards; None: unknown.
    """
    shown, omitted = list[str](), 0
    for line in lines:
        try:
            fields_of_line = json.loads(line)
        except (ValueError, RecursionError):
            fields_of_line = None
        if not isinstance(fields_of_line, dict):
            omitted += 1
            continue
        fields = (
            FIELDS_OF_ANY_LINE
            if hidden is None or fields_of_line.get("table") in hidden
            else FIELDS_OF_OPEN_LINES
        )
        redacted_fields = {
            key: show(fields_of_line[key]) for key, show in fields.items() if key in fields_of_line
        }
        if hidden:  # an exception's text may concern any table
            redacted_fields.pop("exception", None)
        shown.append(json.dumps(redacted_fields, ensure_ascii=False))
    return shown, omitted
