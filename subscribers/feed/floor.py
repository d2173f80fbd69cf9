"""The current state of all tables and jackpots, and the streams that wait for their next change.

Changes are counted, not queued: a slow browser gets the latest picture of each changed table, never
a backlog. So it delays no other browser, and memory does not grow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

import msgspec

from common import clock, randomness
from common.contract.node import Checkpoint
from subscribers.feed.meter import Meter, on_alert, on_state, silence
from subscribers.feed.table_snapshot import Outdated, TableSnapshot, daemon_of, fold
from subscribers.feed.tables import ConnectionChange, FeedMessage

MessageListener = Callable[[str, str, bytes], None]
"""Called with each message: table, leaf, body."""


SILENCE_SECONDS = 75.0
"""Time without a message of a table or its daemon after which the table is not current. A daemon
publishes its health every 30 seconds.
"""
JACKPOT_PREFIX = "jackpot/"
"""Prefix of a jackpot's id among table ids, which contain no slash."""


class Floor:
    """The tables and jackpots of one server: id -> whether it is simulated. ``now``: the time as
    UTC, ISO 8601. ``run``: the id of this run of the server; the numbers of changes are its own.
    """

    def __init__(
        self,
        tables: Mapping[str, bool],
        now: Callable[[], str],
        jackpots: Mapping[str, bool] | None = None,
    ) -> None:
        self.now = now
        self.meters = {
            JACKPOT_PREFIX + jackpot: Meter(jackpot=jackpot, simulated=simulated)
            for jackpot, simulated in (jackpots or {}).items()
        }
        """``jackpot/<id>`` -> its meter."""
        self._last_checked = {name: (meter, True) for name, meter in self.meters.items()}
        """The meter of each jackpot at the last check, and whether it was silent."""
        self.run = randomness.token_hex(4)
        self.known = {
            table: TableSnapshot(table=table, simulated=simulated)
            for table, simulated in tables.items()
        }
        start = now()
        self._links = {simulated: Outdated("no_broker", start) for simulated in (False, True)}
        self._nodes: dict[tuple[bool, str], bytes] = {}
        """The status of each daemon. A daemon with real tables publishes it only there."""
        self._received_at: dict[tuple[bool, str], float] = {}
        """When the last message of a table or of ``node/<node>`` came, on the monotonic clock."""
        self._checkpoints: dict[str, bytes] = {}
        self.outdated: dict[str, Outdated | None] = dict.fromkeys(
            tables, Outdated("no_broker", start)
        )
        self.changed = dict.fromkeys((*tables, *self.meters), 0)
        """Table or jackpot -> the number of its last change."""
        self.change = 0
        self._next = asyncio.Event()
        self.listeners: list[MessageListener] = []

    def on_message(self, simulated: bool, message: FeedMessage | ConnectionChange) -> None:
        """Handle a message, or a change of the connection."""
        if isinstance(message, ConnectionChange):
            self._nodes = {at: body for at, body in self._nodes.items() if at[0] != simulated}
            self._links[simulated] = Outdated(
                "no_daemon" if message.up else "no_broker", self.now()
            )
            self.meters = {  # the broker sends open alerts again: they are retained
                name: msgspec.structs.replace(meter, alerts={})
                if meter.simulated == simulated
                else meter
                for name, meter in self.meters.items()
            }
            self._check_tables()
            return
        if message.table is None:
            prefix, node, leaf = (*message.path.split("/"), "", "")[:3]
            if prefix == "node":
                self._received_at[simulated, f"node/{node}"] = clock.monotonic()
            if prefix == "node" and leaf == "status":
                self._nodes[simulated, node] = message.body
                self._check_tables()
            elif prefix == "node" and leaf == "checkpoint":
                self._checkpoints[node] = message.body
            elif leaf == "state" and prefix + "/" == JACKPOT_PREFIX:
                self._on_meter(JACKPOT_PREFIX + node, simulated, message.body)
            elif leaf == "alert" and prefix + "/" == JACKPOT_PREFIX:
                alert = message.path.removeprefix(f"{JACKPOT_PREFIX}{node}/alert/")
                self._on_alert(JACKPOT_PREFIX + node, simulated, alert, message.body)
            return
        known = self.known.get(message.table)
        if known is None or known.simulated != simulated:
            return
        self._received_at[simulated, message.table] = clock.monotonic()
        for listener in self.listeners:
            listener(message.table, message.path, message.body)
        after = fold(known, message.path, message.body, self.now())
        if after != known:
            self.known[message.table] = after
            self._check_table(message.table)
            self._count(message.table)

    def _on_meter(self, name: str, simulated: bool, body: bytes) -> None:
        meter = self.meters.get(name)
        if meter is not None and meter.simulated == simulated:
            self.meters[name] = on_state(meter, body, self.now())

    def _on_alert(self, name: str, simulated: bool, alert: str, body: bytes) -> None:
        meter = self.meters.get(name)
        if meter is not None and meter.simulated == simulated:
            self.meters[name] = on_alert(meter, alert, body)

    def no_broker(self, simulated: bool) -> str | None:
        """Return since when the broker is disconnected, or None."""
        link = self._links[simulated]
        return link.since if link.why == "no_broker" else None

    def silent(self, name: str) -> bool:
        """Return whether a jackpot's data is outdated; this can change with time alone."""
        meter = self.meters[name]
        return silence(meter, self.no_broker(meter.simulated), self.now()) is not None

    def check_jackpots(self) -> None:
        """Count the changes of the jackpots since the last check. A meter rises with each coin;
        a few checks per second spare the browsers the values in between.
        """
        for name, meter in self.meters.items():
            current = meter, self.silent(name)
            if current != self._last_checked[name]:
                self._last_checked[name] = current
                self._count(name)

    def check_silence(self) -> None:
        """Look for tables of which nothing more comes, although their daemon is online by its
        status: a broker that was restarted has retained that, and publishes no will.
        """
        self._check_tables()

    @property
    def worlds(self) -> list[bool]:
        """False if there are real tables or jackpots, and True if there are simulated ones."""
        tables = {known.simulated for known in self.known.values()}
        return sorted(tables | {meter.simulated for meter in self.meters.values()})

    def connected(self, simulated: bool) -> bool:
        """Return whether the broker is connected."""
        return self._links[simulated].why != "no_broker"

    def checkpoint(self, table: str) -> Checkpoint | None:
        """Return the latest checkpoint of the table's daemon, or None."""
        known = self.known[table]
        node = daemon_of(known, self._nodes)
        try:
            return msgspec.json.decode(self._checkpoints.get(node or "", b""), type=Checkpoint)
        except (ValueError, RecursionError):
            return None

    def touch(self, table: str) -> None:
        """Count a change of a table's picture that no message caused."""
        self._count(table)

    def wake(self) -> None:
        """Wake all waiters, although nothing has changed."""
        self._next.set()
        self._next = asyncio.Event()

    async def wait(self, after: int, seconds: float) -> None:
        """Return once there is a change with a number above ``after``, or all waiters are woken, or
        after ``seconds``.
        """
        if self.change > after:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._next.wait()
        except TimeoutError:
            return

    def since(self, after: int, tables: Iterable[str]) -> list[str]:
        """Return which of these tables changed after the change with that number."""
        return [table for table in tables if self.changed.get(table, -1) > after]

    def _check_tables(self) -> None:
        for table in self.known:
            if self._check_table(table):
                self._count(table)

    def _check_table(self, table: str) -> bool:
        """Check whether the table is connected; return True if that changed. The time of the first
        loss does not change.
        """
        known, before = self.known[table], self.outdated[table]
        why = self._why(known)
        if (before.why if before else None) == (why.why if why else None):
            return False
        self.outdated[table] = why
        return True

    def _why(self, known: TableSnapshot) -> Outdated | None:
        link = self._links[known.simulated]
        if link.why == "no_broker" or not self._nodes:
            return link
        if known.unreadable:
            return Outdated("unreadable", min(known.unreadable.values()))
        if known.state is None:
            return Outdated("no_table", link.since)
        node = daemon_of(known, self._nodes)
        if node is None:
            return Outdated("daemon_offline", self.now())
        if self._silent_seconds(known, node) > SILENCE_SECONDS:
            return Outdated("daemon_silent", self.now())
        return None

    def _silent_seconds(self, known: TableSnapshot, node: str) -> float:
        names = known.table, f"node/{node}"
        latest = max(self._received_at.get((known.simulated, name), 0.0) for name in names)
        return clock.monotonic() - latest

    def _count(self, table: str) -> None:
        self.change += 1
        self.changed[table] = self.change
        self.wake()


def event_id(floor: Floor, change: int) -> str:
    """Return the id of the stream event for a change."""
    return f"{floor.run}-{change}"


def change_of(floor: Floor, last: str | None) -> int:
    """Return the change that a browser has reached, by its last event id; -1, before any change, if
    it has no id or one of another run of the server.
    """
    run, _, number = (last or "").partition("-")
    return int(number) if run == floor.run and number.isdecimal() and len(number) < 16 else -1
