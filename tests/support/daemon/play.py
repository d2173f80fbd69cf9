"""What happens at a table, step by step, as a subscriber sees it."""

from __future__ import annotations

from typing import Any

from controller.contract.topics import level
from tests.support.brokers.mosquitto import Subscriber, until
from tests.support.daemon.process import Daemon, Wheel

TABLE = "novamas/v1/palma/r1"
NODE = "novamas/v1/palma/node/pit-1"
HEAD = {"by": "M. Lasa", "role": "table_head"}
STEPS = ((2, "round.opened"), (3, None), (4, "bets.closed"), (5, "round.result"))


def until_more(heard: Subscriber, kind: str, count: int) -> list[dict[str, Any]]:
    """Wait for one more event of a kind than there were."""

    def more() -> list[dict[str, Any]]:
        return heard.events(kind)[count:]

    found: list[dict[str, Any]] = until(
        f"one more {kind}", more, lambda: "\n".join(map(str, heard.events()))
    )
    return found


def until_said(heard: Subscriber, kind: str, count: int) -> list[dict[str, Any]]:
    """Wait until so many events of a kind were heard, and give them."""

    def enough() -> list[dict[str, Any]]:
        return heard.events(kind)[:count] if len(heard.events(kind)) >= count else []

    found: list[dict[str, Any]] = until(
        f"{count} of {kind}", enough, lambda: "\n".join(map(str, heard.events()))
    )
    return found


def until_up(heard: Subscriber, daemon: Daemon, table: str = TABLE) -> None:
    """Wait until the table says that its wheel is up, in this life of the daemon."""

    def up() -> bool:
        assert daemon.process is not None
        assert daemon.process.poll() is None, daemon.log()
        state = heard.latest(f"{table}/state")
        return (
            bool(state)
            and state["boot"] == daemon.boot()
            and state["devices"].get("wheel", {}).get("state") == "up"
        )

    until("the wheel is up", up, daemon.log)


def until_open(heard: Subscriber, daemon: Daemon, table: str, device: str) -> None:
    """Wait until this life of the daemon has the device's port open. What is written to a port
    before is thrown away there.
    """

    def is_open() -> bool:
        health = heard.latest("/health")
        if not health or health["boot"] != daemon.boot():
            return False
        stands = health["tables"][table]["devices"][device]
        return "link" in stands and stands["state"] != "lost"

    until(f"{device} of {table} is open", is_open, daemon.log)


def command(heard: Subscriber, name: str, table: str = TABLE, **fields: Any) -> dict[str, Any]:
    """Say a command as the head of the table and give the reply."""
    count = len(heard.on(f"{table}/reply/t"))
    heard.say(f"{table}/command/{level(name)}", {**HEAD, "client": "t", "id": count, **fields})
    reply: dict[str, Any] = until("a reply", lambda: heard.on(f"{table}/reply/t")[count:])[0].body
    assert reply["id"] == count
    return reply


def spin(
    wheel: Wheel, heard: Subscriber, number: str, count: int, before: str = "  "
) -> dict[str, Any]:
    """One whole spin, each step seen before the next is made. Gives the result."""
    for state, kind in STEPS:
        known = len(heard.events(kind)) if kind else 0
        wheel.show(state, count, number if state == 5 else before)
        if kind:
            found = until_more(heard, kind, known)
    return found[0]
