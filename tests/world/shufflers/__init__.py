"""A shuffler beside the shoe of a table: it shuffles and checks the deck, the croupier puts it into
the shoe.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tests.world import cards
from tests.world.cards.croupier import Croupier, Shown
from tests.world.cards.shoes import HandBarcode
from tests.world.device import PORTS
from tests.world.sealing import seal
from tests.world.shufflers import play
from tests.world.shufflers.checkers import Shuffled
from tests.world.shufflers.shuffler import DeckShuffler, ShufflerAtTable

if TYPE_CHECKING:
    from tests.world.world import World

TABLE = """
[[table]]
id = "{table}"
game = "{kind.game}"
decree = "{kind.decree}"

[[table.device]]
id = "shuffler"
driver = "shuffler-board"
link = "tcp://{table}-shuffler:1"

[[table.device]]
id = "shoe"
driver = "{kind.driver}"
link = "tcp://{table}:1"
"""
TABLES = "deck-1", "deck-2"


def join(world: World) -> None:
    """Add two tables of poker against the bank, each with a shuffler and a shoe."""
    seal(world)
    random = Random(f"shufflers {world.seed}")
    shufflers: dict[str, ShufflerAtTable] = {}
    for table in TABLES:
        name, seed = f"{table}-shuffler", random.getrandbits(32)
        shufflers[table] = ShufflerAtTable(world.loop, name, DeckShuffler(seed), seed)
        PORTS[name] = shufflers[table]

    def act(croupier: Croupier, shown: Shown) -> None:
        play.poker(croupier, shown, shufflers[croupier.table])

    kind = cards.Kind("poker-no-draw", "BAL05", "barcode-serial", HandBarcode, act)
    cards.deal(world, dict.fromkeys(TABLES, kind), random, TABLE, "shuffler-croupiers")
    world.checkers.append(Shuffled(world, shufflers))
