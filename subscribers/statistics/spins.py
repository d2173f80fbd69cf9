"""The spins of a table, from its events: a fold without clock or I/O.

Rotor speed and direction are in the evidence of a result, where the wheel reports them in a line of
its status.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from controller.contract.mono import elapsed_ns
from devices.readings import Number, unescape
from devices.wheel.cammegh_ss2_frames import (
    BALL_IN_RIM,
    DIRECTIONS,
    NO_MORE_BETS,
    Status,
    read_status,
)
from subscribers.statistics.shoes import Shoe

LONGEST = 300.0
"""Seconds: what takes longer than this was no spin, but waited for a person."""
REMEMBERED = 200
"""The last results of a table that a correction may still find."""


class Spin(msgspec.Struct, frozen=True, kw_only=True):
    """One spin that has its result. What was not told is None or empty."""

    site: str
    table: str
    simulated: bool
    name: str
    """What is unique to it: boot and number of its event."""
    time: str
    mono: float
    """Seconds on the clock of its boot."""
    boot: str
    session: int
    family: str
    number: Number
    device: str
    dealer: str
    direction: str
    rotor_rpm: float | None = None
    spin_seconds: float | None = None
    """From the ball in the rim to rest."""
    fall_seconds: float | None = None
    """From no more bets to the result."""
    round_seconds: float | None = None
    """From the bets being open to the result."""

    @property
    def rotor_turns(self) -> float | None:
        """The rotor's revolutions from launch to rest, if it kept its speed."""
        if self.rotor_rpm is None or self.spin_seconds is None:
            return None
        return self.rotor_rpm * self.spin_seconds / 60


class Void(msgspec.Struct, frozen=True):
    """A round that was declared void, or has no result for certain."""

    site: str
    table: str
    time: str
    reason: str
    dealer: str


class Corrected(msgspec.Struct, frozen=True):
    """The result of a spin was another one. ``number`` is None where it cannot be told."""

    spin: Spin
    number: Number


class Serviced(msgspec.Struct, frozen=True):
    """A device of the table was serviced, or is another one."""

    site: str
    table: str
    time: str
    device: str
    work: str
    serial: str


class Dealt(msgspec.Struct, frozen=True):
    """A shoe ended."""

    site: str
    table: str
    simulated: bool
    time: str
    shoe: Shoe


Leaf = list[Any]
"""A card as it left the shoe: the hand, its place in it, the card."""
Happened = Spin | Void | Corrected | Serviced | Dealt


class Told(msgspec.Struct, frozen=True):
    """What is read of an event; all else in it is left alone."""

    type: str
    site: str = ""
    table: str = ""
    time: str = ""
    boot: str = ""
    seq: int = 0
    mono_ns: int = 0
    simulated: bool = False
    session: int = 0
    round: int = 0
    outcome: dict[str, Any] = {}
    frames: tuple[dict[str, Any], ...] = ()
    reason: str = ""
    why: str = ""
    person: str = ""
    duty: str = ""
    device: str = ""
    work: str = ""
    serial: str | None = None
    was: str | None = None
    replaces: int | None = None
    replaces_boot: str | None = None
    shoe: str = ""
    decks: int = 0
    cards: int | tuple[Any, ...] = 0
    card: str | None = None
    to: str | None = None
    index: int = 0
    count: int | None = None
    left: Any = None


