"""What the recorder itself found wrong, as a record and as an alert."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Literal

import msgspec

from controller.contract.retained import Alert
from subscribers.surveillance.archive import Archive, Query, Record

What = Literal[
    "event_differs",
    "event_unknown",
    "events_missing",
    "record_differs",
    "journal_rolled_back",
    "journal_rewritten",
    "journal_cut",
    "journal_restored",
    "journal_replaced",
    "checkpoint_key_changed",
    "checkpoint_forged",
    "checkpoint_unsigned",
]
ADVICE = ("wheel_bias", "wheel_changed", "shoe_order", "shoe_ranks")
"""What statistics find beside the recording."""
SEVERITY: dict[str, Literal["warning", "fault"]] = {
    "events_missing": "warning",
    "journal_restored": "warning",
    "checkpoint_unsigned": "warning",
    **dict.fromkeys(ADVICE, "warning"),
}
"""``fault`` where nothing is said."""


SETTLED = "settled"
"""The type of the record that says so; its key is that of the finding after the same word."""
KEY_CHANGED: What = "checkpoint_key_changed"
STALLED = "archive_stalled"
"""What is alerted while the archive takes nothing."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """``detail``: for a person; ``evidence``: what was compared, as it was said; ``name``: what
    makes it the same finding when it is found again.
    """

    what: What
    detail: str
    name: str
    evidence: dict[str, Any]
    table: str = ""
    node: str = ""
    boot: str = ""
    seq: int = 0


def finding_record(found: Finding, site: str, now: str) -> Record:
    """It as a record."""
    body = {"what": found.what, "detail": found.detail, "evidence": found.evidence}
    return Record(
        site=site,
        kind="finding",
        key=f"{found.what}:{found.name}"[:400],
        time=now,
        heard=now,
        body=msgspec.json.encode(body),
        table=found.table,
        node=found.node,
        boot=found.boot,
        seq=found.seq,
        type=found.what,
        words=tuple(filter(None, (found.table, found.node))),
    )


def alert(record: Record) -> Alert:
    """A finding that was kept as the alert that stands until somebody settles it."""
    what: Any = record.type
    told = msgspec.json.decode(record.body)
    return Alert(
        alert=alert_name(record.type, record.key),
        what=f"surveillance.{what}",
        severity=SEVERITY.get(what, "fault"),
        raised=record.time,
        detail=told["detail"],
    )


def stalled(reason: str, raised: str) -> Alert:
    """The alert that the archive takes nothing."""
    return Alert(
        alert=STALLED.replace("_", "-"),
        what=f"surveillance.{STALLED}",
        severity="fault",
        raised=raised,
        detail=f"{reason}. The broker keeps what comes meanwhile; it goes on by itself",
    )


def alert_name(what: str, key: str) -> str:
    """The id of the alert of a finding."""
    return f"{what.replace('_', '-')}-{blake2b(key.encode(), digest_size=5).hexdigest()}"


def shown(body: bytes) -> str:
    """A body as evidence."""
    return body.decode("utf-8", "backslashreplace")


def open_findings(archive: Archive, sites: tuple[str, ...] = ()) -> list[tuple[int, Record]]:
    """The findings that nobody has settled, the oldest first, with their numbers."""
    rows = list(archive.find(Query(sites=sites, kinds=("finding",))))
    settled = {(row.record.site, row.record.key) for row in rows if row.record.type == SETTLED}
    return [
        (row.number, row.record)
        for row in rows
        if row.record.type != SETTLED and (row.record.site, settled_key(row.record)) not in settled
    ]


def settled_key(finding: Record) -> str:
    """The key of the record that settles a finding."""
    return f"{SETTLED}:{finding.key}"


def key_of(finding: str) -> tuple[str, str]:
    """The node and the other key, of the key of a finding ``checkpoint_key_changed``."""
    _, node, key, _ = finding.split(":")
    return node, key


def refused_keys(archive: Archive, site: str) -> frozenset[str]:
    """Keys that nobody has vouched for since they took another one's place."""
    rows = archive.find(Query(sites=(site,), kinds=("finding",), types=(KEY_CHANGED, SETTLED)))
    refused: dict[str, str] = {}
    for row in rows:
        if row.record.type == KEY_CHANGED:
            refused[row.record.key] = key_of(row.record.key)[1]
        else:
            refused.pop(msgspec.json.decode(row.record.body)["finding"], None)
    return frozenset(refused.values())
