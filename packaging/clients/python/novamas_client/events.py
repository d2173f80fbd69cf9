"""The contract's events. Written by `make packages` from docs/integrator/schemas/events.json."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict


ShareItem: TypeAlias = int


Pay: TypeAlias = int


class BouleOutcome(TypedDict):
    """
    The number of the hole in which the ball is. The number in the middle has no colour, parity
    or half: they are null.
    """

    family: Literal["boule"]
    number: int
    colour: Literal["black", "red"] | None
    parity: Literal["even", "odd"] | None
    half: Literal["falta", "pasa"] | None
    last_of_session: bool


Die: TypeAlias = int


class CrapsOutcome(TypedDict):
    """
    One throw of the dice.
    """

    family: Literal["craps"]
    dice: tuple[Die, Die]
    total: int
    point: int | None


class FortuneOutcome(TypedDict):
    """
    The symbol under the tongue of the wheel of fortune.
    """

    family: Literal["fortune-wheel"]
    number: int | str
    cell: int | None
    last_of_session: bool


class Frame(TypedDict):
    """
    One piece of evidence: a frame as received.
    """

    at: float
    frame: str
    device: NotRequired[str]


class RouletteOutcome(TypedDict):
    """
    Where the ball definitively is. Zero has no colour, parity, half, dozen or column: they are
    null.
    """

    family: Literal["roulette"]
    number: int
    colour: Literal["black", "red"] | None
    parity: Literal["even", "odd"] | None
    half: Literal["falta", "pasa"] | None
    dozen: int | None
    column: int | None
    zeros: int
    last_of_session: bool


class Settled(TypedDict):
    """
    The settlement of one kind of bet.
    """

    bet: str
    outcome: Literal["lose", "stays", "tie", "void", "win"]
    pays: NotRequired[tuple[Pay, Pay] | None]
    who: NotRequired[str | None]


class Signer(TypedDict):
    """
    A person who signed a command.
    """

    id: str
    name: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]


class StaffArrived(TypedDict):
    """
    A person is at the table from now on.
    """

    type: Literal["staff.arrived"]
    person: str
    duty: Literal["croupier", "inspector", "table_head"]
    by: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class StaffLeft(TypedDict):
    """
    A person has left the table. When the session closes, those still there leave as well,
    without an event.
    """

    type: Literal["staff.left"]
    person: str
    duty: Literal["croupier", "inspector", "table_head"]
    by: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class WheelDifference(TypedDict):
    """
    The wheel's own log and the journal differ in one place. It changes no result: a person
    decides.
    """

    type: Literal["wheel.difference"]
    device: str
    what: Literal[
        "ambiguous", "different", "missing_in_journal", "missing_in_wheel", "order", "unresolved"
    ]
    wheel: NotRequired[list[int | str]]
    journal: NotRequired[list[int | str | None]]
    rounds: NotRequired[list[int]]
    after: NotRequired[int | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class WheelReconciled(TypedDict):
    """
    The wheel's own log, read while the wheel was closed, has the same results in the same order
    as the journal since the reading before.
    """

    type: Literal["wheel.reconciled"]
    device: str
    spins: int
    failed: int
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class WheelUnreconciled(TypedDict):
    """
    The wheel's own log was not compared with the journal.
    """

    type: Literal["wheel.unreconciled"]
    device: str
    why: (
        Literal["checksum", "interrupted", "refused", "truncated", "unanswered", "wrapped"]
        | Literal["cleared", "first", "restored", "rewritten", "too_many", "too_old"]
    )
    spins: int
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class WitnessReported(TypedDict):
    """
    A second witness of the table reported what it saw of a round: evidence, never a result.
    """

    type: Literal["witness.reported"]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]
    device: str
    number: NotRequired[int | str | None]
    dice: NotRequired[list[int] | None]
    agrees: NotRequired[bool | None]
    frames: NotRequired[list[Frame]]
    by: NotRequired[str | None]
    role: NotRequired[
        Literal["croupier", "director", "inspector", "table_head", "technician"] | None
    ]


class WitnessStatement(TypedDict):
    """
    What a second witness has reported of a round so far. It is silent if it names neither a
    number nor dice.
    """

    device: str
    number: NotRequired[int | str | None]
    dice: NotRequired[list[int] | None]
    agrees: NotRequired[bool | None]


class AlertAcknowledged(TypedDict):
    """
    A person has seen the alert.
    """

    type: Literal["alert.acknowledged"]
    alert: str
    by: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class AlertCleared(TypedDict):
    """
    The cause of the alert is gone.
    """

    type: Literal["alert.cleared"]
    alert: str
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class AlertRaised(TypedDict):
    """
    Something needs a person. Until `alert.cleared` it is retained under `alert/<id>`.
    """

    type: Literal["alert.raised"]
    alert: str
    what: str
    severity: NotRequired[Literal["fault", "warning"]]
    device: NotRequired[str | None]
    detail: NotRequired[str | None]
    rounds: NotRequired[list[int]]
    settled_by: NotRequired[
        dict[str, list[Literal["croupier", "director", "inspector", "table_head", "technician"]]]
    ]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class AwardQualified(TypedDict):
    """
    A hand qualifies for an award: a bonus, a jackpot, a carrousel.
    """

    type: Literal["award.qualified"]
    award: str
    box: str
    hand: str
    cards: NotRequired[list[str]]
    share: NotRequired[tuple[ShareItem, ShareItem] | None]
    of: NotRequired[Literal["all_tables", "table"] | None]
    out_of_play: NotRequired[bool]
    pays: NotRequired[tuple[Pay, Pay] | None]
    valid: NotRequired[bool]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class BetPlaced(TypedDict):
    """
    A bet was placed, withdrawn or refused that matters beyond its own amount.
    """

    type: Literal["bet.placed"]
    who: str
    bet: str
    withdrawn: NotRequired[bool]
    amount: NotRequired[int | None]
    by: NotRequired[str | None]
    out_of_play: NotRequired[bool]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class BetsClosed(TypedDict):
    """
    No more bets.
    """

    type: Literal["bets.closed"]
    spin: NotRequired[int | None]
    by: NotRequired[str | None]
    unobserved: NotRequired[bool]
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class BetsLastCall(TypedDict):
    """
    Last call: the ball or the wheel of boule or the wheel of fortune is about to come to rest,
    and bets close next.
    """

    type: Literal["bets.last_call"]
    spin: NotRequired[int | None]
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class BettingClosed(TypedDict):
    """
    The bets of the betting interval are equal.
    """

    type: Literal["betting.closed"]
    interval: int
    by: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class BettingOpened(TypedDict):
    """
    A betting interval begins. Sent again for the same interval if an open card turns out to
    differ from the one that was read: the later event applies.
    """

    type: Literal["betting.opened"]
    interval: int
    first: NotRequired[str | None]
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class ButtonMoved(TypedDict):
    """
    The button or the bank moved.
    """

    type: Literal["button.moved"]
    seat: int
    by: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class CardDealt(TypedDict):
    """
    A card was dealt to a hand.
    """

    type: Literal["card.dealt"]
    to: str
    index: int
    card: str | None
    was: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class CardExpected(TypedDict):
    """
    The place of the next card changed.
    """

    type: Literal["card.expected"]
    to: str | None
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class CardRemoved(TypedDict):
    """
    A card leaves the game.
    """

    type: Literal["card.removed"]
    why: str
    card: str | None
    to: NotRequired[str | None]
    law: NotRequired[str | None]
    article: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class CardTurned(TypedDict):
    """
    A card that was face down is turned.
    """

    type: Literal["card.turned"]
    to: str
    index: int
    card: str
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class CardsBurned(TypedDict):
    """
    Cards were burned, unseen.
    """

    type: Literal["cards.burned"]
    count: int
    shown: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class ClockStepped(TypedDict):
    """
    The clock of the table's machine was set: times before and after it cannot be compared. It is
    published once, at every table of the daemon; its own `time` is from after the step.
    """

    type: Literal["clock.stepped"]
    step: float
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class DataLate(TypedDict):
    """
    Frames may have waited before they were delivered: they came in a burst, after a silence or
    when the link was opened. None of them was used for a decision. A burst of more than a minute is
    reported each minute: the device may be faster than its `period`.
    """

    type: Literal["data.late"]
    device: str
    frames: int
    silence: float
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class DeckChecked(TypedDict):
    """
    A person or a shuffler checked a deck. Whether the count and whether the set is right are two
    separate facts. The missing cards are reported to surveillance only: they could reveal a hand
    that was not shown.
    """

    type: Literal["deck.checked"]
    right: bool
    count: NotRequired[int | None]
    count_right: NotRequired[bool | None]
    set_right: NotRequired[bool | None]
    by: NotRequired[str | None]
    device: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class DeviceCommanded(TypedDict):
    """
    A person commands a device. The command is sent after this event is stored.
    """

    type: Literal["device.commanded"]
    device: str
    command: str
    by: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]
    argument: NotRequired[str]
    unsent: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class DeviceIdentified(TypedDict):
    """
    A device was identified for the first time, or its identity changed.
    """

    type: Literal["device.identified"]
    device: str
    source: Literal["configured", "device", "usb"]
    serial: NotRequired[str | None]
    maker: NotRequired[str | None]
    model: NotRequired[str | None]
    usb: NotRequired[str | None]
    was: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class DeviceParameterRead(TypedDict):
    """
    A device stated a parameter with which it works for the first time, or another value than
    before. It is asked where the site allows commands to it; what it states is a claim.
    """

    type: Literal["device.parameter"]
    device: str
    parameter: str
    value: str | None
    was: NotRequired[str | None]
    expected: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class DeviceServiced(TypedDict):
    """
    A person reported that a device was serviced: a line of its maintenance log.
    """

    type: Literal["device.serviced"]
    device: str
    work: Literal[
        "adjusted",
        "balanced",
        "ball_changed",
        "calibrated",
        "cards_changed",
        "cleaned",
        "frets_changed",
        "inspected",
        "levelled",
        "lubricated",
        "part_changed",
        "put_back",
        "repaired",
        "replaced",
        "software_changed",
        "taken_out",
    ]
    by: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]
    serial: NotRequired[str | None]
    note: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class DeviceState(TypedDict):
    """
    The state of a device's link changed.
    """

    type: Literal["device.state"]
    device: str
    state: Literal["lost", "open", "stale", "unintelligible", "up"]
    detail: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class DiceChosen(TypedDict):
    """
    The dice to play with were chosen.
    """

    type: Literal["dice.chosen"]
    playing: list[str]
    reserve: list[str]
    by: str
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class DiceRegistered(TypedDict):
    """
    The dice of the session were registered.
    """

    type: Literal["dice.registered"]
    serials: list[str]
    by: str
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class DiceThrown(TypedDict):
    """
    Dice that decide no bet were thrown (pai gow).
    """

    type: Literal["dice.thrown"]
    values: list[int]
    total: int
    seat: NotRequired[int | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class DieLost(TypedDict):
    """
    A die left the table, or one that had left it was found.
    """

    type: Literal["die.lost"]
    serial: str | None
    found: NotRequired[bool]
    by: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class Hand(TypedDict):
    """
    One hand, or row, at the end of a round.
    """

    who: str
    cards: list[str]
    points: NotRequired[int | None]
    kind: NotRequired[str | None]
    outcome: NotRequired[Literal["lose", "tie", "win"] | None]
    best: NotRequired[list[str]]
    low: NotRequired[list[str]]
    low_kind: NotRequired[str | None]
    settled: NotRequired[list[Settled]]


class HandDecided(TypedDict):
    """
    A hand acts, by its holder's word or because the rules leave no choice.
    """

    type: Literal["hand.decided"]
    who: str
    decision: Literal[
        "all_in",
        "bet",
        "bust",
        "buy",
        "call",
        "check",
        "discard",
        "double",
        "draw",
        "even_money",
        "fold",
        "go",
        "in",
        "muck",
        "natural",
        "open",
        "out",
        "pass",
        "raise",
        "set",
        "split",
        "stand",
        "surrender",
        "withdraw",
    ]
    by: NotRequired[str | None]
    announcement: NotRequired[dict[str, str] | None]
    count: NotRequired[int | None]
    valid: NotRequired[bool]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class HousePokerOutcome(TypedDict):
    """
    One round of poker, pai gow or trijoker against the house or the holder of the bank; each box
    plays for itself.
    """

    family: Literal["house-poker"]
    hands: list[Hand]
    marks: list[str]


class Insurance(TypedDict):
    """
    Insurance is offered, or closed.
    """

    type: Literal["insurance"]
    offered: bool
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class Irregularity(TypedDict):
    """
    Something happened that the decree does not allow or does not foresee.
    """

    type: Literal["irregularity"]
    what: str
    law: str
    article: str
    spin: NotRequired[int | None]
    detail: NotRequired[str | None]
    asks: NotRequired[list[str]]
    frames: NotRequired[list[Frame]]
    readings: NotRequired[list[int]]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class JackpotInPlay(TypedDict):
    """
    The jackpot that the table is linked with is in play from here on, or is not. Bets that were
    placed before stay as they are.
    """

    type: Literal["jackpot.in_play"]
    jackpot: str
    in_play: bool | None
    why: NotRequired[
        Literal[
            "clock",
            "closed",
            "foreign",
            "gap",
            "not_authorised",
            "not_verified",
            "store",
            "suspended",
            "unheard",
            "unreadable",
        ]
        | None
    ]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class JackpotStaked(TypedDict):
    """
    The stakes on the jackpot in this play, sent at its end for the controller that raises the
    meter.
    """

    type: Literal["jackpot.staked"]
    amount: int
    slots: NotRequired[int]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class JournalRestored(TypedDict):
    """
    The table continues from a backup of its journal, or from the other daemon of a pair: the
    first event of its run. Events that the table published after `since` and before this event are
    not in its journal. They remain with those who stored them; the table neither confirms nor
    corrects them. An open session has ended; a person opens the next one.
    """

    type: Literal["journal.restored"]
    journal: str
    position: int
    hash: str
    since: str
    restored: str
    next_session: int
    was_open: NotRequired[int | None]
    in_progress: NotRequired[int | None]
    unresolved: NotRequired[list[int]]
    source: NotRequired[Literal["backup", "other_daemon"]]
    instance: NotRequired[str | None]
    term: NotRequired[int | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: NotRequired[int]
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class LastRounds(TypedDict):
    """
    A number of rounds are left before the session closes, or before a new minimum takes
    effect.
    """

    type: Literal["last_rounds"]
    purpose: Literal["close", "limit"]
    left: int
    by: NotRequired[str | None]
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class LimitChanged(TypedDict):
    """
    A new table minimum takes effect.
    """

    type: Literal["limit.changed"]
    minimum: int
    was: NotRequired[int | None]
    currency: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class PointSet(TypedDict):
    """
    The point of the series was set, made or lost.
    """

    type: Literal["point.set"]
    point: int | None
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class RoundOpened(TypedDict):
    """
    Bets are open for a new round.
    """

    type: Literal["round.opened"]
    spin: NotRequired[int | None]
    by: NotRequired[str | None]
    relaunch: NotRequired[bool]
    last_number: NotRequired[int | str | None]
    last_of_session: NotRequired[bool]
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class RoundUnresolved(TypedDict):
    """
    The result of a round is not known for certain. A person may still confirm one.
    """

    type: Literal["round.unresolved"]
    why: Literal[
        "before_no_more_bets",
        "no_launch",
        "number_unknown",
        "restart",
        "silence",
        "undecided",
        "witnesses_disagree",
    ]
    candidate: int | str | None
    spin: NotRequired[int | None]
    dice: NotRequired[list[int] | None]
    frames: NotRequired[list[Frame]]
    readings: NotRequired[list[int]]
    witnesses: NotRequired[list[WitnessStatement]]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class RoundVoid(TypedDict):
    """
    The round is void: it has no result.
    """

    type: Literal["round.void"]
    reason: Literal[
        "bad_launch",
        "bad_throw",
        "ball_out",
        "ball_with_rotor",
        "card_exposed",
        "cards_lacking",
        "cards_stuck",
        "cut_card",
        "cylinder_stopped",
        "deck_defective",
        "device_fault",
        "dice_slid",
        "dice_stacked",
        "die_broken",
        "die_in_reserve",
        "die_off_table",
        "die_on_chips",
        "die_on_edge",
        "foreign_object",
        "inspector",
        "misdeal",
        "rotor_not_reversed",
        "wrong_count",
        "wrong_order",
    ]
    law: str
    article: str
    last_number: int | str | None
    by: NotRequired[str | None]
    role: NotRequired[
        Literal["croupier", "director", "inspector", "table_head", "technician"] | None
    ]
    alone: NotRequired[bool]
    spin: NotRequired[int | None]
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]


class SessionClosed(TypedDict):
    """
    A session ends.
    """

    type: Literal["session.closed"]
    by: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]
    locked: NotRequired[bool]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class SessionOpened(TypedDict):
    """
    A session begins; `session` has its number.
    """

    type: Literal["session.opened"]
    by: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]
    minimum: NotRequired[int | None]
    currency: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class ShoeCut(TypedDict):
    """
    The cut card came out.
    """

    type: Literal["shoe.cut"]
    drawn: int
    left: int | None
    rounds_left: int
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class ShoeEnded(TypedDict):
    """
    The shoe is over.
    """

    type: Literal["shoe.ended"]
    why: Literal["cut", "person", "reset"]
    drawn: int
    unread: int
    left: NotRequired[int | None]
    missing: NotRequired[list[str]]
    extra: NotRequired[list[str]]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class ShoeStarted(TypedDict):
    """
    A shoe begins.
    """

    type: Literal["shoe.started"]
    shoe: str
    model: str | None
    decks: int
    cards: int
    cut: int
    by: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]
    announcement: NotRequired[dict[str, str] | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class ShooterChanged(TypedDict):
    """
    The dice pass to another seat.
    """

    type: Literal["shooter.changed"]
    seat: int | None
    why: Literal["corrected", "first", "refused", "seven", "withdrawn"]
    last: NotRequired[bool]
    by: NotRequired[str | None]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: NotRequired[int]
    signed_by: NotRequired[list[Signer]]


class TrenteOutcome(TypedDict):
    """
    One coup of trente et quarante.
    """

    family: Literal["trente-et-quarante"]
    winner: Literal["black", "red", "refait", "tie"]
    hands: list[Hand]
    marks: list[str]
    refaits: int
    choices: list[str]
    last_of_session: bool


class BaccaratOutcome(TypedDict):
    """
    One coup of punto y banca, chemin de fer or two-cloth baccarat.
    """

    family: Literal["baccarat"]
    winner: Literal["banker", "player", "tie"] | None
    hands: list[Hand]
    marks: list[str]


class BlackjackOutcome(TypedDict):
    """
    One hand of the dealer against the boxes; each box plays for itself.
    """

    family: Literal["blackjack"]
    hands: list[Hand]
    marks: list[str]


class CirclePokerOutcome(TypedDict):
    """
    One hand of poker that players play against each other.
    """

    family: Literal["circle-poker"]
    winner: str | None
    hands: list[Hand]
    marks: list[str]


class ResultCorrected(TypedDict):
    """
    A person corrected a published result, or the correction of an earlier one changed
    this one.
    """

    type: Literal["result.corrected"]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]
    replaces: int | None
    replaces_boot: str | None
    outcome: (
        RouletteOutcome
        | BouleOutcome
        | FortuneOutcome
        | CrapsOutcome
        | BaccaratOutcome
        | TrenteOutcome
        | BlackjackOutcome
        | CirclePokerOutcome
        | HousePokerOutcome
    )
    was: NotRequired[int | str | None]
    bets: NotRequired[list[Settled]]
    by: str
    role: Literal["croupier", "director", "inspector", "table_head", "technician"]


class RoundResult(TypedDict):
    """
    The round has its result.
    """

    type: Literal["round.result"]
    site: str
    table: str
    game: str
    decree: str
    boot: str
    seq: int
    time: str
    mono_ns: int
    time_bound: NotRequired[float | None]
    simulated: NotRequired[bool]
    historical: NotRequired[bool]
    session: int
    round: int
    signed_by: NotRequired[list[Signer]]
    outcome: (
        RouletteOutcome
        | BouleOutcome
        | FortuneOutcome
        | CrapsOutcome
        | BaccaratOutcome
        | TrenteOutcome
        | BlackjackOutcome
        | CirclePokerOutcome
        | HousePokerOutcome
    )
    spin: NotRequired[int | None]
    bets: NotRequired[list[Settled]]
    frames: list[Frame]
    readings: NotRequired[list[int]]
    confirmed_by: NotRequired[str | None]
    witnesses: NotRequired[list[WitnessStatement]]
    announcement: NotRequired[dict[str, str] | None]


AnyEvent: TypeAlias = (
    SessionOpened
    | SessionClosed
    | RoundOpened
    | BetsLastCall
    | BetsClosed
    | RoundResult
    | RoundVoid
    | RoundUnresolved
    | ResultCorrected
    | WitnessReported
    | LastRounds
    | LimitChanged
    | ShoeStarted
    | ShoeCut
    | ShoeEnded
    | CardsBurned
    | CardExpected
    | CardDealt
    | CardTurned
    | CardRemoved
    | HandDecided
    | Insurance
    | ButtonMoved
    | BettingOpened
    | BettingClosed
    | BetPlaced
    | AwardQualified
    | JackpotStaked
    | JackpotInPlay
    | DeckChecked
    | DiceRegistered
    | DiceChosen
    | DieLost
    | DiceThrown
    | ShooterChanged
    | PointSet
    | Irregularity
    | AlertRaised
    | AlertAcknowledged
    | StaffArrived
    | StaffLeft
    | AlertCleared
    | DeviceIdentified
    | DeviceParameterRead
    | DeviceServiced
    | WheelReconciled
    | WheelDifference
    | WheelUnreconciled
    | DeviceState
    | DeviceCommanded
    | DataLate
    | ClockStepped
    | JournalRestored
)
