"""Opens an archive, whichever database it lies in."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from subscribers.surveillance.archive import Archive
from subscribers.surveillance.archive_sqlite import SQLiteArchive
from subscribers.surveillance.errors import ArchiveError

POSTGRES = ("postgresql://", "postgres://")


def open_archive(where: str, *, read_only: bool = False, recorder: bool = False) -> Archive:
    """The archive at ``where``: the path of a file of SQLite, or ``postgresql://…``. Without
    ``read_only`` it is begun where there is none; a second ``recorder`` is refused. Raises
    :class:`ArchiveError`.
    """
    if not where.startswith(POSTGRES):
        return SQLiteArchive(Path(where), read_only=read_only, recorder=recorder)
    try:
        room = import_module("subscribers.surveillance.archive_postgres")
    except ModuleNotFoundError as error:
        raise ArchiveError(
            f"an archive in PostgreSQL needs {error.name}; install it with `pip install "
            "novamas[archive]`"
        ) from None
    opened: Archive = room.PostgresArchive(where, read_only=read_only, recorder=recorder)
    return opened
