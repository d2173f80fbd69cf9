"""Data for drawing a keypad."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from common.contract.messages.messages import text, word
from subscribers.feed.table_snapshot import Outdated, TableSnapshot
from subscribers.keypad.keys import Meaning, Slot
from subscribers.keypad.pad import Pad


class KeypadView(msgspec.Struct, frozen=True, kw_only=True):
    """A keypad, for the person using it."""

    table: str
    phase: str
    """The table's phase, or why its state is unknown."""
    current: bool
    """True if the table is connected; otherwise orders would be lost."""
    locked: bool
    unknown: bool
    """The last order has no reply, and the person has not seen that yet."""
    typed: str
    keys: Mapping[Slot, str]
    """The current meaning of each key, as text."""
    feedback: str
    """Feedback to the last key, as text."""
    sound: str
    feedback_count: int
    """Counter of the feedback, so that each sound is played once."""
    last: str
    """The id of the last key received from the page."""
    usb: str | None
    """Empty if the USB keypad works, otherwise the problem; None: the table has no USB keypad."""


def keypad_view(
    snapshot: TableSnapshot,
    outdated: Outdated | None,
    pad: Pad,
    key_meanings: Mapping[Slot, Meaning],
    language: str,
    *,
    feedback_count: int,
    last: str,
    usb: str | None,
) -> KeypadView:
    """Return the view of a keypad."""
    state = snapshot.state
    phase = (
        text(f"trouble.{outdated.why}", language)
        if outdated is not None
        else word("phase", state.shown.phase, language)
        if state is not None
        else ""
    )
    feedback = pad.feedback
    return KeypadView(
        table=snapshot.table,
        phase=phase,
        current=outdated is None,
        locked=pad.locked,
        unknown=pad.unknown is not None,
        typed=pad.typed,
        keys={
            slot: text(meaning.text, language, **meaning.fields)
            for slot, meaning in key_meanings.items()
        },
        feedback=feedback.detail or (text(feedback.text, language) if feedback.text else ""),
        sound=feedback.sound,
        feedback_count=feedback_count,
        last=last,
        usb=usb,
    )
