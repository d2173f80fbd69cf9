"""Tables with cards: their shoes, the people who deal, and what must hold of their cards."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import structlog

from common.chain.schema import Record
from controller.journal.journal import Journal
from tests.world.broker.packets import Publish
from tests.world.cards import games
from tests.world.cards.checkers import Capture, Drawn, Hidden, Reckoned, drop
from tests.world.cards.croupier import Croupier, Shown
from tests.world.cards.shoes import HandAngelEye, HandBarcode, HandBeeTek, HandShoe, Shoe
from tests.world.cards.tabletop import Tabletop
from tests.world.client import Client
from tests.world.device import PORTS
from tests.world.sealing import SURVEILLANCE, seal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.world.world import World


class Kind(NamedTuple):
    """A kind of table: its game, its shoe, and how it is dealt. ``behind``: cards behind the cut
    card; ``seen``: see :class:`Tabletop`; ``profile``: the file that describes the shoe.
    """

    game: str
    decree: str
    driver: str
    shoe: type[HandShoe]
    play: Callable[[Croupier, Shown], None]
    behind: int = 0
    seen: bool = False
    profile: str = ""


KINDS = (
    Kind("punto-banca", "EUS96", "angel-eye", HandAngelEye, games.punto_banca, behind=16),
    Kind("blackjack", "BAL05", "bee-tek", HandBeeTek, games.blackjack, seen=True),
    Kind("poker-no-draw", "BAL05", "barcode-serial", HandBarcode, games.poker),
)
BY_PROFILE = KINDS[1]._replace(profile="line-shoe.toml")
"""The second table of every other seed: its shoe is described by a profile of the site."""

TABLE = """
[[table]]
id = "{table}"
game = "{kind.game}"
decree = "{kind.decree}"

[[table.device]]
id = "shoe"
driver = "{driver}"
link = "tcp://{table}:1"
{options}
"""


@contextmanager
def _logging(checker: Hidden, check: Callable[..., None]) -> Iterator[None]:
    """Let the checker see the log, beside those that see it already."""
    usual = structlog.get_config()
    seeing = [each for each in usual["processors"] if isinstance(each, Capture)]
    structlog.configure(
        processors=[*seeing, Capture(checker, check), drop],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=False,
    )
    try:
        yield
    finally:
        structlog.configure(**usual)


def _appending(checkers: tuple[Drawn, Hidden], check: Callable[..., None]) -> Any:
    """Return a :meth:`Journal.append` that lets the checkers see all that is to be stored."""
    append = Journal.append

    def appended(journal: Journal, *records: Record) -> asyncio.Future[int]:
        for checker in checkers:
            check(checker.on_records, records)
        return append(journal, *records)

    return appended


def join(world: World) -> None:
    """Add a table of each kind."""
    seal(world)
    kinds = {f"cards-{number}": kind for number, kind in enumerate(KINDS, 1)}
    if world.seed % 2 == 0:
        kinds["cards-2"] = BY_PROFILE
        world.profiles.append(Path(__file__).with_name(BY_PROFILE.profile))
    deal(world, kinds, world.random, TABLE, "croupiers")


def deal(
    world: World, kinds: Mapping[str, Kind], random: Random, section: str, name: str
) -> dict[str, Tabletop]:
    """Add tables with their shoes, croupiers and checkers. ``section``: their configuration;
    ``name``: of the client that sends the commands.
    """
    tops: dict[str, Tabletop] = {}
    for table, kind in kinds.items():
        seed = random.getrandbits(32)
        shoe = Shoe(world.loop, table, kind.driver, kind.shoe(seed, kind.behind), seed)
        PORTS[table] = shoe
        tops[table] = Tabletop(shoe, seen=kind.seen)
        world.tables[table] = section.format(
            table=table,
            kind=kind,
            driver="profile" if kind.profile else kind.driver,
            options=f'options = {{ file = "{kind.profile}" }}' if kind.profile else "",
        )
    croupiers: dict[str, Croupier] = {}

    def on_reply(message: Publish) -> None:
        if (croupier := croupiers.get(message.topic.split("/")[3])) is not None:
            croupier.on_reply(json.loads(message.payload))

    client = Client(world.sockets, name, ("novamas/v1/palma/+/reply/croupier",), on_reply)
    for table, kind in kinds.items():
        own = Random(random.getrandbits(32))
        croupiers[table] = Croupier(world, client, table, tops[table], kind.play, own)
    hidden = Hidden(tops, lambda: world.tables.keys() - world.wheels.keys() - tops.keys())
    world.stack.enter_context(_logging(hidden, world.check))
    drawn = Drawn(tops, SURVEILLANCE)
    reckoned = Reckoned(tops, {table: kind.game for table, kind in kinds.items()})
    appending = _appending((drawn, hidden), world.check)
    world.stack.enter_context(mock.patch.object(Journal, "append", appending))
    world.checkers += [drawn, hidden, reckoned]
    return tops
