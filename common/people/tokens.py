"""The tokens of programs that read over HTTP: who has one, for which tables, and until when.

The format is JSON Lines in UTF-8, one token a line, with the SHA-256 of the token. The token itself
is in no file.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from common import randomness
from common.contract.times import format_utc, parse_utc
from common.errors import NovamasError
from common.new_file import create_private, is_exposed, replace_file
from common.people.register import Id, Time
from common.plain_errors import describe

MAX_FILE_BYTES = 1_000_000
"""Maximum size of the file."""
TOKEN_BYTES = 32
"""Random bytes of a token."""
TOKEN_PREFIX = "novamas_"  # noqa: S105 - not a secret: scanners of leaked secrets look for it
"""Beginning of every token."""


class TokensError(NovamasError, ValueError):
    """The file of tokens cannot be used. The message says where and why."""


class ApiToken(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One line of the file."""

    name: Id
    """The program that has it."""
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z", description="64 digits 0-9, a-f")]
    """SHA-256 of the token, in hexadecimal."""
    made: Time
    """When it was made: UTC, ISO 8601."""
    until: Time | None = None
    """When it expires: UTC, ISO 8601; None: never."""
    tables: Annotated[tuple[Id, ...], Meta(max_length=1000)] = ()
    """The tables that it may read; empty: all of the site."""

    def may_read(self, table: str) -> bool:
        """Return whether it may read this table."""
        return not self.tables or table in self.tables

    def in_term(self, now: float) -> bool:
        """Return whether it has not expired. ``now``: seconds since 1970."""
        return self.until is None or now < parse_utc(self.until)


class TokenFile:
    """The tokens in a file, which is read again when it changes. ``path``: the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._status: tuple[int, ...] | None = None
        self._tokens: tuple[ApiToken, ...] = ()

    def tokens(self) -> tuple[ApiToken, ...]:
        """Return all tokens. Raises :class:`TokensError` if the file is unreadable: no token then
        counts, because one may have been revoked.
        """
        try:
            status = self._path.stat()
            seen = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
            if seen != self._status:
                self._tokens, self._status = read_tokens(self._path), seen
        except FileNotFoundError:
            self._tokens, self._status = (), None
        except OSError as error:
            raise TokensError(f"{self._path}: {error.strerror}") from None
        return self._tokens

    def find(self, token: str, now: float) -> ApiToken | None:
        """Return the entry of a valid token, or None. ``now``: seconds since 1970. The comparison
        takes equally long for every token. Raises :class:`TokensError`.
        """
        digest = digest_of(token)
        found = None
        for known in self.tokens():
            if hmac.compare_digest(known.sha256, digest):
                found = known
        return found if found is not None and found.in_term(now) else None

    def is_valid(self, token: ApiToken, now: float) -> bool:
        """Return whether a token that was valid is neither revoked nor changed nor expired."""
        try:
            return token in self.tokens() and token.in_term(now)
        except TokensError:
            return False


def digest_of(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def read_tokens(path: Path) -> tuple[ApiToken, ...]:
    """Read a file of tokens. Raises :class:`TokensError`, and ``OSError``."""
    with path.open("rb") as file:
        exposed = is_exposed(os.fstat(file.fileno()))
        data = file.read(MAX_FILE_BYTES + 1)
    if exposed:
        raise TokensError(f"{path} can be read by others; chmod 600 {path}")
    if len(data) > MAX_FILE_BYTES:
        raise TokensError(f"{path} has more than {MAX_FILE_BYTES} bytes; revoke unused tokens")
    tokens = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            token = msgspec.json.decode(line, type=ApiToken)
            if token.until is not None:
                parse_utc(token.until)
        except (ValueError, RecursionError) as error:
            what = describe(error, ApiToken) if isinstance(error, ValueError) else "nested too deep"
            raise TokensError(f"{path}: line {number}: {what}") from None
        tokens.append(token)
    return tuple(tokens)


def add_token(
    path: Path, name: str, tables: Iterable[str], until: str | None, now: float
) -> tuple[ApiToken, str]:
    """Make a token, and add it to the file, which is created if it is missing. Return its entry
    and the token itself, which is stored nowhere. Raises :class:`TokensError`, and ``OSError``.
    """
    token = TOKEN_PREFIX + randomness.token_urlsafe(TOKEN_BYTES)
    fields = {
        "name": name,
        "sha256": digest_of(token),
        "made": format_utc(now),
        "until": None if until is None else _time(until, now),
        "tables": list(tables),
    }
    try:
        made = msgspec.convert(fields, ApiToken)
    except msgspec.ValidationError as error:
        raise TokensError(describe(error, ApiToken)) from None
    with _changing(path) as tokens:
        if any(known.name == name for known in tokens):
            raise TokensError(f"{path}: {name} has a token; revoke it first, or use another name")
        _write(path, [*tokens, made])
    return made, token


def revoke_token(path: Path, name: str) -> None:
    """Remove a token. Raises :class:`TokensError`, and ``OSError``."""
    with _changing(path) as tokens:
        left = [token for token in tokens if token.name != name]
        if len(left) == len(tokens):
            raise TokensError(f"{path}: there is no token with the name {name}")
        _write(path, left)


def _time(until: str, now: float) -> str:
    try:
        seconds = parse_utc(until)
    except ValueError as error:
        raise TokensError(f"until: {error}") from None
    if seconds <= now:
        raise TokensError(f"until: {until} is in the past")
    return format_utc(seconds)


@contextmanager
def _changing(path: Path) -> Iterator[tuple[ApiToken, ...]]:
    """Lock the folder against other processes that change the file; yield its tokens."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield read_tokens(path)
        except FileNotFoundError:
            yield ()
    finally:
        os.close(descriptor)


def _write(path: Path, tokens: Iterable[ApiToken]) -> None:
    data = b"".join(msgspec.json.encode(token) + b"\n" for token in tokens)
    if path.exists():
        replace_file(path, data)
    else:
        create_private(path, data)
