"""The demo's tables: each table's game, its device and that device's faults, and its coin slots if
it is linked to the jackpot.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from common.contract.commands import Role
from common.money import EURO, format_amount
from controller.demo.people import Stacked
from controller.rulebooks.chapters import chapter

BOXES, COIN = 3, 500
"""Boxes of a poker table, and the value of a coin in their slots, in minor units."""
MAX_DELAY_SECONDS, MAX_SILENCE_SECONDS = 1.0, 10.0
"""Maximum delay of a board's report and maximum silence of a device, in real seconds of this
machine.
"""

_BOARD = """\
stale_after = {stale}
options = {{ late_after = {late} }}
"""


class DemoTable(msgspec.Struct, frozen=True, kw_only=True):
    """One table of the demo and its device.

    ``kind`` and ``simulator``: arguments of the simulator; ``faults``: the device's faults, each
    with its time in seconds of the model, after three good rounds; ``slips``: the croupier misreads
    a card in every round whose number is a multiple of this (0: never); ``more``: the rest of the
    device's and the table's configuration, in which :func:`places` fills in ``{late}``,
    ``{stale}``, ``{dealt}`` and ``{jackpot}``; ``role``: the role of the person who decides at this
    table.

    ``slots``: the device id of its coin slots, None if the decree has no jackpot; ``slots_more``:
    the rest of their configuration. ``stacked``: the prepared deck that wins the jackpot. ``seed``:
    added to the demo's seed, so that similar devices differ.
    """

    table: str
    game: str
    device: str
    kind: str
    driver: str
    more: str
    baud: int = 115200
    simulator: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    slips: int = 0
    role: Role = "table_head"
    slots: str | None = None
    slots_more: str = _BOARD
    stacked: Stacked | None = None
    seed: int = 0

    @property
    def devices(self) -> tuple[str, ...]:
        """The ids of its devices."""
        return (self.device,) if self.slots is None else (self.device, self.slots)


ROULETTE = DemoTable(
    table="ruleta-1",
    game="roulette-french",
    device="wheel",
    kind="wheel",
    driver="cammegh-ss2",
    baud=9600,
    # Mode 2181: the wheel plays by itself, reverses the rotor, and leaves bets open until the next
    # spin.
    simulator=("--mode", "2181"),
    # Void spins after the third and the seventh round.
    faults=("250:ball_with_rotor", "490:rotor_not_reversed"),
    more="stale_after = {stale} # the wheel is silent for four seconds after power-up",
)
BOULE = DemoTable(
    table="boule-1",
    game="boule",
    device="boule",
    kind="wheel",
    driver="boule-board",
    faults=("250:between_holes", "490:flicker", "730:ball_out", "1000:stuck_sensor=20"),
    more=_BOARD
    + """
[table.settings] # no keys: bets open when the ball rests, and close when it is about to fall
phases = "device"
""",
)
FORTUNE = DemoTable(
    table="fortuna-1",
    game="fortune-wheel",
    device="fortune",
    kind="wheel",
    driver="fortune-board",
    faults=("260:weak_push", "500:turned_back", "740:on_pin"),
    more=BOULE.more,
)
CRAPS = DemoTable(
    table="dados-1",
    game="craps",
    device="dice",
    kind="dice",
    driver="dice-board",
    faults=("270:cocked", "510:die_missing", "900:cocked"),
    more=_BOARD
    + """
[table.settings] # bets open by themselves, and the moving dice close them
rounds = "dice"
""",
)
PUNTO = DemoTable(
    table="punto-1",
    game="punto-banca",
    device="shoe",
    kind="shoe",
    driver="angel-eye",
    baud=4800,
    simulator=("--games-per-hour", "120"),
    faults=("125:overdraw",),  # after the fourth coup
    more="""
options = {{ min_draw = 0 }} # no hand draws these cards

[table.settings] # no keys: the first card opens a round, and after the fourth they are turned
rounds = "shoe"
turn = "when_complete"
""".strip(),
)
POKER = DemoTable(
    table="poker-1",
    game="poker-no-draw",
    device="shuffler-1",
    kind="shuffler",
    driver="shuffler-board",
    simulator=("--boxes", str(BOXES), "--packet", "5"),
    faults=("240:jam", "460:count_wrong", "700:door_open", "1000:set_wrong"),
    slips=5,
    more=_BOARD
    + """
[table.settings]
dealt = "{dealt}"
boxes = {boxes}
{jackpot}""",
    slots="slots-1",
    stacked=Stacked(2, ("9s", "8s", "7s", "6s", "5s")),
)
SECOND_POKER = replace(
    POKER,
    table="poker-2",
    device="shuffler-2",
    faults=("300:door_open", "520:jam"),
    slips=0,
    slots="slots-2",
    stacked=Stacked(5, ("Ah", "Kh", "Qh", "Jh", "Th")),
    seed=1,
)
THREE_CARDS = replace(
    POKER,
    table="poker-3",
    game="three-card-poker",
    device="shuffler-3",
    simulator=("--boxes", str(BOXES), "--packet", "3"),
    faults=("240:set_wrong", "480:jam", "720:count_wrong"),
    slips=7,
    slots=None,
    stacked=None,
)

FLOOR_TABLES = (ROULETTE, BOULE, FORTUNE, CRAPS, PUNTO, POKER, SECOND_POKER, THREE_CARDS)
TWO_TABLES = (ROULETTE, PUNTO)


def places(decree: str, *, floor: bool, speed: float = 1.0, faults: bool = True) -> list[DemoTable]:
    """Return the demo's tables whose games the decree regulates: of the whole floor, or a roulette
    and a card table.

    If the decree is unknown or regulates no game of the demo, return one roulette: the daemon then
    reports the error.
    """
    wanted = FLOOR_TABLES if floor else TWO_TABLES
    books = [(place, _book(decree, place.game)) for place in wanted]
    adapted = [_adapt(place, book, max(1.0, speed)) for place, book in books if book is not None]
    adapted = adapted or [_adapt(ROULETTE, _book("ARA02", ROULETTE.game), max(1.0, speed))]
    return adapted if faults else [replace(place, faults=(), slips=0) for place in adapted]


def _book(decree: str, game: str) -> Any:
    try:
        return chapter(decree, game)
    except KeyError:
        return None


def _adapt(place: DemoTable, book: Any, speed_up: float) -> DemoTable:
    """Adapt a table to its decree: the role that voids rounds, the cards in the shoe, whether the
    shuffler or the croupier deals, and whether there is a jackpot.
    """
    role: Role = "table_head" if "table_head" in book.void_by else "inspector"
    words: tuple[str, ...] = ()
    if place.kind == "shoe":
        words = ("--decks", str(book.shoe.decks), "--cut", str(book.shoe.behind))
    slots = place.slots if getattr(book, "jackpot", None) else None
    by_hand = place.kind == "shuffler" and "packets" not in book.exposed
    if by_hand:
        words = ("--no-packets",)
    more = place.more.format(
        late=MAX_DELAY_SECONDS * speed_up,
        stale=MAX_SILENCE_SECONDS * speed_up,
        dealt="singly" if by_hand else "packets",
        boxes=BOXES,
        jackpot=f"jackpot_stake = {format_amount(COIN, EURO)}"
        if slots and book.jackpot.decided
        else "",
    )
    return replace(
        place,
        role=role,
        simulator=(*place.simulator, *words),
        more=more,
        slots=slots,
        slots_more=place.slots_more.format(
            late=MAX_DELAY_SECONDS * speed_up, stale=MAX_SILENCE_SECONDS * speed_up
        ),
    )
