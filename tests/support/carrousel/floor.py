"""A broker, linked tables as published by their daemon, persons with keys, and the controller as a
separate process.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import paho.mqtt.client as paho
from nacl.signing import SigningKey
from paho.mqtt.enums import CallbackAPIVersion

from common.contract.command_fields import Role
from common.contract.times import format_utc
from common.contract.topics import Topics, level
from common.people.register import (
    Key,
    People,
    PeopleHeader,
    Person,
    checked_people,
    read_people,
    to_base64url,
    write_people,
)
from common.people.seen import SeenCommands
from common.people.signed_command import Claims, sign, verify
from tests.support.brokers import paho_client
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.carrousel.real_events import recall
from tests.support.prepared import PreparedProgram, may_be_forked
from tests.support.waiting import TIMEOUT_SECONDS, until

SITE = "casino-mayor"
TOPICS = Topics(SITE)
GAME, DECREE = "poker-no-draw", "EUS96"
STAKE, SEED = 500, 500_000
SITE_KEY = SigningKey(b"the key of the site of this test")
PEOPLE: dict[str, tuple[Role, ...]] = {
    "m-lasa": ("table_head",),
    "a-riera": ("inspector",),
    "t-vidal": ("director",),
    "j-croupier": ("croupier",),
}
KEYS = {name: SigningKey(name.ljust(32).encode()) for name in PEOPLE}


READER = "carrousel-1"


def people(
    reader: str | None = None, number: int = 1, site: str = SITE, revoked: str | None = None
) -> bytes:
    """Return the people file. ``reader``: the public key of a reader; ``revoked``: a person."""
    readers = [
        Person(id=READER, name=READER, roles=("reader",), tables=("*",), keys=(Key(x=key),))
        for key in ([] if reader is None else [reader])
    ]
    persons = [
        Person(
            id=name,
            name=name.title(),
            roles=roles,
            tables=("*",),
            keys=(Key(x=to_base64url(KEYS[name].verify_key.encode())),),
            revoked="2026-03-20T02:10:13Z" if name == revoked else None,
        )
        for name, roles in PEOPLE.items()
    ]
    head = PeopleHeader(site=site, number=number, time="2026-03-20T02:10:13Z")
    return write_people(checked_people(head, [*persons, *readers]), SITE_KEY)


def terms(*tables: str, **fields: Any) -> dict[str, Any]:
    """Return the terms of a progressive jackpot."""
    return {
        "jackpot": "linked",
        "decree": DECREE,
        "games": [GAME],
        "currency": "EUR",
        "stake": STAKE,
        "seed": SEED,
        "authorisation": {
            "number": "7/2026",
            "date": "2026-01-15",
            "authority": "Juego",
            "percentage": [9, 10],
            "tables": list(tables),
        },
        **fields,
    }


class Dealer:
    """A daemon as seen by the broker: publishes events of its tables, and replies to recalls."""

    def __init__(self, port: int, node: str = "node-1", boot: str = "b1") -> None:
        self.node, self.boot = node, boot
        self.journals: dict[str, list[bytes]] = {}
        self.said: dict[str, int] = {}
        """How many of a table's events were published."""
        self.answers = True
        self.latency = 0.0
        """Seconds after which it answers."""
        self.people: People | None = None
        """Whose signature a recall must have; None: it needs none."""
        self._client = paho.Client(CallbackAPIVersion.VERSION2)
        self._client.max_inflight_messages_set(1000)
        self._client.on_message = self._asked
        self._client.on_connect = self._connected
        self._client.reconnect_delay_set(1, 1)
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()

    def _connected(self, *_: Any) -> None:
        self._client.subscribe(f"{TOPICS.root}/+/command/recall", 1)
        self.online()
        for table in tuple(self.journals):
            self.retain(table)

    def online(self) -> None:
        self._say(TOPICS.node(self.node, "status"), {"status": "online", "boot": self.boot})

    def offline(self) -> None:
        self._say(TOPICS.node(self.node, "status"), {"status": "offline", "boot": self.boot})

    def restart(self, boot: str) -> None:
        """Start a new run of the daemon."""
        self.boot = boot
        self.online()
        for table in tuple(self.journals):
            self.retain(table)

    def serve(self, *tables: str) -> None:
        for table in tables:
            self.journals.setdefault(table, [])
            self.retain(table)

    def seq(self, table: str) -> int:
        own = [msgspec.json.decode(body) for body in self.journals[table]]
        return max((event["seq"] for event in own if event["boot"] == self.boot), default=0)

    def retain(self, table: str, **about: Any) -> None:
        """Publish its retained topics."""
        head = {"site": SITE, "table": table, "game": GAME, "decree": DECREE, "boot": self.boot}
        self._say(TOPICS.table(table, "info"), {**head, "about": {"jackpot": "linked", **about}})
        state = {
            "seq": self.seq(table),
            "time": format_utc(time.time()),
            "shown": {"currency": "EUR"},
        }
        self._say(TOPICS.table(table, "state"), {**head, **state})

    def happens(self, table: str, type: str, *, lost: bool = False, **fields: Any) -> bytes:  # noqa: A002
        """Journal an event, and publish it unless it gets lost."""
        event = {
            "type": type,
            "site": SITE,
            "table": table,
            "game": GAME,
            "decree": DECREE,
            "boot": self.boot,
            "seq": self.seq(table) + 1,
            "time": format_utc(time.time()),
            "mono_ns": 1,
            "session": 1,
            "round": 1,
            **fields,
        }
        body = msgspec.json.encode(event)
        self.journals[table].append(body)
        if not lost:
            self.tell(table, body)
        return body

    def tell(self, table: str, body: bytes) -> None:
        self._client.publish(TOPICS.table(table, "event"), body, 1)

    def coin(self, table: str, box: int = 1, round: int = 1, **fields: Any) -> bytes:  # noqa: A002
        bet = {"who": f"box:{box}", "bet": "jackpot", "amount": STAKE, "round": round}
        return self.happens(table, "bet.placed", **{**bet, **fields})

    def award(self, table: str, box: int = 1, round: int = 1, **fields: Any) -> bytes:  # noqa: A002
        award = {
            "award": "jackpot",
            "box": f"box:{box}",
            "hand": "straight_flush",
            "cards": ["9s", "8s", "7s", "6s", "5s"],
            "share": [1, 10],
            "round": round,
        }
        return self.happens(table, "award.qualified", **{**award, **fields})

    def staked(self, table: str, amount: int, round: int = 1) -> bytes:  # noqa: A002
        return self.happens(table, "jackpot.staked", amount=amount, slots=amount, round=round)

    def _say(self, topic: str, body: Any) -> None:
        self._client.publish(topic, msgspec.json.encode(body), 1, retain=True)

    def _asked(self, _client: Any, _data: Any, message: Any) -> None:
        table = message.topic.removeprefix(f"{TOPICS.root}/").partition("/")[0]
        if not self.answers or table not in self.journals:
            return
        asked = self._recall(table, bytes(message.payload))
        assert asked["onward"]
        events = recall(self.journals[table], asked["boot"], asked["from"])
        reply = {"id": asked["id"], "ok": True, "events": [msgspec.Raw(event) for event in events]}
        topic = TOPICS.reply(table, asked["client"])
        answer = partial(self._client.publish, topic, msgspec.json.encode(reply), 1)
        timer = threading.Timer(self.latency, answer)
        timer.daemon = True
        timer.start()

    def _recall(self, table: str, body: bytes) -> dict[str, Any]:
        if self.people is None:
            found: dict[str, Any] = msgspec.json.decode(body)
            return found
        topic = f"{TOPICS.root}/{table}"
        claims = verify(body, time.time(), topic, table, self.people, SeenCommands()).claims
        assert (claims.command, claims.role, claims.iss) == ("recall", "reader", READER)
        return {**claims.fields, "id": claims.jti, "client": claims.client}

    def close(self) -> None:
        paho_client.end(self._client)


