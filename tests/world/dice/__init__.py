"""Tables of craps: dice that are thrown under a reader, the croupiers, and what must hold."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tests.world.client import Client
from tests.world.device import PORTS
from tests.world.dice.checkers import DiceTruth
from tests.world.dice.croupier import DiceCroupier
from tests.world.dice.thrown import Dice, ThrownByHand, ThrownOften
from tests.world.lateness import Prompt
from tests.world.liveness import PlaysAgain

if TYPE_CHECKING:
    from tests.world.world import World

OWNERS = "north", "south"
"""The machines whose daemons have the tables."""
KINDS = (
    (
        ThrownOften,
        "GAL07",
        "table_head",
        'settings = { rounds = "dice", serials = "unwatched", shooter = "unwatched" }',
    ),
    (ThrownByHand, "ARA02", "croupier", ""),
)
"""How the dice of each table are thrown, its decree, who decides there what the decree does not
foresee, and its settings: the moving dice close the bets, or a person opens and closes them, names
the dice and reports the shooter.
"""
TABLE = """
[[table]]
id = "{table}"
game = "craps"
decree = "{decree}"
{settings}

[[table.device]]
id = "dice"
driver = "dice-board"
link = "tcp://{table}:1"
"""


def join(world: World) -> None:
    """Add a table of each kind."""
    random = Random(f"dice {world.seed}")
    client = Client(world.sockets, "boxmen", (), lambda _: None)
    readers: dict[str, Dice] = {}
    for number, (thrown, decree, decider, settings) in enumerate(KINDS, 1):
        table, seed = f"dice-{number}", random.getrandbits(32)
        readers[table] = PORTS[table] = Dice(world.loop, table, thrown(seed), seed)
        world.tables[table] = TABLE.format(table=table, decree=decree, settings=settings)
        DiceCroupier(world, client, table, readers[table], decider, Random(random.getrandbits(32)))
    ports = {(table, "dice"): reader for table, reader in readers.items()}
    world.checkers += [
        DiceTruth(world, readers, OWNERS),
        Prompt(ports, OWNERS),
        PlaysAgain(lambda: [*readers], world.calm),
    ]
