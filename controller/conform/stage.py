"""The broker, the simulated tables, and everything that a tried program prints and sends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import aiomqtt
import msgspec

from common.broker.client import BrokerClient
from common.broker.failures import describe_error
from common.contract.node import NodeStatus
from common.contract.orders import Recall, UnreadableCommandError, read_order
from common.contract.topics import Topics
from common.errors import NovamasError
from common.randomness import Random
from controller.configuration.settings import BrokerConfig
from controller.conform.candidate import Candidate, Observation
from controller.conform.simulated_table import SimulatedTable, TableStep
from controller.conform.sniffer import MQTT_5, BrokerDoor, Published

SITE = "conform"
CLIENT = "candidate"
TOPICS = Topics(SITE, simulated=True)
PAGE_EVENTS = 100
"""Maximum events of one answer to a recall."""


class ProgramEndedError(NovamasError):
    """The program has ended in the middle of a scenario."""


class StoppedError(NovamasError):
    """The scenario cannot continue; what failed was noted."""


class Stage:
    """``patience``: seconds to wait for a line of the program."""

    def __init__(
        self, broker: BrokerConfig, command: Sequence[str], seed: int, patience: float
    ) -> None:
        self.problems: dict[str, list[str]] = {}
        """What went wrong, by requirement."""
        self.recalls: list[tuple[str, Recall]] = []
        """The valid recalls of the program, each with its table."""
        self.tried: list[str] = []
        """The scenarios that were played."""
        self.refuse_recalls = False
        self.page_events = PAGE_EVENTS
        self.random = Random(seed)
        self.patience = patience
        self._command, self._broker = command, broker
        self._tables: dict[str, SimulatedTable] = {}
        self._lines: list[Observation] = []
        self._retained: set[str] = set()
        self._changed = asyncio.Event()
        self._orders: asyncio.Queue[Published] = asyncio.Queue()
        address, _, port = broker.url.removeprefix("mqtt://").partition(":")
        self.door = BrokerDoor(address or "127.0.0.1", int(port or 1883), self._on_published)
        self._candidate: Candidate | None = None
        self._client: BrokerClient | None = None
        self._answering: asyncio.Task[None] | None = None
        self._starts = 0

    # The broker and the program

    async def open(self) -> None:
        """Connect to the broker. Raises :class:`StoppedError`."""
        v5 = self._broker.protocol == "5"
        protocol = aiomqtt.ProtocolVersion.V5 if v5 else aiomqtt.ProtocolVersion.V311
        self._client = BrokerClient(self._broker, protocol=protocol, timeout=10.0)
        try:
            await self._client.__aenter__()
        except aiomqtt.MqttError as error:
            self._client = None
            raise StoppedError(
                f"{self._broker.url}: {describe_error(error, self._broker)}"
            ) from None
        await self.door.start()
        self._answering = asyncio.create_task(self._answer())

    async def close(self) -> None:
        """End everything."""
        if self._candidate is not None:
            await self._candidate.close()
        if self._answering is not None:
            self._answering.cancel()
            await asyncio.gather(self._answering, return_exceptions=True)
            await self.door.close()
        if self._client is not None:
            with contextlib.suppress(aiomqtt.MqttError):
                await self.clear()
            with contextlib.suppress(aiomqtt.MqttError):
                await self._client.__aexit__(None, None, None)

    async def clear(self) -> None:
        """Clear everything retained: a program that could not read it could not start again."""
        for topic in sorted(self._retained):
            await self._publish(topic, b"", retain=True)
        self._retained.clear()

    async def start_program(self) -> None:
        """Start the program, again if it has ended, and wait until it has subscribed."""
        if self._candidate is not None:
            await self._candidate.close()
        self._starts += 1
        known = len(self.door.filters)
        self._candidate = Candidate(
            self._command,
            {
                "NOVAMAS_BROKER": f"mqtt://127.0.0.1:{self.door.port}",
                "NOVAMAS_ROOT": TOPICS.root,
                "NOVAMAS_CLIENT": CLIENT,
            },
            self._on_line,
            lambda problem: self.fail("SUB-LINES", problem),
        )
        await self._candidate.start()
        await self.until(
            lambda: len(self.door.filters) > known or self._unserved() is not None,
            4 * self.patience,
        )
        if len(self.door.filters) == known:
            quiet = (
                "it has connected, and subscribed to nothing"
                if self.door.level
                else "it has not connected to NOVAMAS_BROKER"
            )
            self.fail("SUB-START", self._unserved() or quiet)
            raise StoppedError("the program does not subscribe")

    def _unserved(self) -> str | None:
        """Return why no broker would serve the program."""
        if self.door.problem is not None:
            return f"what it sent is not MQTT: {self.door.problem}"
        if self.door.level == MQTT_5 and self._broker.protocol != "5":
            return "it speaks MQTT 5, and the broker of the trial does not: name another, --broker"
        return None

    @property
    def starts(self) -> int:
        """How often the program was started."""
        return self._starts

    # The lines and messages of the program

    def _on_line(self, line: Observation) -> None:
        self._lines.append(line)
        self._changed.set()

    def _on_published(self, message: Published) -> None:
        self._changed.set()
        if not message.topic.startswith(("novamas/", "novamas-sim/")):
            return
        table, _, leaf = message.topic.removeprefix(f"{TOPICS.root}/").partition("/")
        if leaf != "command/recall" or table not in self._tables:
            self.fail("SUB-WRITE", f"it published on {message.topic}")
            return
        if message.retain:
            self.fail("SUB-NOT-RETAINED", f"it published a retained message on {message.topic}")
        self._orders.put_nowait(message)

    def fail(self, requirement: str, problem: str) -> None:
        """Note that a requirement was not met."""
        problems = self.problems.setdefault(requirement, [])
        if len(problems) < 5:
            problems.append(problem)

    async def until(self, condition: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait for a condition that lines and messages of the program change. Raises
        :class:`ProgramEndedError` if the program has ended.
        """
        try:
            async with asyncio.timeout(self.patience if seconds is None else seconds):
                while not condition():
                    if self._candidate is not None and self._candidate.ended:
                        await self._candidate.read_rest()
                        raise ProgramEndedError(self._candidate.ended)
                    if self._candidate is not None and self._candidate.flooded:
                        raise StoppedError("the program floods its output")
                    self._changed.clear()
                    try:
                        async with asyncio.timeout(0.1):
                            await self._changed.wait()
                    except TimeoutError:
                        continue
        except TimeoutError:
            return condition()
        return True

    def rounds(self, table: SimulatedTable) -> list[Observation]:
        """Return the lines of the program about a table's rounds."""
        return [
            line for line in self._lines if line.table == table.name and line.status is not None
        ]

    def is_current(self, table: SimulatedTable) -> bool:
        """Return whether the program takes the table for current."""
        said = [line.current for line in self._lines if line.table == table.name]
        return next((each for each in reversed(said) if each is not None), False)

    def gaps(self, table: SimulatedTable) -> int:
        """Return how often the program reported a gap of a table."""
        return sum(line.table == table.name and line.gap is True for line in self._lines)

    # The messages of the daemon

    def table(self, name: str, *, boot: str | None = None) -> SimulatedTable:
        """Return a new table, the only one of its daemon."""
        made = SimulatedTable(
            SITE, name, f"node-{name}", boot or f"{self.random.getrandbits(32):08x}"
        )
        self._tables[name] = made
        return made

    async def status(self, table: SimulatedTable, *, online: bool, boot: str | None = None) -> None:
        """Publish the status of a table's daemon."""
        body = NodeStatus("online" if online else "offline", boot or table.boot)
        await self._publish(
            TOPICS.node(table.node, "status"), msgspec.json.encode(body), retain=True
        )

    async def publish(self, table: SimulatedTable, step: TableStep) -> None:
        """Publish events in their order, then the retained topics that changed."""
        for event in step.events:
            await self.event(table, event)
        for leaf, body in step.retained.items():
            await self._publish(TOPICS.table(table.name, leaf), body or b"", retain=True)

    async def event(self, table: SimulatedTable, event: dict[str, Any]) -> None:
        """Publish one event."""
        await self._publish(TOPICS.table(table.name, "event"), msgspec.json.encode(event))

    async def message(self, table: SimulatedTable, leaf: str, body: bytes, *, retain: bool) -> None:
        """Publish any message of a table."""
        await self._publish(TOPICS.table(table.name, leaf), body, retain=retain)

    async def _publish(self, topic: str, body: bytes, *, retain: bool = False) -> None:
        assert self._client is not None
        self._retained |= {topic} if retain and body else set()
        await self._client.publish(topic, body, qos=1, retain=retain)

    async def _answer(self) -> None:
        """Answer recalls, one after the other, as the daemon does."""
        while True:
            message = await self._orders.get()
            name = message.topic.removeprefix(f"{TOPICS.root}/").partition("/")[0]
            table = self._tables[name]
            try:
                sender, order = read_order("recall", message.payload, 0.0)
            except UnreadableCommandError as error:
                self.fail("SUB-RECALL", f"a recall of {name} is wrong: {error}")
                continue
            if sender.client is None or not isinstance(order, Recall):
                self.fail("SUB-RECALL", f"a recall of {name} names no client to answer")
                continue
            if sender.client != CLIENT:
                self.fail("SUB-RECALL", f"a recall names {sender.client}, not NOVAMAS_CLIENT")
            self.recalls.append((name, order))
            self._changed.set()
            reply: dict[str, Any] = {"id": sender.id, "ok": not self.refuse_recalls}
            if self.refuse_recalls:
                reply["error"] = "recall is not permitted"
            else:
                events = table.recalled(order.boot, order.first, order.to, onward=order.onward)
                reply["events"] = events[: min(order.limit, self.page_events)]
            await self._publish(
                TOPICS.reply(name, sender.client), msgspec.json.encode(reply), retain=False
            )
