"""Renders a protocol as PDF, on A4, to be signed by hand in addition to the signed file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from fpdf import FPDF

from controller.commissioning.protocol import AnswerNote, Began, Plate, Protocol

_MARGIN, _LABEL = 15.0, 38.0
_COLOURS = {"passed": (0, 100, 40), "failed": (178, 14, 40), "not done": (150, 90, 0)}


def as_pdf(protocol: Protocol, key: str, sha256: str) -> bytes:
    """Return the PDF. ``sha256``: digest of the signed file."""
    page = FPDF(format="A4")
    page.set_margins(_MARGIN, _MARGIN, _MARGIN)
    page.set_auto_page_break(auto=True, margin=_MARGIN)
    page.set_title(_latin(f"Acceptance of {protocol.device}, table {protocol.table}"))
    page.set_lang("en")
    page.set_creator("Novamás")
    page.set_creation_date(datetime.fromisoformat(protocol.ended))
    page.add_page()
    page.set_font("Helvetica", "B", 15)
    title = f"Acceptance of {protocol.device}, table {protocol.table}"
    page.cell(0, 9, _latin(title), new_x="LMARGIN", new_y="NEXT")
    page.set_font("Helvetica", "B", 12)
    page.cell(0, 8, _latin(protocol.verdict.upper()), new_x="LMARGIN", new_y="NEXT")
    for name, value in _facts(protocol, key, sha256):
        _row(page, name, value)
    page.ln(4)
    for check in protocol.checks:
        page.set_font("Helvetica", "B", 9)
        page.set_text_color(*_COLOURS[check.outcome])
        page.cell(20, 5, check.outcome)
        page.set_text_color(0, 0, 0)
        page.cell(_LABEL, 5, _latin(check.name))
        page.set_font("Helvetica", "", 9)
        page.multi_cell(0, 5, _latin(check.what), new_x="LMARGIN", new_y="NEXT", align="L")
    page.ln(4)
    page.set_font("Helvetica", "", 7)
    entries = ", ".join(
        note.said if note.told == note.said else f"{note.said} (device: {note.told or 'nothing'})"
        for note in protocol.notes
        if isinstance(note, AnswerNote)
    )
    page.multi_cell(
        0,
        3.5,
        _latin(f"The person's entries, in order: {entries or 'none'}"),
        new_x="LMARGIN",
        new_y="NEXT",
        align="L",
    )
    page.ln(14)
    page.set_font("Helvetica", "", 8)
    page.cell(90, 4, _latin(protocol.by), border="T")
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


def _row(page: FPDF, name: str, value: str) -> None:
    page.set_font("Helvetica", "", 8)
    page.cell(_LABEL, 4.5, _latin(name))
    page.set_font("Helvetica", "B", 8)
    page.multi_cell(0, 4.5, _latin(value), new_x="LMARGIN", new_y="NEXT", align="L")


def _latin(text: str) -> str:
    """Replace characters that the font lacks."""
    return text.encode("latin-1", "replace").decode("latin-1")
