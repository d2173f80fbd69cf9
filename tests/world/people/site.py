"""The people of a world with their machines."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import Context
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from common import clock
from tests.world.client import Client
from tests.world.people.actors import DISTURBING, Croupier, Director, Person
from tests.world.people.commands import Commands
from tests.world.people.console import Console
from tests.world.people.staff import CROUPIER, DIRECTOR, HEADS, STRANGER, Staff, put
from tests.world.process import Machine
from tests.world.program import Program

if TYPE_CHECKING:
    from tests.world.world import World

BROKER_URL = "mqtt://broker.world:1883"
SYNCHRONISE_SECONDS = 60.0
"""How long a clock may be wrong that a fault has set."""
FIRST_FILE_SECONDS = 0.5
"""When the machines get their first people file, before their programs start."""


class Site:
    """Everybody who may act in a world, the console, and what is known of their commands."""

    def __init__(self, world: World) -> None:
        random = Random(world.random.getrandbits(64))
        self.world, self.tables = world, list(world.tables)
        self.staff = Staff(random)
        self.stranger = self.staff.enrol(STRANGER).id
        self.staff.revoke(self.stranger, clock.wall() - 1000.0)
        folder = world.folder / "console"
        self.console = Console(
            folder, self.tables, BROKER_URL, self.staff.site_key, random.randbytes(32)
        )
        self.program = Program(
            world.loop, "console", Machine("console"), self.console.serve, world.note
        )
        self.commands = Commands(self)
        self.attacker = Client(world.sockets, "attacker", (), lambda _: None)
        self.actors: list[Person | Director] = [
            *(Person(self, post, Random(random.random())) for post in HEADS),
            *(Croupier(self, CROUPIER, Random(random.random()), table) for table in self.tables),
            Director(self, DIRECTOR, Random(random.random())),
        ]
        self.unsynchronised: list[Machine] = []
        """Machines whose clock stays wrong."""
        for actor in self.actors:
            self.appoint(actor)
        world.loop.call_later(FIRST_FILE_SECONDS, self._begin, context=Context())

    @property
    def daemons(self) -> list[Path]:
        """The folders of the machines with a daemon."""
        return [self.world.folder / node.program.name for node in self.world.nodes]

    def appoint(self, actor: Person | Director) -> None:
        """Somebody new takes over a post."""
        actor.id = self.staff.enrol(actor.post).id
        actor.leave()
        self.staff.seal(self.console.keys, actor.id, self.console.pepper)

    def publish_people(self, machines: Sequence[Path], random: Random | None = None) -> None:
        """Sign the next people file, and copy it to these machines, to each a bit later."""
        number = self.staff.sign(clock.wall())
        self.world.note(f"PEOPLE     {number}: {', '.join(each.name for each in machines)}")
        for machine in machines:
            delay = 0.0 if random is None else random.uniform(0.0, 2.0)
            self.world.loop.call_later(delay, self.put, machine, number, context=Context())

    def put(self, machine: Path, number: int) -> None:
        """Put a people file on a machine."""
        put(machine, self.staff.files[number], clock.wall())

    def avoided(self) -> tuple[str, ...]:
        """Return the commands that nobody gives now."""
        return DISTURBING if self.world.calm.seconds(self.world.loop.now) > 0 else ()

    def _synchronise(self) -> None:
        """Set the clocks of all machines right, as NTP does: else all commands are refused."""
        now = self.world.loop.now
        for machine in dict.fromkeys(program.machine for program in self.world.programs):
            if machine not in self.unsynchronised:
                machine.wall = now - machine.boottime(now)
        self.world.loop.call_later(SYNCHRONISE_SECONDS, self._synchronise, context=Context())

    def _begin(self) -> None:
        self._synchronise()
        self.publish_people([*self.daemons, self.console.folder])
        for actor in self.actors:
            actor.begin()