class Controller:
    """``python -m subscribers.carrousel``."""

    def __init__(self, folder: Path, port: int, *jackpots: dict[str, Any], **settings: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "people").write_bytes(people())
        self.ledger, self._log = folder / "ledger.sqlite3", folder / "carrousel.log"
        self.given = {
            "site": SITE,
            "broker": {"url": f"mqtt://127.0.0.1:{port}"},
            "node": "carrousel",
            "ledger": str(self.ledger),
            "jackpots": [{"terms": jackpot, "title": {"es": "carrusel"}} for jackpot in jackpots],
            "keepalive": 1.0,
            "people_file": str(folder / "people"),
            "people_key": to_base64url(SITE_KEY.verify_key.encode()),
            **settings,
        }
        self.process: PreparedProgram | subprocess.Popen[bytes] | None = None
        self.environment: dict[str, str] = {}

    @property
    def words(self) -> list[str]:
        """Return its command line."""
        module = (sys.executable, "-m", "subscribers.carrousel")
        return [*module, "--settings", json.dumps(self.given)]

    def start(self) -> None:
        with self._log.open("ab") as log:
            environment = {**os.environ, **self.environment}
            if may_be_forked(self.words[1:], environment):
                self.process = PreparedProgram(self.words[1:], stderr=log, environment=environment)
            else:
                self.process = subprocess.Popen(self.words, stderr=log, env=environment)

    def log(self) -> str:
        return self._log.read_text()

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


