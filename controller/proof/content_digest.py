"""A digest of the content of an object, to compare objects of several processes.

:class:`common.device_health.Counters` are left out: no decision depends on them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from hashlib import sha256

import msgspec

from common.device_health import Counters

MAX_DEPTH = 50
"""Maximum nesting of objects; beyond it they count as recursive."""


def content_digest(value: object) -> bytes:
    """Return a digest that is equal for equal contents. Raises ``TypeError`` for an object of an
    unknown type, or a recursive one.
    """
    return sha256("".join(_spelt(value, MAX_DEPTH)).encode("utf-8", "surrogatepass")).digest()


def _spelt(value: object, depth: int) -> Iterator[str]:
    if not depth:
        raise TypeError("the object is recursive, or nested too deeply")
    if value is None or isinstance(value, bool | int | float | str | bytes):
        yield f"{type(value).__name__} {value!r},"
    elif isinstance(value, Counters):
        yield "counters,"
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__},"
    elif isinstance(value, re.Pattern):
        yield f"{value.pattern!r} {value.flags},"
    else:
        yield f"{type(value).__module__}.{type(value).__qualname__}("
        for part in _parts(value, depth):
            yield from _spelt(part, depth - 1)
        yield "),"


def _parts(value: object, depth: int) -> Iterator[object]:
    """Yield the parts of an object, in order."""
    if isinstance(value, set | frozenset):
        yield from sorted("".join(_spelt(part, depth - 1)) for part in value)
    elif isinstance(value, list | tuple | deque):
        yield from value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield item
    elif isinstance(value, msgspec.Struct):
        yield from msgspec.structs.astuple(value)
    elif type(value).__module__.startswith("devices.") and hasattr(value, "__dict__"):
        for name, item in vars(value).items():
            yield name
            yield item
    else:
        raise TypeError(f"the content of a {type(value).__qualname__} is unknown")
