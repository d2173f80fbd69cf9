"""Faults that the recorder detected, as records and as alerts."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Literal

import msgspec

from common.contract.retained import Alert
from subscribers.surveillance.archive import ArchiveRecord, Query, RecordArchive

FindingType = Literal[
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
STATISTICS_FINDINGS = ("wheel_bias", "wheel_changed", "shoe_order", "shoe_ranks")
"""Findings of the statistics task that runs beside the recording."""
SEVERITY: dict[str, Literal["warning", "fault"]] = {
    "events_missing": "warning",
    "journal_restored": "warning",
    "checkpoint_unsigned": "warning",
    **dict.fromkeys(STATISTICS_FINDINGS, "warning"),
}
"""Severity by finding; ``fault`` for those not listed."""


SETTLED = "settled"
"""Type of the record that settles a finding. Its key is this word and the key of the finding."""
KEY_CHANGED: FindingType = "checkpoint_key_changed"
ARCHIVE_STALLED = "archive_stalled"
STALLED_ALERT_ID = "archive-stalled"
"""Alert while the archive cannot store records."""


class RecorderFinding(msgspec.Struct, frozen=True, kw_only=True):
    """``detail``: text for a person; ``evidence``: the compared data, as received; ``name``:
    identifies the finding when it is detected again.
    """

    what: FindingType
    detail: str
    name: str
    evidence: dict[str, Any]
    table: str = ""
    node: str = ""
    boot: str = ""
    seq: int = 0


def finding_record(finding: RecorderFinding, site: str, now: str) -> ArchiveRecord:
    """Return the finding as a record."""
    body = {"what": finding.what, "detail": finding.detail, "evidence": finding.evidence}
    return ArchiveRecord(
        site=site,
        kind="finding",
        key=f"{finding.what}:{finding.name}"[:400],
        time=now,
        received=now,
        body=msgspec.json.encode(body),
        table=finding.table,
        node=finding.node,
        boot=finding.boot,
        seq=finding.seq,
        type=finding.what,
        words=tuple(filter(None, (finding.table, finding.node))),
    )


def finding_alert(record: ArchiveRecord) -> Alert:
    """Return the alert of a stored finding. It remains until a person settles the finding."""
    type_: Any = record.type
    body = msgspec.json.decode(record.body)
    return Alert(
        alert=alert_id(record.type, record.key),
        what=f"surveillance.{type_}",
        severity=SEVERITY.get(type_, "fault"),
        raised=record.time,
        detail=body["detail"],
    )


def stalled_alert(reason: str, raised: str) -> Alert:
    """Return the alert that the archive cannot store records."""
    return Alert(
        alert=STALLED_ALERT_ID,
        what=f"surveillance.{ARCHIVE_STALLED}",
        severity="fault",
        raised=raised,
        detail=f"{reason}. The broker keeps new messages meanwhile; recording resumes by itself",
    )


def alert_id(type_: str, key: str) -> str:
    """Return the id of a finding's alert."""
    return f"{type_.replace('_', '-')}-{blake2b(key.encode(), digest_size=5).hexdigest()}"


def body_text(body: bytes) -> str:
    """Return a body as text, for evidence."""
    return body.decode("utf-8", "backslashreplace")


def open_findings(
    archive: RecordArchive, sites: tuple[str, ...] = ()
) -> list[tuple[int, ArchiveRecord]]:
    """Return the findings that are not settled, oldest first, with their numbers."""
    rows = list(archive.find(Query(sites=sites, kinds=("finding",))))
    settled = {(row.record.site, row.record.key) for row in rows if row.record.type == SETTLED}
    return [
        (row.number, row.record)
        for row in rows
        if row.record.type != SETTLED and (row.record.site, settled_key(row.record)) not in settled
    ]


def settled_key(finding: ArchiveRecord) -> str:
    """Return the key of the record that settles a finding."""
    return f"{SETTLED}:{finding.key}"


def changed_key(finding: str) -> tuple[str, str]:
    """Return node and new public key, parsed from the key of a finding
    ``checkpoint_key_changed``.
    """
    _, node, key, _ = finding.split(":")
    return node, key


def refused_keys(archive: RecordArchive, site: str) -> frozenset[str]:
    """Return the keys that replaced another one without a person vouching for them."""
    rows = archive.find(Query(sites=(site,), kinds=("finding",), types=(KEY_CHANGED, SETTLED)))
    refused: dict[str, str] = {}
    for row in rows:
        if row.record.type == KEY_CHANGED:
            refused[row.record.key] = changed_key(row.record.key)[1]
        else:
            refused.pop(msgspec.json.decode(row.record.body)["finding"], None)
    return frozenset(refused.values())
