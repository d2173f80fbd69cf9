"""How the jackpots join a world, and what they consist of."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import Context
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

from common import clock
from common.contract.topics import Topics
from common.people.register import to_base64url
from controller.cli.carrousel import carrousel_settings
from subscribers.carrousel.pair import run_in_pair
from subscribers.carrousel.service import JackpotController
from subscribers.carrousel.settings import CarrouselSettings
from tests.support.carrousel.floor import SITE_KEY, people
from tests.support.chaos.linked_daemon import Play
from tests.support.chaos.linked_floor import jackpot_section
from tests.world.broker.packets import Publish
from tests.world.carrousel.acceptor import Acceptor
from tests.world.carrousel.checkers import InPlay, Ledger
from tests.world.carrousel.disk import LedgerDisk, program_digest
from tests.world.carrousel.people import FIRST, LOOK_SECONDS, SECOND, SECOND_SECONDS, Payers
from tests.world.carrousel.table import STEP_SECONDS, Croupier
from tests.world.checkers import Checker
from tests.world.client import Client
from tests.world.device import PORTS
from tests.world.process import Machine
from tests.world.program import Program
from tests.world.sealing import seal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.world.world import World

SITE = "palma"
MACHINE = "cage"
"""The machine of the controller, by which the broker knows its connection."""
Tables = Mapping[str, Sequence[str]]
"""By decree, the tables of its jackpot."""
TABLES: Tables = {"BAL05": ("p1", "p2"), "ARA02": ("p3",)}
EUS96_TABLES: Tables = {"EUS96": ("p4", "p5")}
REPORTED = ("p2", "p5")
"""Tables at which the croupier reports the coins."""
HITS, COINS = 0.35, 3
"""Part of the rounds in which something is won, and the most coins of a box in a round."""
EUS96_COINS = 1
"""There the house fixes the one stake of a box."""
CLOCK_BOUND, KEEPALIVE = 0.1, 3.0
CLOCK_SECONDS = 60.0
"""How often the clocks are set."""
LAST_ROUND_SECONDS = 60.0
"""No round begins later than this after all faults have ended."""
CONFIGURATION = f"""[site]
id = "{SITE}"

[broker]
url = "mqtt://broker.world:1883"

[people]
file = "people"
key = "{to_base64url(SITE_KEY.verify_key.encode())}"
required = "accept-the-risk"

