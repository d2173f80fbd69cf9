"""Renders a protocol as PDF, on A4, to be signed by hand in addition to the signed file, or as
text. The checks are derived from the notes again, in the language of the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from common.cards import short
from common.contract.messages.messages import text as message
from common.paper import LANE_INK, Paper
from controller.commissioning.judgement import judge
from controller.commissioning.protocol import (
    AcceptanceCheck,
    AnswerNote,
    Began,
    Plate,
    Protocol,
)

_LABEL = 38.0
_OUTCOME = 24.0
_COLOURS = {"passed": LANE_INK["green"], "failed": LANE_INK["red"], "not done": (150, 90, 0)}


def as_pdf(
    protocol: Protocol, key: str, sha256: str, language: str, house: Sequence[str] = ()
) -> bytes:
    """Return the PDF. ``sha256``: digest of the signed file; ``house``: the lines of the
    letterhead.
    """
    head = [title(protocol, language), f"SHA-256 {sha256}"]
    ended = datetime.fromisoformat(protocol.ended)
    page = Paper(head, language, ended, house=house, code=sha256, margin=15.0)
    page.set_font("Helvetica", "B", 12)
    page.wrapped(_word(protocol.verdict, language).upper(), 8)
    page.labelled(_facts(protocol, key, sha256, language), _LABEL)
    page.ln(4)
    for check in _checks(protocol, language):
        page.set_font("Helvetica", "B", 9)
        page.set_text_color(*_COLOURS[check.outcome])
        page.cell(_OUTCOME, 5, _word(check.outcome, language))
        page.set_text_color(0, 0, 0)
        page.labelled([(check.name, check.what)], _LABEL + 12, 9)
    page.ln(4)
    page.suited(_entries(protocol, language), 7, 3.5)
    page.signature(protocol.by)
    return bytes(page.output())


def as_text(
    protocol: Protocol, key: str, sha256: str, language: str, house: Sequence[str] = ()
) -> str:
    """Return the protocol as lines of text."""
    checks = _checks(protocol, language)
    facts = [*_facts(protocol, key, sha256, language)]
    width = max(len(name) for name, _ in facts)
    outcome = max(len(_word(check.outcome, language)) for check in checks)
    name = max(len(check.name) for check in checks)
    lines = [
        *house,
        title(protocol, language),
        _word(protocol.verdict, language).upper(),
        "",
        *(f"{label:{width}}  {value}" for label, value in facts),
        "",
        *(
            f"{_word(check.outcome, language):{outcome}}  {check.name:{name}}  {check.what}"
            for check in checks
        ),
        "",
        _entries(protocol, language),
    ]
    return "\n".join([*lines, ""])


def title(protocol: Protocol, language: str) -> str:
    """Return the heading."""
    return _text("title", language, device=protocol.device, table=protocol.table)


def _checks(protocol: Protocol, language: str) -> tuple[AcceptanceCheck, ...]:
    return judge(
        protocol.expected, protocol.notes, protocol.configured, protocol.recordings, language
    )


def _entries(protocol: Protocol, language: str) -> str:
    """Return what the person entered, and what the device reported where it differs."""
    shown = short if protocol.expected.kind == "shoe" else str
    nothing = message("acceptance.nothing", language)
    entries = ", ".join(
        shown(note.seen)
        if note.reported == note.seen
        else _text(
            "entry",
            language,
            seen=shown(note.seen),
            reported=nothing if note.reported is None else shown(note.reported),
        )
        for note in protocol.notes
        if isinstance(note, AnswerNote)
    )
    return _text("entries", language, entries=entries or _text("none", language))


def _facts(protocol: Protocol, key: str, sha256: str, language: str) -> Iterator[tuple[str, str]]:
    began = next((note.at for note in protocol.notes if isinstance(note, Began)), protocol.ended)
    plate = next((note for note in reversed(protocol.notes) if isinstance(note, Plate)), None)

    def label(name: str) -> str:
        return _text(name, language)

    yield label("site"), protocol.site
    game = message(f"game.{protocol.game}", language)
    yield label("game"), f"{game}, {protocol.decree}"
    evidence = protocol.evidence
    if evidence in ("documented", "observed"):
        evidence = label(evidence)
    yield (
        label("driver"),
        _text("driver_known", language, driver=protocol.driver, evidence=evidence),
    )
    yield label("link"), protocol.link
    if protocol.usb:
        yield "USB", ", ".join(f"{name} {value}" for name, value in protocol.usb.items())
    if plate is not None:
        yield label("plate"), f"{plate.maker} {plate.model} {plate.serial}"
    yield label("time"), f"{began}, {protocol.ended}"
    person = "" if protocol.person is None else f" ({protocol.person})"
    yield label("led_by"), f"{protocol.by}{person}"
    yield label("software"), protocol.software
    for recording in protocol.recordings:
        yield label("recording"), f"{recording.file}, SHA-256 {recording.sha256}"
    yield label("signed_file"), f"SHA-256 {sha256}"
    yield label("key"), key


def _word(outcome: str, language: str) -> str:
    """Return a verdict or the outcome of a check in words."""
    return _text(outcome.replace(" ", "_"), language)


def _text(key: str, language: str, **fields: object) -> str:
    return message(f"acceptance_paper.{key}", language, **fields)
