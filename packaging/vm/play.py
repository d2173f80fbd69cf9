"""Tables of the guest in play: devices outside of it, commands, and received messages."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from guest import PATIENCE

from common.contract.topics import level
from tests.support.brokers.mosquitto import Subscriber
from tests.support.waiting import until

SITE = "novamas-sim/v1/casino-prueba"
NODE = "node/node-1"
WHEEL = f"{SITE}/ruleta-1"
"""The table with the FTDI adapter."""
SECOND = f"{SITE}/ruleta-2"
"""The table that a reload adds."""
CARDS = f"{SITE}/punto-1"
"""The table with the keyboard."""
PERSON = {"by": "M. Lasa", "role": "inspector"}


class Simulator:
    """A wheel of ``simulators/`` at a TCP port of this machine, which QEMU connects to the line of
    an adapter. It plays on request.
    """

    def __init__(self, *options: str) -> None:
        words = [sys.executable, "-m", "simulators", "wheel", "--tcp", "127.0.0.1:0", *options]
        self._process = subprocess.Popen(
            [*words, "--end-with-stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        self.port = int(json.loads(self._process.stdout.readline())["port"].rpartition(":")[2])

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def command(heard: Subscriber, table: str, name: str, **fields: Any) -> dict[str, Any]:
    """Send a command and return the reply."""
    known = len(heard.on(f"{table}/reply/host"))
    said = {**PERSON, "client": "host", "id": f"{name}-{known}", **fields}
    heard.publish(f"{table}/command/{level(name)}", said)
    reply: dict[str, Any] = until(
        f"the reply to {name}",
        lambda: [
            each.body for each in heard.on(f"{table}/reply/host") if each.body["id"] == said["id"]
        ],
        heard.transcript,
        PATIENCE,
    )[0]
    return reply


def open_session(heard: Subscriber, table: str) -> None:
    """Open the table's session unless it is open."""
    state = until("the table", lambda: heard.latest(f"{table}/state"), heard.transcript, PATIENCE)
    if "session.open" in state["takes"]:
        assert command(heard, table, "session.open")["ok"]


def events(heard: Subscriber, table: str, kind: str) -> list[dict[str, Any]]:
    name = table.rpartition("/")[2]
    return [event for event in heard.events(kind) if event["table"] == name]


def results(heard: Subscriber, table: str) -> list[dict[str, Any]]:
    return events(heard, table, "round.result")


def until_more(
    heard: Subscriber, table: str, kind: str, known: int, count: int = 1
) -> list[dict[str, Any]]:
    """Wait for more events of a kind than ``known``, and return them."""

    def more() -> list[dict[str, Any]]:
        found = events(heard, table, kind)[known:]
        return found if len(found) >= count else []

    found: list[dict[str, Any]] = until(
        f"{count} more {kind} of {table}", more, heard.transcript, PATIENCE
    )
    return found


def link_state(heard: Subscriber, table: str, device: str) -> str | None:
    state = heard.latest(f"{table}/state")
    told: str | None = ((state or {}).get("devices") or {}).get(device, {}).get("state")
    return told


def until_link(heard: Subscriber, table: str, device: str, *states: str) -> None:
    until(
        f"{device} of {table} is {' or '.join(states)}",
        lambda: link_state(heard, table, device) in states,
        heard.transcript,
        PATIENCE,
    )
