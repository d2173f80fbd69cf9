"""The tables of the demo: the game of each, its one device, and the irregular things that the
device does.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from controller.contract.commands import Role
from controller.rulebooks.rulebook import rulebook

LATE, MUTE = 1.0, 10.0
"""Seconds by which what a board says may be late, and for which a device may say nothing. They are
this machine's own.
"""


class DemoTable(msgspec.Struct, frozen=True, kw_only=True):
    """One table of the demo and its one device. ``kind`` and ``simulator``: what the simulated
    device is told; ``faults``: in the model's seconds; ``slips``: in each so-many-th round the
    croupier misreads a card; ``more``: the rest of the device's and the table's configuration,
    where ``{late}``, ``{stale}`` and ``{dealt}`` stand for what :func:`places` finds; ``role``: of
    the person who decides there.
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
    # Mode 2181: plays by itself, reverses the rotor, and leaves bets open until the next spin.
    simulator=("--mode", "2181"),
    faults=(
        "100:ball_with_rotor",
        "340:rotor_not_reversed",
    ),  # void spins in the second and in the sixth round
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
    faults=("95:overdraw",),  # behind the fourth coup
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
    """The tables that the decree has: the whole floor, or a roulette and a card table.

    Of a decree that has none, or that there is not, a roulette: what is wrong there is the daemon's
    to say.
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
    """As the decree has it: who declares a round void, which cards are in the shoe, and who deals
    where a shuffler may not.
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
