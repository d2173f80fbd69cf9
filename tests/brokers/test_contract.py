"""What docs/integrator/brokers.md promises to subscribers, on each engine."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from tests.conftest import cases
from tests.daemon.test_contract import check
from tests.support.brokers.engines import Engine
from tests.support.brokers.mosquitto import ReceivedMessage, Subscriber
from tests.support.chaos.archive import Holding, events_of, key_of
from tests.support.chaos.floor import Floor
from tests.support.chaos.proof import sound
from tests.support.waiting import until

Listen = Callable[..., Subscriber]
RETAINED = ("info", "state", "result", "history")
LARGE = 60_000
"""Bytes: as the largest message of a daemon, with room for its topic."""


def held(subscriber: Subscriber) -> Holding:
    """The received events, and whether they arrived in order."""
    holding = Holding()
    for message in subscriber.on("/event"):
        holding.take(message.body)
    return holding


def has_all_of(floor: Floor, table: str, since: int, subscriber: Subscriber) -> bool:
    """Whether it received everything the archive received of a table, starting with the first event
    after ``since``.
    """
    assert floor.archive is not None
    floor.archive.take()
    wanted = [key for key in floor.archive.held if key[0] == table and key[2] > since]
    return bool(wanted) and set(wanted) <= held(subscriber).held.keys()


def newest(floor: Floor, table: str) -> int:
    """The number of the last event of a table that the archive has."""
    assert floor.archive is not None
    floor.archive.take()
    return max(key[2] for key in floor.archive.held if key[0] == table)


def test_events_come_in_order_at_every_table(floor: Floor) -> None:
    assert floor.archive is not None
    for table in floor.tables:
        floor.until_results(2, table)
    assert floor.archive.tally.misordered == []
    for table in floor.tables:
        numbers = [key[2] for key in floor.archive.held if key[0] == table]
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("by", ["name", "wildcard"])
def test_what_is_retained(floor: Floor, engine: Engine, listen: Listen, by: str) -> None:
    """Who comes later gets it at once, where the broker can; else when the daemon says it again."""
    floor.until_results(1)
    if by == "name":
        names = [f"{floor.root}/{table}/{leaf}" for table in floor.tables for leaf in RETAINED]
        names.append(f"{floor.root}/node/pit-1/status")
    else:
        names = [f"{floor.root}/+/+", f"{floor.root}/node/+/status"]
    late = listen(*names)

    def there() -> bool:
        return all(late.latest(f"/{leaf}") for leaf in (*RETAINED, "status")) and all(
            late.latest(f"/{table}/state") for table in floor.tables
        )

    until("the retained topics", there, late.transcript)
    assert late.latest("/status")["status"] == "online"
    first = {message.topic: message for message in reversed(late.messages)}
    kept = [message for topic, message in first.items() if topic.rpartition("/")[2] in RETAINED]
    if engine.wildcards_retained:
        assert all(message.retain for message in kept), [message.topic for message in kept]


def test_birth_and_last_will(floor: Floor, engine: Engine, listen: Listen) -> None:
    status = f"{floor.root}/node/pit-1/status"
    there = listen(status)
    until("online", lambda: there.latest("/status") == {"status": "online", "boot": boot(floor)})
    before = boot(floor)
    floor.daemon.kill()
    until("offline", lambda: there.latest("/status") == {"status": "offline", "boot": before})
    late = listen(status, nodes=engine.nodes)  # the daemon's own node first
    until("offline is retained", lambda: late.latest("/status") == there.latest("/status"))
    floor.start_daemon()
    until(
        "born again", lambda: there.latest("/status") == {"status": "online", "boot": boot(floor)}
    )
    assert floor.archive is not None
    for table in floor.tables:  # retained messages precede `online`
        told = partial(floor.archive.latest, f"{table}/state")
        until(f"the state of {table}", lambda told=told: told()["boot"] == boot(floor))  # type: ignore[misc]


def boot(floor: Floor) -> str | None:
    return floor.daemon.boot()


def test_a_session_over_an_absence(floor: Floor, listen: Listen) -> None:
    """The broker stored it: no recall is needed."""
    topic, name = f"{floor.root}/r1/event", "absent"
    here = listen(topic, session=name)
    here.close()
    since = newest(floor, "r1")
    floor.until_results(cases(2, 10), "r1")
    back = listen(topic, session=name)
    until("what was missed", partial(has_all_of, floor, "r1", since, back), back.transcript)
    assert held(back).tally.misordered == []
    numbers = [key[2] for key in held(back).held]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert numbers[0] <= since + 1


def test_a_recall_and_its_reply(floor: Floor, listen: Listen) -> None:
    """The reply reaches the requester and no other client."""
    assert floor.archive is not None
    until("an event of this run", lambda: any(k[1] == boot(floor) for k in keys(floor)))
    asked, other = (listen(f"{floor.root}/r1/reply/{name}") for name in ("Asks_1", "other-2"))
    body = {"boot": boot(floor), "from": 1, "client": "Asks_1", "id": 7}
    asked.publish(f"{floor.root}/r1/command/recall", body)
    until("an answer", lambda: asked.on("/reply/Asks_1"))
    answer = asked.on("/reply/Asks_1")[0].body
    assert answer["id"] == 7
    assert [event["seq"] for event in answer["events"]][:3] == [1, 2, 3]
    told = {key_of(event) for event in answer["events"]}
    until("the archive has them too", lambda: told <= keys(floor))
    assert other.messages == []


def keys(floor: Floor) -> set[Any]:
    assert floor.archive is not None
    floor.archive.take()
    return set(floor.archive.held)


def test_large_packets(floor: Floor, listen: Listen) -> None:
    """Everything a daemon may publish passes; an oversized message causes no harm."""
    topic = "elsewhere/large"
    there = listen(topic)
    there.publish(topic, b"x" * LARGE)
    until("all of it", lambda: [len(message.payload) for message in there.messages] == [LARGE])
    there.publish(f"{floor.root}/r1/command/recall", b"x" * 5 * LARGE)
    floor.until_results(1, "r1")


def test_topics_arrive_unchanged(floor: Floor) -> None:
    """No broker changes a character of what the contract allows, and every message is one of it."""
    assert floor.archive is not None
    last: dict[str, ReceivedMessage] = {
        message.topic: message for message in list(floor.archive.line.messages)
    }
    own = [message for message in last.values() if message.topic.startswith(f"{floor.root}/")]
    real = [
        replace(message, topic=message.topic.replace("novamas-sim/", "novamas/", 1))
        for message in own
    ]
    channels = {check(message) for message in real}
    assert {"event", "state", "result", "reply", "claim", "health", "checkpoint"} <= channels


def test_a_duplicate_client_id_ends_the_older_connection(
    floor: Floor, engine: Engine, listen: Listen
) -> None:
    """The broker ends the connection of the one before; the daemon comes back and loses nothing."""
    connects = floor.logged("broker connected")
    thief = listen(f"{floor.root}/r1/state", session=f"novamas-{floor.site}-pit-1")
    until("the daemon lost its connection", lambda: floor.logged("broker lost"), floor.daemon.log)
    thief.close()
    until(
        "it is back", lambda: floor.logged("broker connected") > connects, floor.daemon.log, 120.0
    )
    floor.until_results(1)
    assert floor.archive is not None
    assert floor.archive.tally.misordered == []


def test_a_large_backlog(floor: Floor, engine: Engine) -> None:
    """The broker freezes while the tables play on; afterwards all events arrive in order, marked
    late.
    """
    assert floor.archive is not None
    wanted = cases(20, 300)
    lost = floor.logged("broker lost")
    engine.signal(signal.SIGSTOP)
    try:
        until("it is noticed", lambda: floor.logged("broker lost") > lost, floor.daemon.log)
        known = stored(floor)
        until("events", lambda: stored(floor) >= known + wanted, floor.daemon.log, 900.0)
    finally:
        engine.signal(signal.SIGCONT)
    floor.until_results(1)
    until("all that is late", lambda: len(late(floor)) >= wanted, floor.daemon.log)
    assert floor.archive.tally.misordered == []


def late(floor: Floor) -> list[Any]:
    """The events marked as too late to act on."""
    assert floor.archive is not None
    floor.archive.take()
    return [event for event in floor.archive.held.values() if event.get("historical")]


def stored(floor: Floor) -> int:
    return len(events_of(floor.journal))


def test_at_the_end_the_archive_has_what_the_journal_has(floor: Floor) -> None:
    """Without asking for anything: by its session alone."""
    _, verdict = sound(floor, recall=False)
    assert verdict.flawless
