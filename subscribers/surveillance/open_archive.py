"""Opens an archive of either database."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from subscribers.surveillance.archive import RecordArchive
from subscribers.surveillance.archive_sqlite import SQLiteArchive
from subscribers.surveillance.errors import ArchiveError

POSTGRES = ("postgresql://", "postgres://")


def open_archive(where: str, *, read_only: bool = False, recorder: bool = False) -> RecordArchive:
    """Open the archive at ``where``: the path of an SQLite file, or ``postgresql://…``. Unless
    ``read_only``, create it if it does not exist. A second ``recorder`` is refused. Raise
    :class:`ArchiveError`.
    """
    if not where.startswith(POSTGRES):
        return SQLiteArchive(Path(where), read_only=read_only, recorder=recorder)
    try:
        module = import_module("subscribers.surveillance.archive_postgres")
    except ModuleNotFoundError as error:
        raise ArchiveError(
            f"an archive in PostgreSQL needs {error.name}; install it with `pip install "
            "novamas[archive]`"
        ) from None
    archive: RecordArchive = module.PostgresArchive(where, read_only=read_only, recorder=recorder)
    return archive
