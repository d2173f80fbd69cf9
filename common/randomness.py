"""What the program draws by chance: keys, nonces, ids and jitter.

All of it comes from one source of bytes, the operating system's generator, which is fit for keys. A
simulated world puts a seeded one in its place (:func:`use`). What is to be repeated, such as
the games of a simulator, draws from a :class:`Random` with a seed of its own.
"""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random as Random

_source: Callable[[int], bytes] = os.urandom


@contextmanager
def use(source: Callable[[int], bytes]) -> Iterator[None]:
    """Draw from ``source``, which returns as many bytes as it is asked for, in all threads until
    the end of the ``with`` block.
    """
    global _source
    before, _source = _source, source
    try:
        yield
    finally:
        _source = before


def token_bytes(count: int) -> bytes:
    """Draw ``count`` bytes."""
    return _source(count)


def token_hex(count: int) -> str:
    """Draw ``count`` bytes, as twice as many hexadecimal digits."""
    return _source(count).hex()


def token_urlsafe(count: int) -> str:
    """Draw ``count`` bytes, as base64url without padding."""
    return urlsafe_b64encode(_source(count)).rstrip(b"=").decode()


def fraction() -> float:
    """Draw a number from 0 to below 1."""
    return (int.from_bytes(_source(7)) >> 3) / (1 << 53)