[carrousel]
path = "ledger/carrousel.sqlite3"
clock_bound = {CLOCK_BOUND}
keepalive = {KEEPALIVE}
"""


class ControllerProgram(Program):
    """The jackpot controller as a program of the world, with its ledger on ``disk``."""

    def __init__(self, world: World, name: str, machine: Machine, file: Path) -> None:
        ledger = file.parent / "ledger" / "carrousel.sqlite3"
        self.disk = LedgerDisk(world.loop, ledger, self.kill)
        self.file = file
        super().__init__(world.loop, name, machine, self._run_controller, world.note)

    async def _run_controller(self, stop: asyncio.Event) -> None:
        settings = msgspec.convert(carrousel_settings(self.file), CarrouselSettings)
        if settings.standby is not None:
            await run_in_pair(settings, stop, self.disk.open, program_digest)
            return
        await JackpotController(
            settings, open_ledger=self.disk.open, check_program=program_digest
        ).run(stop)


def join(world: World) -> None:
    """Add the tables, the controller and the people."""
    _join(world, TABLES, world.random)


def join_eus96(world: World) -> None:
    """The same with the jackpot of EUS96: five-card draw, with shares of the meter for more hands,
    and smaller ones for those made by discarding.
    """
    _join(world, EUS96_TABLES, Random(f"eus96 {world.seed}"))


def _join(world: World, tables: Tables, random: Random) -> None:
    controller = install(world, "carrousel", MACHINE, tables=tables)
    floor = Floor(world, tables, random)
    floor.check(Ledger([controller.disk], tables, floor.play, floor.payers))


def install(
    world: World, name: str, machine: str, standby: str = "", tables: Tables = TABLES
) -> ControllerProgram:
    """Add a controller on a machine of its own. ``standby``: the section of its pair."""
    folder = world.folder / machine
    folder.mkdir()
    file = folder / "novamas.toml"
    linked = [name for names in tables.values() for name in names]
    sections = "".join(jackpot_section(decree, names) for decree, names in tables.items())
    paired = "standby = true\n" if standby else ""
    elsewhere = f"elsewhere = {msgspec.json.encode(linked).decode()}\n{paired}\n"
    file.write_text(CONFIGURATION + elsewhere + standby + sections, encoding="utf-8")
    (folder / "people").write_bytes(people(site=SITE))
    controller = ControllerProgram(world, name, Machine(machine), file)
    world.programs.append(controller)
    return controller


class Floor:
    """The people at the tables and those who pay, and what is checked of their ledger."""

    def __init__(self, world: World, tables: Tables = TABLES, random: Random | None = None) -> None:
        self._world = world
        random = Random((random or world.random).getrandbits(32))
        topics = Topics(SITE)
        self.play = play = Play(
            seed=random.getrandbits(16),
            hits=HITS,
            coins={decree: EUS96_COINS if decree == "EUS96" else COINS for decree in tables},
        )
        acceptors = {
            name: Acceptor(world.loop, name, random.getrandbits(32))
            for names in tables.values()
            for name in names
        }
        PORTS.update(acceptors)
        self.croupiers = {
            name: Croupier(
                name,
                decree,
                play,
                None if name in REPORTED else acceptors[name],
                self._command,
                self._ends,
            )
            for decree, names in tables.items()
            for name in names
        }
        self.payers = Payers(
            topics,
            random,
            clock.wall,
            lambda topic, body: self._client.publish(topic, body),
        )
        for croupier in self.croupiers.values():
            world.tables[croupier.name] = croupier.section()
        seal(world)
        self._topics, self._commands = topics, 0
        leaves = ("+/state", "jackpot/+/state", "jackpot/+/reply/payers")
        received = tuple(f"{topics.root}/{leaf}" for leaf in leaves)
        self._client = Client(world.sockets, "payers", received, self._on_message)
        self._every(STEP_SECONDS, self._step)
        self._every(CLOCK_SECONDS, self._set_clocks)
        self._every(LOOK_SECONDS, self._look)

    def check(self, *checkers: Checker) -> None:
        """Add what must hold of the ledger, and that the jackpots are in play."""
        in_play = InPlay(self.payers, self.croupiers, self._world.calm, clock.wall)
        self._world.checkers += [*checkers, in_play]

    def _every(self, seconds: float, work: Any) -> None:
        def again() -> None:
            work()
            self._world.loop.call_later(seconds, again, context=Context())

        self._world.loop.call_later(seconds, again, context=Context())

    def _ends(self) -> bool:
        return self._world.loop.now > self._world.quiet_at + LAST_ROUND_SECONDS

    def _on_message(self, message: Publish) -> None:
        if "/reply/" in message.topic:
            self._world.note(f"answered   {message.topic} {message.payload.decode()}")
        elif "/jackpot/" in message.topic:
            self.payers.on_message(message)
        elif (croupier := self.croupiers.get(message.topic.split("/")[-2])) is not None:
            croupier.on_state(message.payload)

    def _set_clocks(self) -> None:
        """Set the clocks of all machines, as chrony does."""
        now = self._world.loop.now
        for program in self._world.programs:
            machine = program.machine
            ahead = machine.boottime(now) + machine.wall - now
            if abs(ahead) > CLOCK_BOUND / 2:
                machine.wall -= ahead

    def _step(self) -> None:
        for croupier in self.croupiers.values():
            croupier.step()

    def _command(self, table: str, name: str, fields: dict[str, Any]) -> None:
        self._commands += 1
        head = {"by": "M. Lasa", "role": "table_head", "client": "payers", "id": self._commands}
        self._world.note(f"croupier   {table} {name} {fields}")
        self._client.publish(self._topics.table(table, f"command/{name}"), {**head, **fields})

    def _look(self) -> None:
        for jackpot, command, fields in self.payers.look():
            self._world.note(f"payers     {jackpot} {command} {fields}")
            self.payers.sign(FIRST, jackpot, command, fields)
            second = partial(self.payers.sign, SECOND, jackpot, command, fields)
            self._world.loop.call_later(SECOND_SECONDS, second, context=Context())
