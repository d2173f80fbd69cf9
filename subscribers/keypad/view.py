"""What the page of a keypad draws."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from controller.contract.messages.messages import text, word
from subscribers.keypad.keys import Meaning, Slot
from subscribers.keypad.pad import Pad
from subscribers.table_snapshot import Outdated, TableSnapshot


class KeypadView(msgspec.Struct, frozen=True, kw_only=True):
    """One keypad, for the person who has it."""

    table: str
    phase: str
    """Where the table stands, or why nothing is known of it."""
    current: bool
    """Whether the table is heard: a key that orders would be sent into nothing otherwise."""
    locked: bool
    unknown: bool
    """The last key has no answer, and the person has not seen that yet."""
    typed: str
    keys: Mapping[Slot, str]
    """What each key means now, in words."""
    told: str
    sound: str
    heard: int
    """Counts what is told, so that each is heard once."""
    last: str
    """The id of the last key of the page that came here."""
    usb: str | None
    """Of the USB keypad: empty if it is there, else that it is not; None: the table has none."""


def view(
    known: TableSnapshot,
    outdated: Outdated | None,
    pad: Pad,
    means: Mapping[Slot, Meaning],
    language: str,
    *,
    heard: int,
    last: str,
    usb: str | None,
) -> KeypadView:
    """The picture of a keypad."""
    state = known.state
    phase = (
        text(f"trouble.{outdated.why}", language)
        if outdated is not None
        else word("phase", state.shown.phase, language)
        if state is not None
        else ""
    )
    told = pad.told
    return KeypadView(
        table=known.table,
        phase=phase,
        current=outdated is None,
        locked=pad.locked,
        unknown=pad.unknown is not None,
        typed=pad.typed,
        keys={slot: text(meaning.text, language) for slot, meaning in means.items()},
        told=told.detail or (text(told.text, language) if told.text else ""),
        sound=told.sound,
        heard=heard,
        last=last,
        usb=usb,
    )
