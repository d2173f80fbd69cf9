"""Archives to try, in every database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from subscribers.surveillance.archive import RecordArchive
from subscribers.surveillance.open_archive import open_archive
from tests.support.surveillance.postgres import Postgres


@pytest.fixture(scope="session")
def postgres(programs: None) -> Iterator[Postgres]:
    """A server that is up, once for each process that runs tests."""
    server = Postgres()
    try:
        server.start()
        yield server
    finally:
        server.close()


# A parameter has no fixtures: the mark has the effect of that of `postgres`.
@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.process)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an archive may be begun, as ``open_archive`` takes it."""
    if request.param == "sqlite":
        return str(tmp_path / "archive.sqlite3")
    server: Postgres = request.getfixturevalue("postgres")
    return server.database()


@pytest.fixture
def archive(place: str) -> Iterator[RecordArchive]:
    """An archive that is empty."""
    opened = open_archive(place)
    yield opened
    opened.close()
