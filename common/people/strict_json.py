"""Strict JSON: rejects duplicate names and NaN, so that all parsers read a signed text in the same
way.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import msgspec


def parse(data: bytes) -> dict[str, Any]:
    """Parse a JSON object in UTF-8 text. Raises ``ValueError`` with the reason."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_number)
        msgspec.json.encode(
            value
        )  # half a surrogate pair is no text; it could not be written again
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON from character {error.pos + 1} on") from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    except UnicodeEncodeError:
        raise ValueError("it contains half a surrogate pair") from None
    except RecursionError:
        raise ValueError("brackets are nested too deep") from None
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names_and_values = dict(pairs)
    if len(names_and_values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice[:64]!r} occurs twice")
    return names_and_values


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")
