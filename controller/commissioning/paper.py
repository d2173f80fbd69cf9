"""A protocol as PDF, on A4: what a person signs by hand beside the signature in the file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from fpdf import FPDF

from controller.commissioning.protocol import Answer, Began, Plate, Protocol

_MARGIN, _LABEL = 15.0, 38.0
_COLOURS = {"passed": (0, 100, 40), "failed": (178, 14, 40), "not done": (150, 90, 0)}


def as_pdf(of: Protocol, key: str, sha256: str) -> bytes:
    """The whole document. ``sha256``: of the file with the signature."""
    page = FPDF(format="A4")
    page.set_margins(_MARGIN, _MARGIN, _MARGIN)
    page.set_auto_page_break(auto=True, margin=_MARGIN)
    page.set_title(_latin(f"Acceptance of {of.device}, table {of.table}"))
    page.set_lang("en")
    page.set_creator("Novamás")
    page.set_creation_date(datetime.fromisoformat(of.ended))
    page.add_page()
    page.set_font("Helvetica", "B", 15)
    title = f"Acceptance of {of.device}, table {of.table}"
    page.cell(0, 9, _latin(title), new_x="LMARGIN", new_y="NEXT")
    page.set_font("Helvetica", "B", 12)
    page.cell(0, 8, _latin(of.verdict.upper()), new_x="LMARGIN", new_y="NEXT")
    for name, value in _facts(of, key, sha256):
        _row(page, name, value)
    page.ln(4)
    for check in of.checks:
        page.set_font("Helvetica", "B", 9)
        page.set_text_color(*_COLOURS[check.outcome])
        page.cell(20, 5, check.outcome)
        page.set_text_color(0, 0, 0)
        page.cell(_LABEL, 5, _latin(check.name))
        page.set_font("Helvetica", "", 9)
        page.multi_cell(0, 5, _latin(check.what), new_x="LMARGIN", new_y="NEXT", align="L")
    page.ln(4)
    page.set_font("Helvetica", "", 7)
    said = ", ".join(
        note.said if note.told == note.said else f"{note.said} (device: {note.told or 'nothing'})"
        for note in of.notes
        if isinstance(note, Answer)
    )
    page.multi_cell(
        0,
        3.5,
        _latin(f"What the person said, in its order: {said or 'nothing'}"),
        new_x="LMARGIN",
        new_y="NEXT",
        align="L",
    )
    page.ln(14)
    page.set_font("Helvetica", "", 8)
    page.cell(90, 4, _latin(of.by), border="T")
    return bytes(page.output())


def _facts(of: Protocol, key: str, sha256: str) -> Iterator[tuple[str, str]]:
    began = next((note.at for note in of.notes if isinstance(note, Began)), of.ended)
    plate = next((note for note in reversed(of.notes) if isinstance(note, Plate)), None)
    yield "site", of.site
    yield "game", f"{of.game}, {of.decree}"
    yield "driver", f"{of.driver} (protocol known: {of.evidence})"
    yield "link", of.link
    if of.usb:
        yield "USB", ", ".join(f"{name} {value}" for name, value in of.usb.items())
    if plate is not None:
        yield "plate", f"{plate.maker} {plate.model} {plate.serial}"
    yield "from, to (UTC)", f"{began}, {of.ended}"
    yield "led by", of.by if of.person is None else f"{of.by} ({of.person})"
    yield "software", of.software
    for each in of.recordings:
        yield "recording", f"{each.file}, sha256 {each.sha256}"
    yield "signed file", f"sha256 {sha256}"
    yield "key", key


def _row(page: FPDF, name: str, value: str) -> None:
    page.set_font("Helvetica", "", 8)
    page.cell(_LABEL, 4.5, _latin(name))
    page.set_font("Helvetica", "B", 8)
    page.multi_cell(0, 4.5, _latin(value), new_x="LMARGIN", new_y="NEXT", align="L")


def _latin(text: str) -> str:
    """The text as the font has it."""
    return text.encode("latin-1", "replace").decode("latin-1")
