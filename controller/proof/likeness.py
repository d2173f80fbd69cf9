"""Whether two objects hold the same, also across processes: a digest of everything in them.

What counts only (:class:`devices.codec.Counters`) is left out: nothing is decided by it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from hashlib import sha256

import msgspec

from devices.codec import Counters

MAX_DEPTH = 50
"""Objects within objects; more are taken for a circle."""


def likeness(each: object) -> bytes:
    """Equal for objects that hold the same. Raises ``TypeError`` if that is undecidable."""
    return sha256("".join(_spelt(each, MAX_DEPTH)).encode("utf-8", "surrogatepass")).digest()


def _spelt(each: object, depth: int) -> Iterator[str]:
    if not depth:
        raise TypeError("objects within objects without end")
    if each is None or isinstance(each, bool | int | float | str | bytes):
        yield f"{type(each).__name__} {each!r},"
    elif isinstance(each, Counters):
        yield "counters,"
    elif isinstance(each, type):
        yield f"{each.__module__}.{each.__qualname__},"
    elif isinstance(each, re.Pattern):
        yield f"{each.pattern!r} {each.flags},"
    else:
        yield f"{type(each).__module__}.{type(each).__qualname__}("
        for part in _parts(each, depth):
            yield from _spelt(part, depth - 1)
        yield "),"


def _parts(each: object, depth: int) -> Iterator[object]:
    """What an object is made of, in order."""
    if isinstance(each, set | frozenset):
        yield from sorted("".join(_spelt(part, depth - 1)) for part in each)
    elif isinstance(each, list | tuple | deque):
        yield from each
    elif isinstance(each, Mapping):
        for key, value in each.items():
            yield key
            yield value
    elif isinstance(each, msgspec.Struct):
        yield from msgspec.structs.astuple(each)
    elif type(each).__module__.startswith("devices.") and hasattr(each, "__dict__"):
        for name, value in vars(each).items():
            yield name
            yield value
    else:
        raise TypeError(f"nobody knows what a {type(each).__qualname__} holds")