class TableSpins:
    """What happened at one table so far. :meth:`take` gives what follows from each event."""

    def __init__(self) -> None:
        self._dealers: list[str] = []
        self._opened: tuple[str, int] | None = None
        self._closed: tuple[str, int] | None = None
        self._results: dict[tuple[str, int], Spin] = {}
        self._shoe: tuple[Told, list[Leaf]] | None = None

    def take(self, told: Told) -> Iterator[Happened]:
        """One event of the table, in the order in which they happened."""
        match told.type:
            case "staff.arrived" if told.duty == "croupier":
                self._dealers = [*(name for name in self._dealers if name != told.person)]
                self._dealers.append(told.person)
            case "staff.left" if told.duty == "croupier":
                self._dealers = [name for name in self._dealers if name != told.person]
            case "session.opened" | "session.closed":
                self._dealers = []
            case "round.opened":
                self._opened, self._closed = (told.boot, told.mono_ns), None
            case "bets.closed":
                self._closed = (told.boot, told.mono_ns)
            case "round.result":
                yield from self._result(told)
            case "round.void":
                yield self._void(told, told.reason)
            case "round.unresolved":
                yield self._void(told, f"unresolved: {told.why}")
            case "result.corrected":
                yield from self._corrected(told)
            case "device.serviced":
                yield _serviced(told, told.work)
            case "device.identified" if told.was is not None:
                yield _serviced(told, "replaced")
            case _:
                yield from self._card(told)

    @property
    def dealer(self) -> str:
        """Who deals: whoever came last."""
        return self._dealers[-1] if self._dealers else ""

    def _void(self, told: Told, reason: str) -> Void:
        self._opened = self._closed = None
        return Void(told.site, told.table, told.time, reason, self.dealer)

    def _result(self, told: Told) -> Iterator[Spin]:
        number = _number(told.outcome)
        opened, closed = self._opened, self._closed
        self._opened = self._closed = None
        if number is None:
            return
        seen = _evidence(told.frames)
        spin = Spin(
            site=told.site,
            table=told.table,
            simulated=told.simulated,
            name=f"{told.boot}:{told.seq}",
            time=told.time,
            mono=told.mono_ns / 1e9,
            boot=told.boot,
            session=told.session,
            family=told.outcome["family"],
            number=number,
            device=seen.device,
            dealer=self.dealer,
            direction=seen.direction,
            rotor_rpm=seen.rpm,
            spin_seconds=seen.seconds,
            fall_seconds=_since(closed, told),
            round_seconds=_since(opened, told),
        )
        self._results[told.boot, told.seq] = spin
        if len(self._results) > REMEMBERED:
            del self._results[next(iter(self._results))]
        yield spin

    def _corrected(self, told: Told) -> Iterator[Corrected]:
        number = _number(told.outcome)
        spin = self._results.pop((told.replaces_boot or "", told.replaces or 0), None)
        if number is None or spin is None:
            return
        yield Corrected(spin, number)
        self._results[told.boot, told.seq] = msgspec.structs.replace(spin, number=number)

    def _card(self, told: Told) -> Iterator[Dealt]:
        """A shoe as it leaves: ``[hand, place in it, card]`` for each card, in that order."""
        if told.type == "shoe.started":
            self._shoe = (told, [])
            return
        if self._shoe is None:
            return
        started, came = self._shoe
        match told.type:
            case "card.dealt" if told.was is None:
                came.append([told.to, told.index, told.card])
            case "card.dealt":
                moved = _latest(came, told.was, told.card)
                if moved is not None:
                    moved[:2] = [told.to, told.index]
            case "card.turned":
                turned = next(
                    (each for each in reversed(came) if each[:2] == [told.to, told.index]), None
                )
                if turned is not None:
                    turned[2] = told.card
            case "cards.burned":
                came.extend([["burn", 0, None]] * (told.count or 0))
            case "shoe.ended":
                self._shoe = None
                if started.cards == 52 * started.decks:
                    cards = tuple(card for *_, card in came)
                    shoe = Shoe(f"{started.boot}:{started.seq}", started.decks, cards)
                    yield Dealt(told.site, told.table, told.simulated, told.time, shoe)


class _Seen(msgspec.Struct, frozen=True):
    device: str = ""
    direction: str = ""
    rpm: float | None = None
    seconds: float | None = None


def _evidence(frames: tuple[dict[str, Any], ...]) -> _Seen:
    """What the frames of a result tell of the wheel."""
    device = str(frames[-1].get("device", "")) if frames else ""
    launched, moving = None, None
    for frame in frames:
        status = _status(frame)
        if status is not None and status.state == BALL_IN_RIM and launched is None:
            launched = float(frame["at"])
        if status is not None and status.state in (BALL_IN_RIM, NO_MORE_BETS):
            moving = status
    if moving is None:
        return _Seen(device)
    seconds = None if launched is None else float(frames[-1]["at"]) - launched
    return _Seen(
        device,
        DIRECTIONS[moving.direction],
        moving.speed / 10,
        seconds if seconds is not None and 0 < seconds < LONGEST else None,
    )


def _status(frame: Mapping[str, Any]) -> Status | None:
    try:
        return read_status(unescape(str(frame.get("frame", ""))).rstrip(b"\r\n"))
    except ValueError:
        return None


def _since(begin: tuple[str, int] | None, told: Told) -> float | None:
    if begin is None or begin[0] != told.boot:
        return None
    seconds = elapsed_ns(begin[1], told.mono_ns) / 1e9
    return seconds if 0 < seconds < LONGEST else None


def _number(outcome: Mapping[str, Any]) -> Number | None:
    number = outcome.get("number")
    known = outcome.get("family") in ("roulette", "boule") and isinstance(number, int | str)
    return number if known else None


def _serviced(told: Told, work: Literal["replaced"] | str) -> Serviced:
    serial = told.serial or ""
    return Serviced(told.site, told.table, told.time, told.device, work, serial)


def _latest(came: list[Leaf], hand: str | None, card: str | None) -> Leaf | None:
    """The last card of a hand; where it is known, that card."""
    for each in reversed(came):
        if each[0] == hand and (card is None or each[2] in (card, None)):
            return each
    return None