class Floor:
    """Everything together. ``subscriber``: receives all messages at the broker."""

    def __init__(
        self, broker: Mosquitto, subscriber: Subscriber, dealer: Dealer, controller: Controller
    ) -> None:
        self.broker, self.subscriber, self.dealer, self.controller = (
            broker,
            subscriber,
            dealer,
            controller,
        )
        self._number = 0
        self.ahead = 0
        """Seconds by which the clock of those who sign is ahead."""
        self.given: list[tuple[str, str, str, bytes]] = []
        """Every order that was signed: its jackpot, name, number and token."""

    def state(self, jackpot: str = "linked") -> dict[str, Any]:
        found: dict[str, Any] | None = self.subscriber.latest(f"jackpot/{jackpot}/state")
        return found or {}

    def until(self, what: str, condition: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """Wait until the jackpot's state fulfils a condition, and return it."""

        def found() -> dict[str, Any] | None:
            state = self.state()
            return state if state and condition(state) else None

        state: dict[str, Any] = until(
            what, found, lambda: f"{self.state()}\n{self.controller.log()[-4000:]}"
        )
        return state

    def in_play(self, *tables: str) -> dict[str, Any]:
        return self.until(
            f"{', '.join(tables)} in play",
            lambda state: (
                state["in_play"] and all(state["tables"][table]["in_play"] for table in tables)
            ),
        )

    def alert(self, name: str, jackpot: str = "linked") -> dict[str, Any]:
        topic = f"jackpot/{jackpot}/alert/{name}"
        found: dict[str, Any] = until(
            f"alert {name}", lambda: self.subscriber.latest(topic), self.controller.log
        )
        return found

    def order(
        self,
        who: str,
        command: str,
        role: Role | None = None,
        jackpot: str = "linked",
        **fields: Any,
    ) -> dict[str, Any]:
        """Sign an order, send it and return the reply."""
        number, body = self.signed(who, command, role, jackpot, **fields)
        return self.reply_to(jackpot, command, body, number)

    def signed(
        self,
        who: str,
        command: str,
        role: Role | None = None,
        jackpot: str = "linked",
        **fields: Any,
    ) -> tuple[str, bytes]:
        """Return a signed order and its number. It names the state of its subject from the
        jackpot's state, unless ``fields`` do.
        """
        self._number += 1
        fields = {**named(command, self.state(jackpot), fields), **fields}
        number = f"number-{self._number:09}-{time.monotonic_ns()}"
        now = int(time.time()) + self.ahead
        claims = Claims(
            iss=who,
            aud=f"{TOPICS.root}/jackpot/{jackpot}",
            iat=now,
            exp=now + 120,
            jti=number,
            command=command,
            role=role or PEOPLE[who][0],
            fields=fields,
            client="console-1",
        )
        token = sign(KEYS[who].encode(), claims).encode()
        self.given.append((jackpot, command, number, token))
        return number, token

    def reply_to(self, jackpot: str, command: str, body: bytes, number: str) -> dict[str, Any]:
        """Send a signed order, again if it was sent before, and return the reply."""
        before = len(self._replies(jackpot, number))
        self.subscriber.publish(TOPICS.jackpot(jackpot, f"command/{level(command)}"), body)

        found: list[dict[str, Any]] = until(
            f"the answer to {command}",
            lambda: self._replies(jackpot, number)[before:],
            self.controller.log,
        )
        return found[0]

    def _replies(self, jackpot: str, number: str) -> list[dict[str, Any]]:
        replies = [
            message.body for message in self.subscriber.on(f"jackpot/{jackpot}/reply/console-1")
        ]
        return [reply for reply in replies if reply["id"] == number]

    def restart(self) -> None:
        """Kill the controller and wait until another run of it follows orders."""
        before = self.state()["boot"]
        self.controller.kill()
        self.controller.start()
        self.until(
            "it is back",
            lambda state: state["boot"] != before and state["why"] not in ("not_verified", "store"),
        )

    def two(self, command: str, **fields: Any) -> dict[str, Any]:
        """Give an order signed by the inspector and the director."""
        first = self.order("a-riera", command, **fields)
        assert not first["ok"]
        return self.order("t-vidal", command, **fields)


def named(command: str, state: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """Return the value that an order must name of the state its signer saw."""
    if command == "award.pay":
        told = (*state.get("awards", ()), *state.get("last", ()))
        paid = {award["award"]: award["paid"] for award in told}
        return {"paid": paid.get(fields.get("award"), 0)}
    if command == "gap.settle":
        return {"gap": state["tables"].get(fields["table"], {}).get("since", "")}
    whole = ("meter.adjust", "pool.", "jackpot.")
    return {"generation": state["generation"]} if command.startswith(whole) else {}


def enrolled_now(reader: str | None = None) -> People:
    """Return the people as readers of the file know them."""
    return read_people(people(reader), SITE, SITE_KEY.verify_key.encode())


def accounts(ledger: Path) -> dict[tuple[str, str], int]:
    """Return the balances of a ledger, by account and part."""
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        rows: Iterable[tuple[str, str, int]] = connection.execute(
            "SELECT account, part, sum(amount) FROM posting GROUP BY account, part"
        ).fetchall()
    return {(account, part): amount for account, part, amount in rows if amount}


def last_entry(ledger: Path) -> int:
    """Return the position of the newest entry of a ledger."""
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        (position,) = connection.execute("SELECT max(position) FROM entry").fetchone()
    return int(position)
