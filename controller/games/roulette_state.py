"""What a roulette table remembers. Everything is here; the game itself remembers nothing."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.events import Frame
from controller.games.moves import Remembered
from devices.readings import Direction, Number, Phase

REMEMBERED = 60
"""Rounds that can still be confirmed or corrected: about an hour of play."""
SHOWN = 20
"""Rounds that the retained history shows."""


Purpose = Literal["close", "limit"]


class Launch(msgspec.Struct, frozen=True):
    """How the rotor turned when the ball was launched, and for which spin of the wheel's own counter."""

    direction: Direction
    spin: int | None

    def just_before(self, spin: int | None) -> bool:
        """Whether the wheel's counter shows that no spin lies between that launch and one for ``spin``."""
        return self.spin is not None and spin is not None and spin - self.spin in (0, 1)


class Hand(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round in hand. ``frames``: its evidence so far, oldest first.

    ``said``: the breaches already reported. ``asks``: the commands one of which it waits for; ``landed``: the number that
    waits with it. ``stands``: who let it go on.
    """

    round: int
    spin: int | None = None
    relaunch: bool = False
    last: bool = False
    launched: bool = False
    closed: bool = False
    frames: tuple[Frame, ...] = ()
    said: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    landed: Number | None = None
    stands: str | None = None
    rotor_before: Launch | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one round. ``number`` is a result, ``candidate`` is none until a person confirms it."""

    round: int
    kind: Literal["result", "void", "unresolved"]
    spin: int | None = None
    number: int | None = None
    candidate: Number | None = None
    frames: tuple[Frame, ...] = ()
    reason: str | None = None
    article: str | None = None
    last: bool = False
    corrected: bool = False


class Countdown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Announced last balls: ``left`` of them, from round ``since`` on. ``minimum``: what holds afterwards."""

    purpose: Purpose
    left: int
    since: int
    minimum: int | None = None


class Tally(msgspec.Struct, frozen=True):
    """Where the results so far have led: the last valid number, and how many zeros running end with it."""

    number: int | None = None
    zeros: int = 0

    def after(self, entry: Entry) -> Tally:
        """Null and unresolved rounds change nothing."""
        if entry.number is None:
            return self
        return Tally(entry.number, self.zeros + 1 if entry.number == 0 else 0)


class State(Remembered, frozen=True, kw_only=True, omit_defaults=True):
    """A roulette table between two inputs.

    ``phase`` and ``spin``: what the wheel last said, live. ``spent``: the outcome of what the wheel is doing is known, so
    nothing of it counts until it starts over. ``gap``: the device was silent since the wheel last started over.
    ``relaunch``: the round before was null and none has followed. ``rotor``: how the rotor turned at the last launch, if
    no long silence has come since; ``heard``: no short one has either. ``faults``: what the wheel complains of now.
    ``before``: the tally before the oldest entry.
    """

    hand: Hand | None = None
    phase: Phase | None = None
    spin: int | None = None
    spent: bool = False
    gap: bool = False
    relaunch: bool = False
    rotor: Launch | None = None
    heard: bool = True
    faults: tuple[str, ...] = ()
    countdowns: tuple[Countdown, ...] = ()
    entries: tuple[Entry, ...] = ()
    before: Tally = Tally()

    def tally(self, upto: int | None = None) -> Tally:
        """The tally after all remembered rounds, or after round ``upto``."""
        tally = self.before
        for entry in self.entries:
            if upto is None or entry.round <= upto:
                tally = tally.after(entry)
        return tally

    def entry(self, number: int) -> Entry | None:
        """The outcome of a round of this session, if it is remembered."""
        return next((entry for entry in self.entries if entry.round == number), None)

    def with_entry(self, entry: Entry) -> State:
        """With this outcome in the place of any earlier one of its round; the oldest round too many is forgotten."""
        others = (each for each in self.entries if each.round != entry.round)
        entries = tuple(sorted((*others, entry), key=lambda each: each.round))
        before = self.before
        if len(entries) > REMEMBERED:
            before, entries = before.after(entries[0]), entries[1:]
        return msgspec.structs.replace(self, entries=entries, before=before)

    def unresolved(self) -> list[Entry]:
        """The rounds whose result a person may still give."""
        return [entry for entry in self.entries if entry.kind == "unresolved"]

    def left(self, purpose: Purpose) -> int | None:
        """How many announced last balls are left, or None where none were announced."""
        return next((each.left for each in self.countdowns if each.purpose == purpose), None)
