"""Renders a protocol as PDF, on A4, to be signed by hand in addition to the signed file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from common.paper import Paper, printable
from controller.commissioning.protocol import AnswerNote, Began, Plate, Protocol

_LABEL = 38.0
_COLOURS = {"passed": (0, 100, 40), "failed": (178, 14, 40), "not done": (150, 90, 0)}


def as_pdf(protocol: Protocol, key: str, sha256: str) -> bytes:
    """Return the PDF. ``sha256``: digest of the signed file."""
    title = f"Acceptance of {protocol.device}, table {protocol.table}"
    ended = datetime.fromisoformat(protocol.ended)
    page = Paper([title, f"sha256 {sha256}"], "en", ended, margin=15.0)
    page.set_font("Helvetica", "B", 12)
    page.wrapped(protocol.verdict.upper(), 8)
    page.labelled(_facts(protocol, key, sha256), _LABEL)
    page.ln(4)
    for check in protocol.checks:
        page.set_font("Helvetica", "B", 9)
        page.set_text_color(*_COLOURS[check.outcome])
        page.cell(20, 5, check.outcome)
        page.set_text_color(0, 0, 0)
        page.cell(_LABEL, 5, printable(check.name))
        page.set_font("Helvetica", "", 9)
        page.wrapped(check.what, 5)
    page.ln(4)
    page.set_font("Helvetica", "", 7)
    entries = ", ".join(
        note.seen
        if note.reported == note.seen
        else f"{note.seen} (device: {note.reported or 'nothing'})"
        for note in protocol.notes
        if isinstance(note, AnswerNote)
    )
    page.wrapped(f"The person's entries, in order: {entries or 'none'}", 3.5)
    page.signature(protocol.by)
    return bytes(page.output())


def _facts(protocol: Protocol, key: str, sha256: str) -> Iterator[tuple[str, str]]:
    began = next((note.at for note in protocol.notes if isinstance(note, Began)), protocol.ended)
    plate = next((note for note in reversed(protocol.notes) if isinstance(note, Plate)), None)
    yield "site", protocol.site
    yield "game", f"{protocol.game}, {protocol.decree}"
    yield "driver", f"{protocol.driver} (protocol known: {protocol.evidence})"
    yield "link", protocol.link
    if protocol.usb:
        yield "USB", ", ".join(f"{name} {value}" for name, value in protocol.usb.items())
    if plate is not None:
        yield "plate", f"{plate.maker} {plate.model} {plate.serial}"
    yield "from, to (UTC)", f"{began}, {protocol.ended}"
    yield "led by", protocol.by if protocol.person is None else f"{protocol.by} ({protocol.person})"
    yield "software", protocol.software
    for recording in protocol.recordings:
        yield "recording", f"{recording.file}, sha256 {recording.sha256}"
    yield "signed file", f"sha256 {sha256}"
    yield "key", key
