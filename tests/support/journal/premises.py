"""A table, its wheel and its journal without a daemon around them: play is stored as a daemon
stores it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common.chain.schema import Entry, new_boot
from common.confidential.boxes import CardCipher
from common.contract.commands import SessionOpen
from common.contract.node import Checkpoint
from common.contract.retained import About, Alert
from controller.configuration.settings import Configuration, DeviceConfig, SiteConfig, TableConfig
from controller.configuration.settings import JournalConfig as JournalSettings
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.journal.reader import JournalReader
from controller.proof.journal_upkeep import JournalUpkeep
from controller.tables.runner import TableRunner, last_state
from controller.tables.table import Table as LiveTable
from devices.calls import AnyCall, BytesReceived, LinkClosed, LinkOpened, apply_call, changes_watch
from devices.drivers import driver as find_driver
from devices.watch import Watch


class Premises:
    """One run of one table, at its own clock; of a roulette table, unless another game and its
    device are named.
    """

    def __init__(
        self,
        path: Path,
        at: float = 100.0,
        game: str = "roulette-french",
        driver: str = "cammegh-ss2",
        cipher: CardCipher | None = None,
        read_back_every: float = 21_600.0,
        keep_days: int = 30,
    ) -> None:
        self.now = at
        self.game, self.driver, self.cipher = game, driver, cipher
        device = DeviceConfig(id="wheel", driver=driver, link="tcp://127.0.0.1:1")
        table = TableConfig(id="r1", game=game, decree="ARA02", device=(device,))
        self.alerts: dict[str, Alert] = {}
        self.boot = new_boot()
        self.journal = Journal(path)
        journal = JournalSettings(
            path=str(path), read_back_every=read_back_every, keep_days=keep_days
        )
        settings = Configuration(site=SiteConfig(id="palma"), table=(table,), journal=journal)
        self.upkeep = JournalUpkeep(
            configuration=settings,
            run=self.boot,
            journal=self.journal,
            alerts=self.alerts,
            changed=lambda: None,
        )
        self.runner = TableRunner(self._table, self.journal, lambda: self.now, lambda: None, cipher)
        found = find_driver(driver)
        self.watch = Watch(found.make("wheel", found.options()), "wheel", 5.0)
        self.handle(LinkOpened(self.now))

    def _table(self) -> LiveTable:
        return LiveTable(
            site="palma",
            id="r1",
            game_id=self.game,
            decree="ARA02",
            game=make_game(self.game, "ARA02", {}),
            boot=self.boot,
            saved=last_state(self.journal, "r1", self.cipher),
            about=About(devices={"wheel": self.driver}, software="other"),
        )

    def handle(self, call: AnyCall) -> None:
        """Step an input as the supervisor of a device does it."""
        if changes_watch(self.watch, call):
            self.runner.on_bytes("wheel", call)
            self.runner.on_readings(apply_call(self.watch, call))

    def receive(self, *lines: bytes) -> None:
        """Lines of the wheel, half a second apart."""
        for line in lines:
            self.now += 0.5
            self.handle(BytesReceived(self.now, line + b"\r\n"))

    def silence(self, seconds: float) -> None:
        self.now += seconds
        self.handle(BytesReceived(self.now, b""))

    def lose(self, reason: str) -> None:
        self.handle(LinkClosed(self.now, reason))

    async def open(self) -> None:
        await self.runner.execute(SessionOpen(at=self.now, by="M. Lasa", role="table_head"))

    def spin(self, count: int, number: int, before: int | None = None) -> None:
        shown = "  " if before is None else f"{before:2d}"
        turn = count % 2
        self.receive(
            *(f"*X;{state};{count:03d};{shown};0;165;{turn}".encode() for state in (2, 2, 3, 3, 4))
        )
        self.receive(*(f"*X;5;{count:03d};{number:2d};0;165;{turn}".encode() for _ in range(3)))

    async def end(self) -> Checkpoint:
        """A clean stop. Returns the last checkpoint."""
        self.runner.flush()
        await self.runner.drain()
        await asyncio.to_thread(self.journal.close)
        return self.upkeep.checkpoint()


async def evening(path: Path) -> Checkpoint:
    """Two runs with three results, a silence and a lost link."""
    first = Premises(path)
    first.receive(*[b"*X;6;001;  ;0;000;0"] * 4)
    await first.open()
    first.spin(2, 17)
    first.spin(3, 32, 17)
    first.silence(7.0)
    await first.end()
    second = Premises(path, at=5.0)
    second.receive(*[b"*X;6;003;32;0;000;0"] * 4)
    second.spin(4, 0, 32)
    second.lose("unplugged")
    return await second.end()


def entries(path: Path) -> list[Entry]:
    with reading(path) as reader:
        return list(reader.entries())


@contextmanager
def reading(path: Path) -> Iterator[JournalReader]:
    reader = JournalReader(path)
    try:
        yield reader
    finally:
        reader.close()
