"""JSON in which no name occurs twice and every number is one: two readers of a signed text must not
read two different things.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import msgspec


def parse(data: bytes) -> dict[str, Any]:
    """The object in UTF-8 text. Raises ``ValueError`` that says what is wrong with it."""
    try:
        given = json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_number)
        msgspec.json.encode(
            given
        )  # half a surrogate pair is no text; it could not be written again
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    except UnicodeEncodeError:
        raise ValueError("it contains half a surrogate pair") from None
    except RecursionError:
        raise ValueError("brackets are nested too deep") from None
    if not isinstance(given, dict):
        raise ValueError("it is not a JSON object")
    return given


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice[:64]!r} occurs twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")
