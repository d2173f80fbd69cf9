"""The demo's tables: each table's game, its one device, and the faults of that device."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from controller.contract.commands import Role
from controller.rulebooks.rulebook import rulebook

LATE, MUTE = 1.0, 10.0
"""Seconds a board's report may be late, and seconds a device may be silent. Both are real seconds
of this machine, not of the model.
"""


class DemoTable(msgspec.Struct, frozen=True, kw_only=True):
    """One table of the demo and its one device.

    ``kind`` and ``simulator``: arguments of the simulator; ``faults``: the device's faults, each
    with its time in seconds of the model; ``slips``: the croupier misreads a card in every round
    whose number is a multiple of this (0: never); ``more``: the rest of the device's and the
    table's configuration, in which :func:`places` fills in ``{late}``, ``{stale}`` and ``{dealt}``;
    ``role``: the role of the person who decides at this table.
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


_BOARD = """\
stale_after = {stale}
options = {{ late_after = {late} }}
"""

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
    # Void spins in the second and the sixth round.
    faults=("100:ball_with_rotor", "340:rotor_not_reversed"),
    more="stale_after = {stale} # the wheel is mute for four seconds when its power comes on",
)
BOULE = DemoTable(
    table="boule-1",
    game="boule",
    device="boule",
    kind="wheel",
    driver="boule-board",
    faults=("150:between_holes", "390:flicker", "630:ball_out", "1000:stuck_sensor=20"),
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
    faults=("160:weak_push", "400:turned_back", "640:on_pin"),
    more=BOULE.more,
)
CRAPS = DemoTable(
    table="dados-1",
    game="craps",
    device="dice",
    kind="dice",
    driver="dice-board",
    faults=("170:cocked", "410:die_missing", "900:cocked"),
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
    faults=("95:overdraw",),  # after the fourth coup
    more="""
[table.settings] # no keys: the first card opens a round, and the fourth has them turned
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
    simulator=("--boxes", "3", "--packet", "5"),
    faults=("180:jam", "420:count_wrong", "660:door_open", "1000:set_wrong"),
    slips=5,
    more=_BOARD
    + """
[table.settings]
dealt = "{dealt}"
boxes = 3
""",
)
THREE_CARDS = replace(
    POKER,
    table="poker-2",
    game="three-card-poker",
    device="shuffler-2",
    simulator=("--boxes", "3", "--packet", "3"),
    faults=("240:set_wrong", "480:jam", "720:count_wrong"),
    slips=7,
)

FLOOR = (ROULETTE, BOULE, FORTUNE, CRAPS, PUNTO, POKER, THREE_CARDS)
PAIR = (ROULETTE, PUNTO)


def places(decree: str, *, floor: bool, speed: float = 1.0, faults: bool = True) -> list[DemoTable]:
    """The demo's tables whose games the decree regulates, from the whole floor or from a roulette
    and a card table.

    If the decree has none of these games or is unknown, the result is one roulette: the daemon then
    says what is wrong.
    """
    asked = FLOOR if floor else PAIR
    books = [(place, _book(decree, place.game)) for place in asked]
    found = [_under(place, book, max(1.0, speed)) for place, book in books if book is not None]
    found = found or [_under(ROULETTE, _book("ARA02", ROULETTE.game), max(1.0, speed))]
    return found if faults else [replace(place, faults=(), slips=0) for place in found]


def _book(decree: str, game: str) -> Any:
    try:
        return getattr(rulebook(decree), game.replace("-", "_"))
    except KeyError:
        return None


def _under(place: DemoTable, book: Any, hurry: float) -> DemoTable:
    """Adapt a table to its decree: who declares a round void, which cards are in the shoe, and
    whether the shuffler or the croupier deals.
    """
    role: Role = "table_head" if "table_head" in book.void_by else "inspector"
    words: tuple[str, ...] = ()
    if place.kind == "shoe":
        words = ("--decks", str(book.shoe.decks), "--cut", str(book.shoe.behind))
    by_hand = place.kind == "shuffler" and "packets" not in book.exposed
    if by_hand:
        words = ("--no-packets",)
    more = place.more.format(
        late=LATE * hurry, stale=MUTE * hurry, dealt="singly" if by_hand else "packets"
    )
    return replace(place, role=role, simulator=(*place.simulator, *words), more=more)
