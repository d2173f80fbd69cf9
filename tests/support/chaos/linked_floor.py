"""Twenty linked tables of three decrees on four daemons, the controller of their jackpots, a
broker, persons who pay, and a client that duplicates messages: each a separate program, or a client
of the broker.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import paho.mqtt.client as paho
from nacl.public import PrivateKey
from paho.mqtt.enums import CallbackAPIVersion

from common.contract.topics import level
from common.money import EURO, format_amount
from common.people.signed_command import Claims, sign
from tests.support.brokers import paho_client
from tests.support.brokers.engines import Engine
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.carrousel.floor import KEYS, PEOPLE, SITE, TOPICS, Controller
from tests.support.chaos.floor import Broker
from tests.support.chaos.linked_daemon import STAKE, Play
from tests.support.prepared import PreparedProgram
from tests.support.waiting import TIMEOUT_SECONDS, until

BOUND = 0.1
"""Seconds by which the clocks of the daemons may differ, as configured at the controller."""
ANSWER = 3.0
"""Seconds between two looks of the persons at their work list."""
SEEDS = {"BAL05": 50_000, "ARA02": 30_000, "EUS96": 1000 * STAKE}
"""Of one table."""
GAMES = {
    "BAL05": ("poker-no-draw", (9, 10), ""),
    "ARA02": ("poker-no-draw", (1, 1), ""),
    "EUS96": (
        "poker-draw-house",
        (83, 100),
        (
            f"settings = {{ jackpot_stake = {format_amount(STAKE, EURO)}, linked = true, "
            "discarded_jackpot = true }\n"
        ),
    ),
}
"""By decree: the game, what the meter rises by, and the settings of a table."""
KEY = bytes(PrivateKey.generate().public_key).hex()


class Pit:
    """A daemon: ``tests.support.chaos.linked_daemon``. ``broker``: the lines of that section;
    ``tables``: by id, the decree; ``standby``: the lines of that section, where it is one of a
    pair.
    """

    def __init__(
        self, folder: Path, name: str, broker: str, tables: dict[str, str], standby: str = ""
    ) -> None:
        folder.mkdir(parents=True)
        nobody = "tcp://127.0.0.1:{}" if standby else f"serial://{folder}/none-{{}}?baud=115200"
        self.name, self.tables = name, tables
        self.journal, self.play = folder / "journal.sqlite3", folder / "play.json"
        self._folder, self._log = folder, folder / "log"
        (folder / "novamas.toml").write_text(
            f'[site]\nid = "{SITE}"\nnode = "{name}"\n'
            f'[journal]\npath = "{self.journal}"\n[recordings]\nenabled = false\n'
            f"[broker]\n{broker}keepalive = 10\n"
            '[log]\nlevel = "error"\n'
            '[people]\nrequired = "accept-the-risk"\n'
            f'[surveillance]\npublic_key = "{KEY}"\n{standby}'
            + "".join(
                f'[[table]]\nid = "{table}"\ngame = "{GAMES[decree][0]}"\ndecree = "{decree}"\n'
                f'jackpot = "{decree.lower()}"\n{GAMES[decree][2]}'
                '[[table.device]]\nid = "slots"\ndriver = "slot-board"\n'
                f'link = "{nobody.format(number)}"\n'
                for number, (table, decree) in enumerate(tables.items(), 1)
            )
        )
        self.process: PreparedProgram | None = None

    def plays(self, play: Play) -> None:
        fresh = self.play.with_suffix(".new")
        fresh.write_bytes(msgspec.json.encode(play))
        fresh.replace(self.play)

    def start(self) -> None:
        arguments = [str(self.play), "run", str(self._folder / "novamas.toml")]
        with self._log.open("ab") as log:
            self.process = PreparedProgram(
                ["-m", "tests.support.chaos.linked_daemon", *arguments],
                stdout=log,
                stderr=log,
                environment={**os.environ, "STATE_DIRECTORY": str(self._folder)},
            )

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(TIMEOUT_SECONDS)
        self.process = None
        return code

    def log(self) -> str:
        return self._log.read_text()[-3000:] if self._log.exists() else ""


Nodes = Sequence[tuple[str, int]]
"""Host and port of each node of a broker."""


class Carrousel(Controller):
    """``novamas carrousel``. ``broker``: the lines of that section; ``jackpots``: those that follow
    the sections; ``keepalive``: seconds between two statements.
    """

    def __init__(
        self, folder: Path, broker: str, tables: Sequence[str], jackpots: str, keepalive: float
    ) -> None:
        super().__init__(folder, 0)
        self._file = folder / "novamas.toml"
        self._file.write_text(
            f'[site]\nid = "{SITE}"\n[broker]\n{broker}'
            f'[people]\nfile = "people"\nkey = "{self.given["people_key"]}"\n'
            'required = "accept-the-risk"\n'
            f'[carrousel]\npath = "{self.ledger}"\nclock_bound = {BOUND}\n'
            f"keepalive = {keepalive}\nelsewhere = {json.dumps([*tables])}\n{jackpots}"
        )

    @property
    def words(self) -> list[str]:
        """What starts it."""
        return [sys.executable, "-m", "controller.cli", "carrousel", str(self._file)]


class Client:
    """A client at the broker that comes back by itself, to the next node."""

    def __init__(self, nodes: Nodes, *topics: str) -> None:
        self._topics = topics
        self._nodes = cycle(nodes)
        self._ended = False
        self.client = paho.Client(CallbackAPIVersion.VERSION2)
        self.client.max_queued_messages_set(1000)
        self.client.on_connect = self._connected
        self.client.on_subscribe = self._granted
        self.client.on_message = lambda _c, _d, m: self.hear(m.topic, bytes(m.payload))
        self.client.reconnect_delay_set(1, 1)
        self.client.on_disconnect = self._next
        self.client.on_connect_fail = self._next
        self.client.connect(*next(self._nodes))
        self.client.loop_start()

    def _next(self, *_: Any) -> None:
        if not self._ended:
            self.client.connect_async(*next(self._nodes))

    def _connected(self, *_: Any) -> None:
        """A session that ends with its connection has nothing of QoS 1, and NATS refuses that while
        it elects.
        """
        self.client.subscribe([(topic, 0) for topic in self._topics])

    def _granted(self, _client: Any, _data: Any, _mid: int, codes: Any, _: Any) -> None:
        if any(code.is_failure for code in codes):
            later = threading.Timer(1.0, self._connected)
            later.daemon = True
            later.start()

    def hear(self, topic: str, body: bytes) -> None:
        """What to do with a message."""

    def close(self) -> None:
        self._ended = True
        paho_client.end(self.client)


class Parrot(Client):
    """Republishes some of the messages, at once or many seconds later, out of order."""

    def __init__(self, nodes: Nodes, seed: int, tables: list[str]) -> None:
        self._chance = Random(seed)
        self._timers: set[threading.Timer] = set()
        self.said: Counter[str] = Counter()
        self.on = True
        topics = [f"{TOPICS.root}/{table}/event" for table in tables]
        super().__init__(nodes, *topics, f"{TOPICS.root}/jackpot/+/command/+")

    def hear(self, topic: str, body: bytes) -> None:
        event = topic.endswith("/event")
        if self.on and self._chance.random() < (0.05 if event else 0.15):
            later = self._chance.choice(
                (0.0, self._chance.uniform(0, 2), self._chance.uniform(0, 20))
            )
            timer = threading.Timer(later, self._say, (topic, body, "event" if event else "order"))
            timer.daemon = True
            timer.start()

    def _say(self, topic: str, body: bytes, what: str) -> None:
        if self.on:
            self.client.publish(topic, body, 1)
            self.said[what] += 1


Key = tuple[str, int, int, str]
"""Table, session, round and box."""


class Persons(Client):
    """Two persons who put hits in order, decide and pay, as the statement of a jackpot asks."""

    FIRST, SECOND = "a-riera", "t-vidal"

    def __init__(self, nodes: Nodes) -> None:
        self.states: dict[str, dict[str, Any]] = {}
        self.replies: dict[str, dict[str, Any]] = {}
        self.awards: dict[tuple[str, int], dict[str, Any]] = {}
        self.receipts: Counter[tuple[str, int]] = Counter()
        self.orders: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self._ending = threading.Event()
        super().__init__(
            nodes, f"{TOPICS.root}/jackpot/+/state", f"{TOPICS.root}/jackpot/+/reply/persons"
        )
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def hear(self, topic: str, body: bytes) -> None:
        _, _, rest = topic.partition("/jackpot/")
        jackpot, _, leaf = rest.partition("/")
        if leaf == "state":
            self.states[jackpot] = state = json.loads(body)
            for award in (*state.get("awards", ()), *state.get("last", ())):
                self.awards[jackpot, award["award"]] = award
            return
        reply = json.loads(body)
        self.replies[reply["id"]] = reply
        if reply.get("receipt") is not None:
            self.receipts[jackpot, reply["receipt"]] += 1

    def close(self) -> None:
        self._ending.set()
        self._thread.join()
        super().close()

    @property
    def idle(self) -> bool:
        """Whether nothing waits for them, nor for tables."""
        return bool(self.states) and not any(
            state.get("awards") or state.get("asks") for state in self.states.values()
        )

    def _work(self) -> None:
        while not self._ending.wait(0.1):
            for jackpot, state in list(self.states.items()):
                self.give(jackpot, open_questions(state)[:6])

    def give(self, jackpot: str, orders: list[tuple[str, dict[str, Any]]]) -> None:
        """The first person gives them all, then the second; then they wait for the answers."""
        awaited = [
            self._sign(jackpot, who, command, fields)
            for who in (self.FIRST, self.SECOND)
            for command, fields in orders
        ]
        end = time.monotonic() + ANSWER
        while time.monotonic() < end and not all(each in self.replies for each in awaited):
            time.sleep(0.01)
        for (command, _), number in zip(orders, awaited[len(orders) :], strict=True):
            reply = self.replies.get(number)
            self.orders[command] += reply is not None and reply["ok"]
            if reply is not None and not reply["ok"]:
                self.refused[reply["error"][:90]] += 1
        if orders:
            time.sleep(0.05)  # the next statement is a later one

    def _sign(self, jackpot: str, who: str, command: str, fields: dict[str, Any]) -> str:
        number, now = secrets.token_urlsafe(18), int(time.time())
        claims = Claims(
            iss=who,
            aud=f"{TOPICS.root}/jackpot/{jackpot}",
            iat=now,
            exp=now + 60,
            jti=number,
            command=command,
            role=PEOPLE[who][0],
            fields=fields,
            client="persons",
        )
        topic = TOPICS.jackpot(jackpot, f"command/{level(command)}")
        self.client.publish(topic, sign(KEYS[who].encode(), claims), 1)
        return number


def open_questions(state: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """What persons have to order, as a statement asks: the commands with their fields."""
    awards = state.get("awards", ())
    if "hits.order" in state.get("asks", ()):
        return [("hits.order", {"hits": state["unordered"][0]})]
    due: list[tuple[str, dict[str, Any]]] = []
    for award in awards:
        number = award["award"]
        if award["status"] == "pending" and award.get("why") == "amount":
            if award["value"] is None:
                mates = [each for each in awards if each["hit"] == award["hit"]]
                shared = any(each["share"] is not None for each in mates)
                amount = decided(award["round"], award["box"], shared=shared)
                due.append(("award.decide", {"award": number, "amount": amount}))
        elif award["status"] == "payable":
            paid = award["paid"]
            left = award["value"] - paid
            half = number % 3 == 0 and not paid and left > 1
            if left:
                amount = left // 2 if half else left
                due.append(("award.pay", {"award": number, "amount": amount, "paid": paid}))
    return due


def decided(round: int, box: str, *, shared: bool) -> int:  # noqa: A002
    """Awards by persons where the decree is silent: nothing beside a hand that it regulates."""
    return 0 if shared else 1000 * int(box[4:]) + round % 97


def jackpot_section(decree: str, tables: Sequence[str]) -> str:
    """The configuration of the jackpot of these tables."""
    game, percentage, _ = GAMES[decree]
    return (
        f'[[jackpot]]\nid = "{decree.lower()}"\ndecree = "{decree}"\ngames = ["{game}"]\n'
        f'currency = "EUR"\nseed = {format_amount(SEEDS[decree] * len(tables), EURO)}\n'
        + (f"stake = {format_amount(STAKE, EURO)}\n" if decree == "EUS96" else "")
        + '[jackpot.authorisation]\nnumber = "7/2026"\ndate = "2026-01-15"\n'
        f'authority = "Juego"\npercentage = {[*percentage]}\ntables = {json.dumps(tables)}\n'
    )


class LinkedFloor:
    """All of it. ``spread``: how many tables of each decree a daemon has; ``pits``: how many of
    those there are; ``engine``: a broker that another has; ``keepalive``: of the controller.
    """

    def __init__(
        self,
        folder: Path,
        seed: int,
        spread: dict[str, int],
        play: Play,
        *,
        pits: int = 4,
        engine: Engine | None = None,
        keepalive: float = 3.0,
    ) -> None:
        self.folder, self.play = folder, play
        self.broker: Broker = engine or Mosquitto(
            folder / "mosquitto", "allow_anonymous true", "max_queued_messages 20000"
        )
        self._borrowed = engine is not None
        self.nodes: Nodes = [("127.0.0.1", self.broker.port)]
        lines = f'url = "mqtt://127.0.0.1:{self.broker.port}"\n'
        if engine is not None:
            self.nodes, lines = engine.nodes[::-1], f'url = "{engine.url}"\n{engine.settings}\n'
        self.pits = self._pits(spread, pits, lines)
        self.decrees = {
            decree: sorted(
                {table for pit in self.pits for table, of in pit.tables.items() if of == decree}
            )
            for decree in spread
        }
        every = [table for tables in self.decrees.values() for table in tables]
        terms = "".join(jackpot_section(decree, tables) for decree, tables in self.decrees.items())
        self.controller = self.make_controller(lines, every, terms, keepalive)
        self.persons: Persons | None = None
        self.parrot: Parrot | None = None
        self._seed = seed

    def make_controller(
        self, broker: str, tables: Sequence[str], jackpots: str, keepalive: float
    ) -> Controller:
        """The controller, not started. ``broker``: the lines of that section."""
        return Carrousel(self.folder / "carrousel", broker, tables, jackpots, keepalive)

    def _pits(self, spread: dict[str, int], many: int, broker: str) -> list[Pit]:
        """The daemons, not started. ``broker``: the lines of that section."""
        made = []
        for number in range(1, many + 1):
            tables = {
                f"{decree.lower()}-{number}-{n}": decree
                for decree, each in spread.items()
                for n in range(1, each + 1)
            }
            name = f"pit-{number}"
            made.append(Pit(self.folder / name, name, broker, tables))
        return made

    def start(self) -> None:
        """Everything is in play before the first bet."""
        if not self._borrowed:
            self.broker.start()
        self.plays(msgspec.structs.replace(self.play, on=False))
        self.controller.start()
        for pit in self.pits:
            pit.start()
        self.persons = Persons(self.nodes)
        first_tables = [next(iter(pit.tables)) for pit in self.pits]
        self.parrot = Parrot(self.nodes, self._seed, first_tables)
        self.until_in_play()
        self.plays(self.play)

    def plays(self, play: Play, ahead: dict[str, float] | None = None) -> None:
        """Play so from now on. ``ahead``: of which daemons the clock is how far ahead."""
        for pit in self.pits:
            pit.plays(msgspec.structs.replace(play, ahead=(ahead or {}).get(pit.name, 0.0)))

    def state(self, decree: str) -> dict[str, Any]:
        assert self.persons is not None
        return self.persons.states.get(decree.lower()) or {}

    def until_in_play(self, timeout: float = 600.0) -> None:
        """Wait until bets may be taken at every table."""

        def there() -> bool:
            return all(
                (state := self.state(decree)).get("in_play")
                and all(state["tables"][table]["in_play"] for table in tables)
                for decree, tables in self.decrees.items()
            )

        until("all tables are in play", there, self.diagnosis, timeout)

    def diagnosis(self) -> str:
        """For a person who wonders why a test failed."""
        states = {
            decree: {
                **{key: self.state(decree).get(key) for key in ("in_play", "why", "asks", "value")},
                "tables": {
                    t: v.get("why") for t, v in self.state(decree).get("tables", {}).items()
                },
                "awards": len(self.state(decree).get("awards", ())),
            }
            for decree in self.decrees
        }
        persons = self.persons
        return "\n".join(
            [
                json.dumps(states),
                "" if persons is None else f"{persons.orders} {persons.refused}",
                self.controller.log()[-3000:],
                *(pit.log() for pit in self.pits),
            ]
        )

    def close(self) -> None:
        for client in (self.parrot, self.persons):
            if client is not None:
                client.close()
        self.controller.kill()
        for pit in self.pits:
            pit.kill()
        if not self._borrowed:
            self.broker.kill()
