"""Describes an error of the operating system without what Python adds to its text."""

from __future__ import annotations

import re

_ADDED = re.compile(r"\A\[Errno -?\d+\] | \(while attempting to bind on address .*\Z", re.DOTALL)


def describe_system_error(error: Exception) -> str:
    """Return the text of the system, without Python's number before it and the address that asyncio
    repeats after it.

    >>> describe_system_error(OSError(111, "Connection refused"))
    'Connection refused'
    >>> describe_system_error(ValueError("[Errno 111] Connection refused"))
    'Connection refused'
    """
    text = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return _ADDED.sub("", text)
