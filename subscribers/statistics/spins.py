"""The spins of a table, from its events: a fold without clock or I/O.

Rotor speed and direction are in the evidence of a result, if the wheel reports them in its status
lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from common.cammegh_ss2_frames import (
    BALL_IN_RIM,
    DIRECTIONS,
    NO_MORE_BETS,
    Status,
    read_status,
)
from common.mono import elapsed_ns
from common.readings import Number, unescape
from subscribers.statistics.shoes import DealtShoe

MAX_SPIN_SECONDS = 300.0
"""Maximum duration of a spin; anything longer was waiting for a person."""
MAX_REMEMBERED_RESULTS = 200
"""Number of latest results of a table that a correction can still find."""


class WheelSpin(msgspec.Struct, frozen=True, kw_only=True):
    """One spin with a result. Unknown values are None or empty."""

    site: str
    table: str
    simulated: bool
    name: str
    """Unique id: boot and number of its event."""
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
    """From opening of the bets to the result."""

    @property
    def rotor_turns(self) -> float | None:
        """Rotor revolutions from launch to rest, assuming constant speed."""
        if self.rotor_rpm is None or self.spin_seconds is None:
            return None
        return self.rotor_rpm * self.spin_seconds / 60


class VoidSpin(msgspec.Struct, frozen=True):
    """A round that was declared void, or has no certain result."""

    site: str
    table: str
    time: str
    reason: str
    dealer: str


class CorrectedSpin(msgspec.Struct, frozen=True):
    """The result of a spin was corrected."""

    spin: WheelSpin
    number: Number


class ServiceWork(msgspec.Struct, frozen=True):
    """A device of the table was serviced or replaced."""

    site: str
    table: str
    time: str
    device: str
    work: str
    serial: str


class ShoeDealt(msgspec.Struct, frozen=True):
    """A shoe ended."""

    site: str
    table: str
    simulated: bool
    time: str
    shoe: DealtShoe


DealtCard = list[Any]
"""A card as it left the shoe: the hand, its position in it, the card."""
TableHappening = WheelSpin | VoidSpin | CorrectedSpin | ServiceWork | ShoeDealt


class TableEvent(msgspec.Struct, frozen=True):
    """The event fields that are read here."""

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
    """State of one table. :meth:`on_event` yields what follows from each event."""

    def __init__(self) -> None:
        self._dealers: list[str] = []
        self._opened: tuple[str, int] | None = None
        self._closed: tuple[str, int] | None = None
        self._results: dict[tuple[str, int], WheelSpin] = {}
        self._shoe: tuple[TableEvent, list[DealtCard]] | None = None

    def on_event(self, event: TableEvent) -> Iterator[TableHappening]:
        """Handle an event of the table; events must come in their order."""
        match event.type:
            case "staff.arrived" if event.duty == "croupier":
                self._dealers = [*(name for name in self._dealers if name != event.person)]
                self._dealers.append(event.person)
            case "staff.left" if event.duty == "croupier":
                self._dealers = [name for name in self._dealers if name != event.person]
            case "session.opened" | "session.closed":
                self._dealers = []
            case "round.opened":
                self._opened, self._closed = (event.boot, event.mono_ns), None
            case "bets.closed":
                self._closed = (event.boot, event.mono_ns)
            case "round.result":
                yield from self._result(event)
            case "round.void":
                yield self._void(event, event.reason)
            case "round.unresolved":
                yield self._void(event, f"unresolved: {event.why}")
            case "result.corrected":
                yield from self._corrected(event)
            case "device.serviced":
                yield _service_event(event, event.work)
            case "device.identified" if event.was is not None:
                yield _service_event(event, "replaced")
            case _:
                yield from self._card(event)

    @property
    def dealer(self) -> str:
        """The current dealer: the last one to arrive."""
        return self._dealers[-1] if self._dealers else ""

    def _void(self, event: TableEvent, reason: str) -> VoidSpin:
        self._opened = self._closed = None
        return VoidSpin(event.site, event.table, event.time, reason, self.dealer)

    def _result(self, event: TableEvent) -> Iterator[WheelSpin]:
        number = _number(event.outcome)
        opened, closed = self._opened, self._closed
        self._opened = self._closed = None
        if number is None:
            return
        evidence = _read_evidence(event.frames)
        spin = WheelSpin(
            site=event.site,
            table=event.table,
            simulated=event.simulated,
            name=f"{event.boot}:{event.seq}",
            time=event.time,
            mono=event.mono_ns / 1e9,
            boot=event.boot,
            session=event.session,
            family=event.outcome["family"],
            number=number,
            device=evidence.device,
            dealer=self.dealer,
            direction=evidence.direction,
            rotor_rpm=evidence.rpm,
            spin_seconds=evidence.seconds,
            fall_seconds=_seconds_since(closed, event),
            round_seconds=_seconds_since(opened, event),
        )
        self._results[event.boot, event.seq] = spin
        if len(self._results) > MAX_REMEMBERED_RESULTS:
            del self._results[next(iter(self._results))]
        yield spin

    def _corrected(self, event: TableEvent) -> Iterator[CorrectedSpin]:
        number = _number(event.outcome)
        spin = self._results.pop((event.replaces_boot or "", event.replaces or 0), None)
        if number is None or spin is None:
            return
        yield CorrectedSpin(spin, number)
        self._results[event.boot, event.seq] = msgspec.structs.replace(spin, number=number)

    def _card(self, event: TableEvent) -> Iterator[ShoeDealt]:
        """Record the cards of a shoe: ``[hand, position, card]``, in the order in which they were
        dealt.
        """
        if event.type == "shoe.started":
            self._shoe = (event, [])
            return
        if self._shoe is None:
            return
        started, cards_dealt = self._shoe
        match event.type:
            case "card.dealt" if event.was is None:
                cards_dealt.append([event.to, event.index, event.card])
            case "card.dealt":
                moved = _latest_card(cards_dealt, event.was, event.card)
                if moved is not None:
                    moved[:2] = [event.to, event.index]
            case "card.turned":
                turned = next(
                    (card for card in reversed(cards_dealt) if card[:2] == [event.to, event.index]),
                    None,
                )
                if turned is not None:
                    turned[2] = event.card
            case "cards.burned":
                cards_dealt.extend([["burn", 0, None]] * (event.count or 0))
            case "shoe.ended":
                self._shoe = None
                if started.cards == 52 * started.decks:
                    cards = tuple(card for *_, card in cards_dealt)
                    shoe = DealtShoe(f"{started.boot}:{started.seq}", started.decks, cards)
                    yield ShoeDealt(event.site, event.table, event.simulated, event.time, shoe)


class _ResultEvidence(msgspec.Struct, frozen=True):
    device: str = ""
    direction: str = ""
    rpm: float | None = None
    seconds: float | None = None


def _read_evidence(frames: tuple[dict[str, Any], ...]) -> _ResultEvidence:
    """Read rotor speed, direction and duration from the frames of a result."""
    device = str(frames[-1].get("device", "")) if frames else ""
    launched, moving = None, None
    for frame in frames:
        status = _status(frame)
        if status is not None and status.state == BALL_IN_RIM and launched is None:
            launched = float(frame["at"])
        if status is not None and status.state in (BALL_IN_RIM, NO_MORE_BETS):
            moving = status
    if moving is None:
        return _ResultEvidence(device)
    seconds = None if launched is None else float(frames[-1]["at"]) - launched
    return _ResultEvidence(
        device,
        DIRECTIONS[moving.direction],
        moving.speed / 10,
        seconds if seconds is not None and 0 < seconds < MAX_SPIN_SECONDS else None,
    )


def _status(frame: Mapping[str, Any]) -> Status | None:
    try:
        return read_status(unescape(str(frame.get("frame", ""))).rstrip(b"\r\n"))
    except ValueError:
        return None


def _seconds_since(begin: tuple[str, int] | None, event: TableEvent) -> float | None:
    if begin is None or begin[0] != event.boot:
        return None
    seconds = elapsed_ns(begin[1], event.mono_ns) / 1e9
    return seconds if 0 < seconds < MAX_SPIN_SECONDS else None


def _number(outcome: Mapping[str, Any]) -> Number | None:
    number = outcome.get("number")
    is_wheel = outcome.get("family") in ("roulette", "boule") and isinstance(number, int | str)
    return number if is_wheel else None


def _service_event(event: TableEvent, work: Literal["replaced"] | str) -> ServiceWork:
    serial = event.serial or ""
    return ServiceWork(event.site, event.table, event.time, event.device, work, serial)


def _latest_card(cards: list[DealtCard], hand: str | None, card: str | None) -> DealtCard | None:
    """Return the last card of a hand; if the card is known, that card."""
    for dealt in reversed(cards):
        if dealt[0] == hand and (card is None or dealt[2] in (card, None)):
            return dealt
    return None
