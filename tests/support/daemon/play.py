"""What happens at a table, step by step, as a subscriber sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from common.contract.topics import level
from tests.support.brokers.mosquitto import Subscriber
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until

TABLE = "novamas/v1/palma/r1"
NODE = "novamas/v1/palma/node/pit-1"
HEAD = {"by": "M. Lasa", "role": "table_head"}
STEPS = ((2, "round.opened"), (3, None), (4, "bets.closed"), (5, "round.result"))


def until_more(subscriber: Subscriber, kind: str, count: int) -> list[dict[str, Any]]:
    """Wait for one more event of a kind than there were."""

    def more() -> list[dict[str, Any]]:
        return subscriber.events(kind)[count:]

    found: list[dict[str, Any]] = until(
        f"one more {kind}", more, lambda: "\n".join(map(str, subscriber.events()))
    )
    return found


def until_said(subscriber: Subscriber, kind: str, count: int) -> list[dict[str, Any]]:
    """Wait until that number of events of a kind has arrived, and return them."""

    def enough() -> list[dict[str, Any]]:
        return subscriber.events(kind)[:count] if len(subscriber.events(kind)) >= count else []

    found: list[dict[str, Any]] = until(
        f"{count} of {kind}", enough, lambda: "\n".join(map(str, subscriber.events()))
    )
    return found


def until_up(
    subscriber: Subscriber, daemon: Daemon, table: str = TABLE, device: str = "wheel"
) -> None:
    """Wait until the table says that its device is up, in this life of the daemon."""

    def up() -> bool:
        assert daemon.process is not None
        assert daemon.process.poll() is None, daemon.log()
        state = subscriber.latest(f"{table}/state")
        return (
            bool(state)
            and state["boot"] == daemon.boot()
            and state["devices"].get(device, {}).get("state") == "up"
        )

    until(f"{device} is up", up, daemon.log)


def serve(
    port: int,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> tuple[Daemon, Subscriber]:
    """Start a daemon with one roulette at a broker, and a subscriber there. Return when the wheel
    is up.
    """
    subscriber = subscribe(port)
    started = daemon(configuration(port, table("r1", wheel)))
    started.start()
    until_up(subscriber, started)
    return started, subscriber


def until_open(subscriber: Subscriber, daemon: Daemon, table: str, device: str) -> None:
    """Wait until this life of the daemon has the device's port open. Bytes written to a port before
    that are discarded.
    """

    def is_open() -> bool:
        health = subscriber.latest("/health")
        if not health or health["boot"] != daemon.boot():
            return False
        stands = health["tables"][table]["devices"][device]
        return "link" in stands and stands["state"] != "lost"

    until(f"{device} of {table} is open", is_open, daemon.log)


def command(subscriber: Subscriber, name: str, table: str = TABLE, **fields: Any) -> dict[str, Any]:
    """Say a command as the head of the table and give the reply."""
    count = len(subscriber.on(f"{table}/reply/t"))
    subscriber.publish(
        f"{table}/command/{level(name)}", {**HEAD, "client": "t", "id": count, **fields}
    )
    reply: dict[str, Any] = until("a reply", lambda: subscriber.on(f"{table}/reply/t")[count:])[
        0
    ].body
    assert reply["id"] == count
    return reply


def spin(
    wheel: Wheel, subscriber: Subscriber, number: str, count: int, before: str = "  "
) -> dict[str, Any]:
    """One whole spin, each step seen before the next is made. Gives the result."""
    for state, kind in STEPS:
        known = len(subscriber.events(kind)) if kind else 0
        wheel.show(state, count, number if state == 5 else before)
        if kind:
            found = until_more(subscriber, kind, known)
    return found[0]
