"""Messages that mean no good, drawn by chance: to commands, and on the daemon's own topics."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from common.contract.commands import COMMANDS
from common.contract.orders import DeviceOrder, Recall
from tests.support.hostile import JSON, spoiled

ORDERS: tuple[type[msgspec.Struct], ...] = (*COMMANDS, Recall, DeviceOrder)
OTHERS: dict[type[msgspec.Struct], str] = {Recall: "recall", DeviceOrder: "device-command"}
STAMPED = ("at", "type", "command")
NAMES = (
    "",
    "recall",
    "device-",
    "device-command",
    "session-open",
    "session.open",
    "x" * 5000,
    "\ufeff",
    "..",
    " ",
    "%s",
    "ñ",
    "a/b",
)
OWN = (
    "state",
    "info",
    "result",
    "history",
    "shoe",
    "alert/x",
    "alert/wheel-link",
    "alert/" + "y" * 300,
)
NODE = ("status", "health")
TOPICS = (
    *(
        "$SYS/broker/clients",
        "$share/a/b",
        "",
        "/",
        "a" * 60_000,
        "/".join("a" * 250),
        "\ufeff",
        "desk/7",
        "novamas/v1/x/y/result",
    ),
    *(
        "{reply}/7",
        "{reply}/7",
        "{reply}/" + "a/" * 14 + "a",
        "{reply}/" + "a/" * 250,
        "{reply}/" + "a" * 60_000,
        "{reply}/\ufeff",
        "{state}",
    ),
)
"""Where an answer is wanted."""
LARGE = 300_000


class Hostile(msgspec.Struct, frozen=True):
    """One message, as it is to be published."""

    topic: str
    body: bytes
    retain: bool
    properties: Any


class Hostility:
    """Draws messages against the tables and the node below ``root``. ``clients``: the client ids
    under which they are published.
    """

    def __init__(self, chance: Random, root: str, node: str, clients: Sequence[str]) -> None:
        self._chance, self._root, self._node, self._clients = chance, root, node, clients
        self._bodies = [
            (OTHERS.get(kind) or str(kind.__struct_config__.tag), line)
            for kind in ORDERS
            for _, line in spoiled(kind, "id", without=STAMPED)
        ]

    def draw(self, table: str) -> Hostile:
        """The next message to that table, or on what is its or the node's."""
        among = self._chance.random
        if among() < 0.02:
            topics = [
                *(f"{table}/{leaf}" for leaf in OWN),
                *(f"node/{self._node}/{leaf}" for leaf in NODE),
            ]
            return Hostile(
                f"{self._root}/{self._chance.choice(topics)}", self._junk(), among() < 0.5, None
            )
        name, line = self._chance.choice(self._bodies)
        if among() < 0.1:
            name = self._chance.choice(NAMES)
        if among() < 0.1:
            line = self._junk()
        elif among() < 0.9:
            line = b'{"client":"%b",%b' % (self._chance.choice(self._clients).encode(), line[1:])
        return Hostile(
            f"{self._root}/{table}/command/{name}", line, among() < 0.005, self._properties(table)
        )

    def _junk(self) -> bytes:
        kind = self._chance.random()
        if kind < 0.01:
            return b"x" * LARGE
        return (
            self._chance.choice(JSON)
            if kind < 0.5
            else self._chance.randbytes(self._chance.randrange(200))
        )

    def _properties(self, table: str) -> Properties | None:
        if self._chance.random() < 0.6:
            return None
        made = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call] # paho's constructor has no annotations
        own = {"reply": f"{self._root}/{table}/reply", "state": f"{self._root}/{table}/state"}
        made.ResponseTopic = self._chance.choice(TOPICS).format(**own)
        if self._chance.random() < 0.5:
            made.CorrelationData = b"\0" * self._chance.choice((0, 1, 16, 1024, 1025, 60_000))
        if self._chance.random() < 0.05:
            made.UserProperty = ("\ufeff", "\ufeff")
        return made


def last(client: str, number: int) -> bytes:
    """Sent last under a name; it is refused with that number."""
    return json.dumps({"client": client, "id": number}).encode()
