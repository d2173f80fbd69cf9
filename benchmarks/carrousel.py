"""Time from a coin at the broker to the ledger and the meter: the jackpot controller, compared with
a subscriber that only counts.

The coins of twenty tables are published as a daemon does. A burst measures how many coins a second
of CPU handles; then coins are sent at a steady rate, and each is awaited on the retained topic
``state``. Both programs receive the same coins, so that a disturbance of the machine affects both.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from benchmarks.figures import milliseconds, row
from benchmarks.processes import mosquitto, running
from benchmarks.subscriber import Subscriber
from benchmarks.usage import cpu
from common.contract.times import format_utc
from tests.support.brokers.mosquitto import free_port

ROOT = "novamas/v1/bench"
TABLES = [f"poker-{number}" for number in range(1, 21)]
BOOT, NODE = "b1", "node-1"
STATE = f"{ROOT}/jackpot/linked/state"
COUNTER_STATE = f"{ROOT}/jackpot/counted/state"
COIN = 100
COINS_PER_ROUND = 60
"""Coins of a round at one table."""
MAX_PENDING_COINS = 2000
"""Coins of a burst that may be pending at the broker."""


class CoinTables:
    """Twenty tables, published as their daemon does."""

    def __init__(self, broker: int) -> None:
        self._seqs = dict.fromkeys(TABLES, 0)
        self._published = dict.fromkeys(TABLES, 0)
        self._journals: dict[str, list[bytes]] = {table: [] for table in TABLES}
        self.coins = 0
        self.client = paho.Client(CallbackAPIVersion.VERSION2)
        self.client.max_inflight_messages_set(0)
        self.client.on_message = self._on_recall
        self.client.connect("127.0.0.1", broker)
        self.client.subscribe(f"{ROOT}/+/command/recall", 1)
        self.client.loop_start()
        self._retain(f"node/{NODE}/status", {"status": "online", "boot": BOOT})
        for table in TABLES:
            self.retain(table)

    def retain(self, table: str) -> None:
        """Publish the retained topics of a table."""
        head = {"table": table, "game": "poker-no-draw", "decree": "ARA02", "boot": BOOT}
        state = {
            "seq": self._seqs[table],
            "time": format_utc(time.time()),
            "shown": {"currency": "EUR"},
        }
        self._retain(f"{table}/info", {**head, "about": {"jackpot": "linked"}})
        self._retain(f"{table}/state", {**head, **state})

    def coin(self, number: int) -> None:
        """Publish the next coin, at the tables in turn."""
        table = TABLES[number % len(TABLES)]
        count = self._published[table] = self._published[table] + 1
        turn, of_round = divmod(count - 1, COINS_PER_ROUND)
        bet = {
            "who": f"box:{1 + of_round % 6}",
            "bet": "jackpot",
            "amount": COIN * (1 + of_round // 6),
        }
        self._event(table, "bet.placed", turn + 1, bet)
        self.coins += 1
        if of_round == COINS_PER_ROUND - 1:
            stake = {"amount": COIN * COINS_PER_ROUND, "slots": COIN * COINS_PER_ROUND}
            self._event(table, "jackpot.staked", turn + 1, stake)

    def close(self) -> None:
        """Disconnect."""
        self.client.disconnect()
        self.client.loop_stop()

    def _event(self, table: str, kind: str, number: int, fields: dict[str, Any]) -> None:
        seq = self._seqs[table] = self._seqs[table] + 1
        body = {
            "type": kind,
            **fields,
            "site": "bench",
            "table": table,
            "game": "poker-no-draw",
            "decree": "ARA02",
            "boot": BOOT,
            "seq": seq,
            "time": format_utc(time.time()),
            "mono_ns": time.monotonic_ns(),
            "session": 1,
            "round": number,
        }
        payload = json.dumps(body, separators=(",", ":")).encode()
        self._journals[table].append(payload)
        self.client.publish(f"{ROOT}/{table}/event", payload, 1)

    def _retain(self, topic: str, body: Any) -> None:
        self.client.publish(f"{ROOT}/{topic}", json.dumps(body), 1, retain=True)

    def _on_recall(self, _client: Any, _data: Any, message: paho.MQTTMessage) -> None:
        request = json.loads(message.payload)
        table = message.topic.removeprefix(f"{ROOT}/").partition("/")[0]
        events = self._journals[table][request["from"] - 1 :][:100]
        joined = b",".join(event[:-1] + b',"historical":true}' for event in events)
        reply = json.dumps({"id": request["id"], "ok": True}).encode()[:-1]
        topic = f"{ROOT}/{table}/reply/{request['client']}"
        self.client.publish(topic, reply + b',"events":[' + joined + b"]}", 1)


class MeterHistory:
    """History of a retained meter: when it reached which number of coins."""

    def __init__(self) -> None:
        self.coins: list[int] = []
        self.times: list[float] = []

    def add(self, coins: int, now: float) -> None:
        """Record that the meter includes ``coins`` since ``now``."""
        self.coins.append(coins)
        self.times.append(now)

    @property
    def now(self) -> int:
        """Number of coins that the meter includes now."""
        return self.coins[-1] if self.coins else 0

    def after(self, coin: int) -> float:
        """Return when the meter included this coin."""
        return self.times[bisect_right(self.coins, coin)]


def main(coins: int, rate: int, seconds: float) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="novamas-bench-") as name, ExitStack() as ending:
        folder, broker = Path(name), free_port()
        ending.enter_context(mosquitto(folder, broker))
        tables = CoinTables(broker)
        ending.callback(tables.close)
        pids = [
            ending.enter_context(running(*command, stderr=subprocess.DEVNULL)).pid
            for command in programs(folder, broker)
        ]
        meters = {STATE: MeterHistory(), COUNTER_STATE: MeterHistory()}
        state: dict[str, Any] = {}

        def on_message(topic: str, body: bytes, now: float) -> None:
            values = json.loads(body)
            if topic == STATE:
                state.update(values)
            meters[topic].add(values["value"] // (COIN if topic == STATE else 1), now)

        listening = ending.enter_context(Subscriber(broker, [STATE, COUNTER_STATE], on_message))
        listening.wait(
            "all tables are in play",
            lambda: (
                bool(meters[COUNTER_STATE].coins)
                and len(state.get("tables", ())) == len(TABLES)
                and all(table["in_play"] for table in state["tables"].values())
            ),
            120.0,
        )
        for line in burst(coins, tables, listening, meters, pids):
            print(line, flush=True)
        for line in steady(rate, seconds, tables, listening, meters):
            print(line, flush=True)


def programs(folder: Path, broker: int) -> Iterator[list[str]]:
    """Yield the commands of the controller and of the counting subscriber."""
    terms = {
        "jackpot": "linked",
        "decree": "ARA02",
        "games": ["poker-no-draw"],
        "currency": "EUR",
        "authorisation": {
            "number": "1",
            "date": "2026-01-15",
            "authority": "Juego",
            "percentage": [1, 1],
            "tables": TABLES,
        },
    }
    settings = {
        "site": "bench",
        "broker": {"url": f"mqtt://127.0.0.1:{broker}"},
        "node": "carrousel",
        "ledger": str(folder / "ledger.sqlite3"),
        "jackpots": [{"terms": terms}],
    }
    yield [sys.executable, "-m", "subscribers.carrousel", "--settings", json.dumps(settings)]
    yield [sys.executable, "-m", "benchmarks.coin_counter", str(broker), ROOT, COUNTER_STATE]


def burst(
    coins: int,
    tables: CoinTables,
    listening: Subscriber,
    meters: dict[str, MeterHistory],
    pids: list[int],
) -> Iterator[str]:
    """Send coins as fast as the slower program handles them; yield the CPU time of each."""
    before, start = [cpu(pid) for pid in pids], time.monotonic()
    for number in range(coins):
        tables.coin(number)
        if number % 100 == 0:
            listening.wait("a burst", partial(_within, MAX_PENDING_COINS, tables, meters), 120.0)
    listening.wait(
        "all coins", lambda: all(meter.now == tables.coins for meter in meters.values()), 120.0
    )
    elapsed = time.monotonic() - start
    spent = [cpu(pid) - was for pid, was in zip(pids, before, strict=True)]
    yield f"\nA burst of {coins:,} coins in {elapsed:.1f} s, {coins / elapsed:,.0f} a second\n"
    yield row("", "CPU s", "µs/coin", "coins/CPU s", width=12)
    for name, program_spent in zip(("counting", "novamas"), reversed(spent), strict=True):
        yield row(
            name, program_spent, program_spent / coins * 1e6, round(coins / program_spent), width=12
        )
    yield row("ratio", spent[0] / spent[1], width=12)


def _within(coins: int, tables: CoinTables, meters: dict[str, MeterHistory]) -> bool:
    """True if at most this many coins are missing from both meters."""
    return min(meter.now for meter in meters.values()) >= tables.coins - coins


def steady(
    rate: int,
    seconds: float,
    tables: CoinTables,
    listening: Subscriber,
    meters: dict[str, MeterHistory],
) -> Iterator[str]:
    """Measure from just before a coin is published to the retained state that includes it."""
    first, start = tables.coins, time.monotonic()
    sent: list[float] = []
    for number in range(round(rate * seconds)):
        time.sleep(max(0.0, start + number / rate - time.monotonic()))
        sent.append(time.monotonic())
        tables.coin(first + number)
    listening.wait(
        "all coins", lambda: all(meter.now == tables.coins for meter in meters.values()), 60.0
    )
    figures = {
        topic: milliseconds([meter.after(first + n) - at for n, at in enumerate(sent)])
        for topic, meter in meters.items()
    }
    yield f"\n{len(sent):,} coins, {rate} a second: ms from the coin to the retained state\n"
    yield row("", "p50", "p99", "max")
    yield row("counting", *figures[COUNTER_STATE])
    yield row("novamas", *figures[STATE])
    yield row(
        "ratio", *(a / b for a, b in zip(figures[STATE], figures[COUNTER_STATE], strict=True))
    )
