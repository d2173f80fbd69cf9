"""The tokens of programs that read over HTTP: who has one, for which tables, and until when.

The format is JSON Lines in UTF-8. The first line has the number of the file, which grows with each
change; each further one is a token, with its SHA-256. The token itself is in no file. A file of an
earlier release has no first line; its number is 0.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from common import randomness
from common.contract.times import format_utc, parse_utc
from common.errors import NovamasError, describe_error
from common.new_file import create_private, is_exposed, replace_file
from common.people.numbered import (
    FileMemory,
    FileStatus,
    OldCopyError,
    check_number,
    file_status,
    locked_folder,
)
from common.people.register import Id, Time
from common.plain_errors import describe
from common.readings import MAX_EXACT_INTEGER

MAX_FILE_BYTES = 1_000_000
"""Maximum size of the file."""
TOKEN_BYTES = 32
"""Random bytes of a token."""
MEMORY_FILE = "api-tokens-in-force.jsonl"
"""File in a server's folder that stores the file of tokens in force."""
TOKEN_PREFIX = "novamas_"  # noqa: S105 - not a secret: scanners of leaked secrets look for it
"""Beginning of every token."""


class TokensError(NovamasError, ValueError):
    """The file of tokens cannot be used. The message says where and why."""


class TokensHeader(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line of the file."""

    tokens: Literal[1] = 1
    """The version of the format."""
    number: Annotated[int, Meta(ge=1, le=MAX_EXACT_INTEGER)]
    """Raised with each change, so that an old copy can be recognised."""


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


_Line = TypeVar("_Line", TokensHeader, ApiToken)


class TokensInForce(msgspec.Struct, frozen=True):
    """A valid file of tokens."""

    number: int
    tokens: tuple[ApiToken, ...]
    text: bytes


class TokenFile:
    """The tokens in the file ``path``, which is read again when it changes. ``memory``: a file with
    the server's data that stores the last one. An older copy is rejected: then only those of its
    tokens count that the last one has too. ``trouble``: why the file is rejected or cannot be
    stored, and what to do.
    """

    def __init__(self, path: Path, memory: Path) -> None:
        self._path = path
        self._status: FileStatus | None = None
        self._in_force: TokensInForce | None = None
        self._tokens: tuple[ApiToken, ...] = ()
        self._memory = FileMemory(memory, 2 * MAX_FILE_BYTES, self._stored)
        self._is_stored = True
        self.trouble: str | None = None

    def tokens(self) -> tuple[ApiToken, ...]:
        """Return the valid tokens, expired ones included. Raises :class:`TokensError` if the file
        or its memory is unreadable: no token then counts, because one may have been revoked.
        """
        try:
            self._catch_up()
            with self._path.open("rb") as file:
                status = file_status(file.fileno())
                if status != self._status or not self._is_stored:
                    self._apply(_read(self._path, file.fileno()))
                    self._status = status
        except FileNotFoundError:
            self._tokens, self._status = (), None
        except OSError as error:
            raise TokensError(describe_error(error)) from None
        return self._tokens

    def _catch_up(self) -> None:
        """Apply a newer file that another process has stored."""
        stored = self._memory.recall()
        if stored is not None and (
            self._in_force is None or stored.number >= self._in_force.number
        ):
            self._in_force, self._status = stored, None

    def _apply(self, found: TokensInForce) -> None:
        last = self._in_force
        self._tokens, self.trouble = found.tokens, None
        if last is not None and found.text != last.text:
            try:
                check_number(
                    found.number,
                    last.number,
                    "it was changed by hand, or on two machines. Restore the last one, and change "
                    "that: novamas token",
                )
            except OldCopyError as error:
                self._tokens = tuple(token for token in found.tokens if token in last.tokens)
                self.trouble = (
                    f"{self._path}: {error}. Until then a token counts only if both have it"
                )
                return
        self._in_force = found
        self._store(found)

    def _store(self, found: TokensInForce) -> None:
        """Store the file in force. If that fails, the next call of :meth:`tokens` retries it."""
        try:
            with locked_folder(self._memory.path.parent):
                self._catch_up()
                if self._in_force is found:
                    self._memory.store(_with_digest(found.text))
            self._is_stored = True
        except OSError as error:
            self._is_stored = False
            self.trouble = f"the tokens in force cannot be remembered: {describe_error(error)}"

    def _stored(self, data: bytes) -> TokensInForce:
        digest, _, text = data.partition(b"\n")
        if digest.decode(errors="replace") != hashlib.sha256(text).hexdigest():
            path = self._memory.path
            raise TokensError(
                f"{path}, which remembers the tokens in force, is damaged. Make sure that "
                f"{self._path} is the last one, then move {path.name} away"
            )
        return _parse(self._memory.path, text)

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


def _with_digest(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode() + b"\n" + text


def digest_of(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def read_tokens(path: Path) -> tuple[ApiToken, ...]:
    """Read a file of tokens. Raises :class:`TokensError`, and ``OSError``."""
    with path.open("rb") as file:
        return _read(path, file.fileno()).tokens


def _read(path: Path, descriptor: int) -> TokensInForce:
    if is_exposed(os.fstat(descriptor)):
        raise TokensError(f"{path} can be read by others; chmod 600 {path}")
    return _parse(path, os.pread(descriptor, MAX_FILE_BYTES + 1, 0))


def _parse(path: Path, data: bytes) -> TokensInForce:
    if len(data) > MAX_FILE_BYTES:
        raise TokensError(f"{path} has more than {MAX_FILE_BYTES} bytes; revoke unused tokens")
    number, tokens = 0, []
    for at, line in enumerate(data.splitlines(), 1):
        if at == 1 and line.startswith(b'{"tokens":'):
            number = _parse_line(path, at, line, TokensHeader).number
            continue
        token = _parse_line(path, at, line, ApiToken)
        tokens.append(token)
    return TokensInForce(number, tuple(tokens), data)


def _parse_line(path: Path, at: int, line: bytes, kind: type[_Line]) -> _Line:
    try:
        parsed = msgspec.json.decode(line, type=kind)
        if isinstance(parsed, ApiToken) and parsed.until is not None:
            parse_utc(parsed.until)
    except (ValueError, RecursionError) as error:
        raise TokensError(f"{path}: line {at}: {describe(error, kind)}") from None
    return parsed


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
    with locked_folder(path.parent):
        last = _last(path)
        if any(known.name == name for known in last.tokens):
            raise TokensError(f"{path}: {name} has a token; revoke it first, or use another name")
        _write(path, last.number + 1, [*last.tokens, made])
    return made, token


def revoke_token(path: Path, name: str) -> None:
    """Remove a token. Raises :class:`TokensError`, and ``OSError``."""
    with locked_folder(path.parent):
        last = _last(path)
        left = [token for token in last.tokens if token.name != name]
        if len(left) == len(last.tokens):
            raise TokensError(f"{path}: there is no token with the name {name}")
        _write(path, last.number + 1, left)


def _time(until: str, now: float) -> str:
    try:
        seconds = parse_utc(until)
    except ValueError as error:
        raise TokensError(f"until: {error}") from None
    if seconds <= now:
        raise TokensError(f"until: {until} is in the past")
    return format_utc(seconds)


def _last(path: Path) -> TokensInForce:
    try:
        with path.open("rb") as file:
            return _read(path, file.fileno())
    except FileNotFoundError:
        return TokensInForce(0, (), b"")


def _write(path: Path, number: int, tokens: Iterable[ApiToken]) -> None:
    lines = [msgspec.json.encode(each) for each in (TokensHeader(number=number), *tokens)]
    data = b"".join(line + b"\n" for line in lines)
    if path.exists():
        replace_file(path, data)
    else:
        create_private(path, data)
