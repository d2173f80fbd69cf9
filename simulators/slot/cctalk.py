"""Simulated ccTalk acceptors of a table's boxes on one bus: the host's bytes are echoed, and one
acceptor answers.

Before each round each player may insert a coin, as at :class:`simulators.slot.slot.Slots`. An
acceptor accepts coins only if its host has allowed them and has polled it within the last second.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from itertools import count

from common.randomness import Random
from devices.slot import cctalk_frames as frames
from devices.slot.cctalk_counter import BUFFERED_EVENTS, COUNTER_VALUES, NO_EVENT, Event
from simulators.device import Timed

FIRST_ADDRESS = 2
"""Address of the first acceptor; the others follow."""
REACTION_SECONDS = 0.003
"""Time from the end of a request to the answer."""
POLL_WATCHDOG_SECONDS = 1.0
"""An acceptor that was not polled for longer than this accepts no coins."""
FIRST_COIN_SECONDS = 12.0
"""Time from power-on to the first coin: a host must set up every acceptor first."""
AMOUNTS = (5, 10, 20, 50, 100, 200)
"""Amounts of the coins at the first positions, in cents."""
OTHER_AMOUNT_POSITION = 7
"""Position of a coin of any other amount."""
INHIBITED, HELD, LEVER = 2, 14, 254
"""Error codes."""


class SimulatedAcceptor:
    """One acceptor. ``taken``: amounts of the coins that it has accepted since it was created; a
    reset does not clear them.
    """

    def __init__(self, address: int, names: dict[int, str]) -> None:
        self.address, self.names = address, names
        self.taken: list[int] = []
        self.dead_until = self.held_until = -1.0
        self._last_request_at = -POLL_WATCHDOG_SECONDS
        self.reset()

    def reset(self) -> None:
        """Set the state after power-on: counter 0, no coin allowed."""
        self.counter = 0
        self.events: deque[Event] = deque([NO_EVENT] * BUFFERED_EVENTS, BUFFERED_EVENTS)
        self.inhibits = b"\x00\x00"
        self.enabled = False

    def add_event(self, event: Event) -> None:
        """Count and store an event; the oldest is lost."""
        self.counter = self.counter % COUNTER_VALUES + 1
        self.events.appendleft(event)

    def insert(self, position: int, amount: int, now: float) -> None:
        """Insert a coin. It is returned unless it is allowed."""
        if (
            now < self.dead_until
            or now < self.held_until
            or now - self._last_request_at > POLL_WATCHDOG_SECONDS
        ):
            return
        allowed = int.from_bytes(self.inhibits, "little") >> position - 1 & 1
        if self.enabled and allowed:
            self.taken.append(amount)
            self.add_event((position, 1))
        else:
            self.add_event((0, INHIBITED))

    def answer(self, header: int, data: bytes, now: float) -> bytes | None:
        """Return the data of the answer; None: no answer."""
        if now < self.dead_until:
            return None
        if header == frames.READ_CREDITS:
            self._last_request_at = now
            return bytes((self.counter, *(part for event in self.events for part in event)))
        if header == frames.MODIFY_INHIBITS:
            self.inhibits = data
        elif header == frames.MODIFY_MASTER_INHIBIT:
            self.enabled = data == b"\x01"
        elif header == frames.REQUEST_INHIBITS:
            return self.inhibits
        elif header == frames.COIN_ID:
            return self.names.get(data[0], "......").encode()
        elif header in IDENTITY:
            return IDENTITY[header]
        return b""


IDENTITY = {
    frames.CATEGORY: b"Coin Acceptor",
    frames.MANUFACTURER: b"Simulated",
    frames.PRODUCT: b"SIM-6",
}
"""Texts of its identity."""


class SimulatedCcTalkBus:
    """A bus of acceptors. ``boxes``: number of boxes with an acceptor; ``coin``: value of a coin in
    cents; ``crc``: use the CRC instead of the simple checksum.
    """

    baud = 9600

    def __init__(
        self,
        seed: int = 0,
        games_per_hour: int = 60,
        boxes: int = 3,
        coin: int = 500,
        crc: bool = False,
    ) -> None:
        self.rounds = 0
        self.coin, self.crc = coin, crc
        self._random = Random(seed)
        self._pause = 3600 / games_per_hour
        amounts = dict(enumerate(AMOUNTS, 1))
        if coin not in AMOUNTS:
            amounts[OTHER_AMOUNT_POSITION] = coin
        self.position = next(at for at, amount in amounts.items() if amount == coin)
        names = {at: f"EU{amount:03}A" for at, amount in amounts.items() if amount < 1000}
        self.acceptors = [
            SimulatedAcceptor(FIRST_ADDRESS + index, dict(names)) for index in range(boxes)
        ]
        self._coins = self._plan(FIRST_COIN_SECONDS)
        self._received = b""
        self._sent: list[tuple[float, int, bytes]] = []
        self._order = count()
        self._silent_until = -1.0
        self._collides = 0
        self._dropped = 0

    @property
    def deadline(self) -> float:
        """When the next coin or bytes on the line are due."""
        return min(self._coins[0][0], self._sent[0][0] if self._sent else float("inf"))

    def advance(self, now: float) -> list[Timed]:
        """Advance the time to ``now``; return the bytes on the line."""
        self._insert_due_coins(now)
        sent: list[Timed] = []
        while self._sent and self._sent[0][0] <= now:
            at, _, data = heappop(self._sent)
            sent.append((at, data))
        return sent

    def receive(self, data: bytes, now: float) -> None:
        """Echo the host's bytes, and let the addressed acceptor answer."""
        self._insert_due_coins(now)
        self._received += data
        while len(self._received) >= frames.MIN_FRAME_BYTES:
            size = frames.MIN_FRAME_BYTES + self._received[1]
            if len(self._received) < size:
                return
            raw, self._received = self._received[:size], self._received[size:]
            self._on_request(raw, now)

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault of the first acceptor or the line, at once or at the next request."""
        acceptor = self.acceptors[0]
        if name == "no_echo":
            self._silent_until = now + value
        elif name == "collision":
            self._collides += 1
        elif name == "lost_answer":
            self._dropped += 1
        elif name == "counter_jump":
            for _ in range(int(value)):
                acceptor.taken.append(self.coin)
                acceptor.add_event((self.position, 1))
        elif name == "acceptor_reset":
            acceptor.reset()
            acceptor.dead_until = now + value
        elif name == "dead_acceptor":
            acceptor.dead_until = now + value
        elif name == "coin_held":
            acceptor.held_until = now + value
            acceptor.add_event((0, HELD))
        elif name == "coin_return":
            acceptor.add_event((0, LEVER))

    def _insert_due_coins(self, now: float) -> None:
        while self._coins[0][0] <= now:
            at, box = self._coins.popleft()
            if box < len(self.acceptors):
                self.acceptors[box].insert(self.position, self.coin, at)
            else:
                self.rounds += 1
                self._coins = self._plan(at + self._pause)

    def _on_request(self, raw: bytes, now: float) -> None:
        to, _, source, header = raw[:4]
        ends = now + len(raw) * 10 / self.baud
        if self._collides:
            self._collides -= 1
            # on the bus a 0 overrides a 1
            self._send(now, bytes((0, *(byte & self._random.randrange(256) for byte in raw[1:]))))
            return
        if now >= self._silent_until:
            self._send(now, raw)
        acceptor = next(
            (candidate for candidate in self.acceptors if candidate.address == to), None
        )
        if acceptor is None or raw != frames.write_frame(to, source, header, raw[4:-1], self.crc):
            return
        answer = acceptor.answer(header, raw[4:-1], now)
        if self._dropped:
            self._dropped -= 1
        elif answer is not None:
            whole = frames.write_frame(frames.HOST_ADDRESS, to, frames.ACK, answer, self.crc)
            self._send(ends + REACTION_SECONDS, whole)

    def _send(self, at: float, data: bytes) -> None:
        heappush(self._sent, (at, next(self._order), data))

    def _plan(self, begin: float) -> deque[tuple[float, int]]:
        """Plan the times of the coins in a round; the last entry is the end of the round."""
        coins: deque[tuple[float, int]] = deque()
        at = begin
        for box in range(len(self.acceptors)):
            at += self._random.uniform(0.5, 1.5)
            if self._random.random() < 0.8:
                coins.append((at, box))
        coins.append((at + 2.0, len(self.acceptors)))
        return coins
