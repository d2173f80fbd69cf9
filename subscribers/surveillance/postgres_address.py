"""How a PostgreSQL archive is named, reached and explained to a person."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from subscribers.surveillance.errors import ArchiveError


def address_parts(where: str) -> dict[str, Any]:
    """Parse the address. Raise :class:`ArchiveError`; the message does not quote the address, which
    may contain a password.
    """
    try:
        return conninfo_to_dict(where)
    except psycopg.Error:
        raise ArchiveError(
            "the archive's address is not a PostgreSQL address; write it as "
            "postgresql://user@host:5432/database"
        ) from None


def display_name(where: str) -> str:
    """Return the address for messages, without the password."""
    parts = address_parts(where)
    name = parts.get("dbname") or parts.get("user") or ""
    place = f"{parts.get('host') or 'localhost'}:{parts.get('port') or 5432}"
    return f"PostgreSQL at {place}, database {name}"


def error_text(error: Exception) -> str:
    """Return the error on one line, with advice."""
    message = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    for kinds, advice in ADVICE:
        if isinstance(error, kinds):
            return f"{message}; {advice}"
    return f"{message}; check the database and its log"


ADVICE: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
    (psycopg.errors.DiskFull, "make room on the disk of the server"),
    (psycopg.errors.LockNotAvailable, "another program holds the lock; stop that program"),
    (
        (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction),
        "grant it to the user of this program: see docs/inspector/surveillance-archive.md",
    ),
    (psycopg.OperationalError, "check the server and the network; it is tried again"),
)
