"""What a signed export states of itself: the search, the state of archive and journals, and
who exported. No clock; no I/O but the archive's.
"""

from __future__ import annotations

import msgspec

from common.contract.node import Checkpoint
from subscribers.surveillance.archive import Query, RecordArchive

FORMAT = "novamas surveillance export 1"
MAX_RECORDS = 2000
"""Maximum number of records in one export."""
MAX_CHECKPOINTS = 200
"""Number of checkpoints among which the newest of each journal is searched."""


class SignedHead(msgspec.Struct, frozen=True):
    """The newest signed state of a journal that the archive has."""

    node: str
    journal: str
    position: int
    hash: str
    time: str


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """What was exported, from what, and by whom."""

    format: str = FORMAT
    site: str
    person: str
    """The id of the exporting person."""
    name: str
    time: str
    """When it was exported."""
    query: dict[str, str | list[str]]
    """The filters of the search, as in the address of the page."""
    records: int
    through: int
    """The number of the archive's newest record when the search was made: its head."""
    checkpoints: tuple[SignedHead, ...]
    """The newest checkpoint of each journal."""
    files: dict[str, str] = {}
    """The SHA-256 of each file."""


def heads(archive: RecordArchive, site: str) -> tuple[SignedHead, ...]:
    """Return the newest checkpoint of each journal of a site. Raise ``ArchiveError``."""
    query = Query(sites=(site,), kinds=("checkpoint",), order="latest", limit=MAX_CHECKPOINTS)
    found: dict[tuple[str, str], SignedHead] = {}
    for row in archive.find(query):
        try:
            checkpoint = msgspec.json.decode(row.record.body, type=Checkpoint)
        except (ValueError, RecursionError):
            continue
        head = SignedHead(
            row.record.node,
            checkpoint.journal,
            checkpoint.position,
            checkpoint.hash,
            row.record.time,
        )
        found.setdefault((head.node, head.journal), head)
    return tuple(found.values())
