"""Records that tests keep."""

from __future__ import annotations

from typing import Any

from common.contract.times import format_utc
from subscribers.surveillance.archive import ArchiveRecord, event_key

BOOT = "boot-1"


def event(seq: int, table: str = "R1", boot: str = BOOT, **changes: Any) -> ArchiveRecord:
    """An event of a table, at ``seq`` seconds."""
    fields: dict[str, Any] = {
        "site": "madrid-1",
        "kind": "event",
        "key": event_key(table, boot, seq),
        "time": format_utc(1_790_000_000 + seq),
        "received": format_utc(1_790_000_000 + seq),
        "body": b'{"seq":%d}' % seq,
        "table": table,
        "node": "floor",
        "boot": boot,
        "seq": seq,
        "type": "round.result",
        **changes,
    }
    return ArchiveRecord(**fields)


def finding(number: int, **changes: Any) -> ArchiveRecord:
    """A finding of the recorder."""
    fields: dict[str, Any] = {
        "site": "madrid-1",
        "kind": "finding",
        "key": f"finding-{number}",
        "time": format_utc(1_790_000_000 + number),
        "received": format_utc(1_790_000_000 + number),
        "body": b"{}",
        "node": "floor",
        "type": "journal_rolled_back",
        **changes,
    }
    return ArchiveRecord(**fields)
