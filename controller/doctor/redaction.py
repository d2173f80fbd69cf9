"""What may leave the site for support: a configuration without its secrets, log lines without what
lies face down.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Mapping
from typing import Any, get_args, get_origin

import msgspec

from controller.configuration.secrets import FILES
from controller.configuration.settings import Configuration, Device, Table
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
PASS = re.compile(r"(?i)\b(\w*(?:pass|secret|token|pin|pwd)\w*)=[^&\s\"']*")
USER = re.compile(r"://[^/@\s\"']*@")
GOT = re.compile(r", got .*", re.DOTALL)
"""How a mistake ends that shows what was written."""

ALWAYS = ("timestamp", "level", "event", "table", "device")
"""Fields of a log line that say nothing of a card or a person."""
ELSEWHERE = (
    *ALWAYS, "reason", "error", "where", "exception", "count", "alert", "segment", "topic",
    "topics", "why", "what",
)  # fmt: skip
"""Fields of lines that are of no table with face-down cards."""


def redacted(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a configuration says, sound or not, without its secrets."""
    return _section(Configuration, given)


def _section(kind: type[msgspec.Struct], given: Mapping[str, Any]) -> dict[str, Any]:
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    secret = FILES.get(kind, ())
    shown: dict[str, Any] = {}
    for key, value in given.items():
        if key not in fields:
            shown[key] = UNKNOWN
        elif key in secret or key.endswith("_credential"):
            shown[key] = SET
        elif kind is Device and key == "options":
            shown[key] = _known(_options_of(given.get("driver")), value)
        elif kind is Table and key == "settings":
            shown[key] = _known(_settings_of(given.get("game")), value)
        else:
            shown[key] = _value(fields[key], value)
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


def _value(kind: Any, value: Any) -> Any:
    """A value, section by section where it has some; none that is of another form than it should
    be, for it may be anything.
    """
    kinds = (kind, *get_args(kind))
    section = next((each for each in kinds if _is_section(each)), None)
    if isinstance(value, dict):
        if section is not None:
            return _section(section, value)
        of = next((get_args(each)[1] for each in kinds if get_origin(each) is dict), None)
        return UNFIT if of is None else {key: _value(of, each) for key, each in value.items()}
    if isinstance(value, list):
        several = kind is Any or any(get_origin(each) is tuple for each in kinds)
        return [_value(section or Any, each) for each in value] if several else UNFIT
    if section is not None and kind is section:
        return UNFIT
    return plain(value) if isinstance(value, str) else value if _is_number(value) else str(value)


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def plain(text: str) -> str:
    """A text without the password of an address."""
    return USER.sub(f"://{SET}@", PASS.sub(rf"\1={SET}", text))


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
        fields: tuple[str, ...] = (
            ALWAYS if hidden is None or said.get("table") in hidden else ELSEWHERE
        )
        if hidden:  # a text of a library may be of any table
            fields = tuple(each for each in fields if each != "exception")
        told = {key: plain(str(said[key])) for key in fields if key in said}
        kept.append(json.dumps(told, ensure_ascii=False))
    return kept, left
