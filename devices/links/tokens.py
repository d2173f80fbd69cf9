"""Tokens of devices that post: a file with one token a line."""

from __future__ import annotations

import re

from devices.links.link import LinkFailedError

MIN_TOKEN_CHARS = 16
MAX_TOKENS = 2
"""Tokens that are valid at the same time, so that one can be replaced."""
_TOKEN = re.compile(rf"[!-~]{{{MIN_TOKEN_CHARS},}}")
"""A header carries no other characters unchanged."""


def read_tokens(path: str) -> tuple[str, ...]:
    """Read the tokens of a secret file, one a line. Raises :class:`LinkFailedError`."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - each request reads it
            tokens = tuple(filter(None, map(str.strip, file.read(4096).splitlines())))
    except UnicodeError:
        raise LinkFailedError(f"{path}: the secret is not UTF-8 text") from None
    except OSError as error:
        raise LinkFailedError(f"{path}: cannot be read: {error.strerror}") from None
    if not 1 <= len(tokens) <= MAX_TOKENS or not all(map(_TOKEN.fullmatch, tokens)):
        raise LinkFailedError(
            f"{path}: write one token a line, {MIN_TOKEN_CHARS} or more ASCII characters without "
            f"blanks, and at most {MAX_TOKENS} lines"
        )
    return tokens
