"""How soon the publisher tries again. What it publishes is tested with a real broker, in
tests/daemon and tests/chaos.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

from controller.configuration.settings import Broker
from controller.contract.topics import Topics
from controller.journal.journal import Journal
from controller.mqtt.connection import Connection, Message
from controller.mqtt.publisher import (
    BACKLOG,
    LONGEST,
    LONGEST_REFUSED,
    SHORTEST,
    SHORTEST_REFUSED,
    Publisher,
    next_pause,
)
from controller.mqtt.tables_api import TablesApi
from tests.controller.records import record


def pauses(lasted: float, *, in_vain: bool) -> list[float]:
    found = [0.0]
    for _ in range(12):
        found.append(next_pause(found[-1], lasted, in_vain=in_vain))
    return found[1:]


def test_the_first_attempt_comes_soon_and_each_failure_doubles_the_pause() -> None:
    assert pauses(0.0, in_vain=False)[:4] == [SHORTEST, 2 * SHORTEST, 4 * SHORTEST, 8 * SHORTEST]
    assert pauses(0.0, in_vain=False)[-1] == LONGEST
    assert (pauses(0.0, in_vain=True)[0], pauses(0.0, in_vain=True)[-1]) == (
        SHORTEST_REFUSED,
        LONGEST_REFUSED,
    )


def test_a_connection_that_was_made_and_lost_at_once_is_no_success() -> None:
    assert pauses(1.0, in_vain=True)[-1] == LONGEST_REFUSED
    assert pauses(1.0, in_vain=False)[-1] == LONGEST


def test_one_that_lasted_is() -> None:
    assert next_pause(LONGEST, LONGEST + 1, in_vain=False) == SHORTEST
    assert next_pause(LONGEST_REFUSED, LONGEST_REFUSED + 1, in_vain=True) == SHORTEST_REFUSED


class Slow:
    v5 = True

    """In place of a connection: each portion that is handed over takes long enough for something to
    happen meanwhile.
    """

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self.topics: list[str] = []
        self._meanwhile = meanwhile

    async def deliver(self, messages: list[Message]) -> list[str | None]:
        self.topics += [message.topic for message in messages]
        self._meanwhile()
        return [None] * len(messages)


async def test_a_display_does_not_wait_for_the_backlog(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        for number in range(1, 301):
            stored = journal.append(record(number))
        await stored
        api = TablesApi("pit-1", "b1", Topics("palma"), {})
        publisher = Publisher(Broker(), "novamas", journal, api)

        def meanwhile() -> None:
            if not api.node:
                api.node["health"] = b"now"
                publisher.wake()
            elif len(slow.topics) > 600:
                publisher.end()

        slow = Slow(meanwhile)
        await publisher._publish(cast("Connection", slow), journal.head())
        shown = slow.topics.index("novamas/v1/palma/node/pit-1/health")
        assert shown == BACKLOG  # after the first portion
        assert slow.topics.count("novamas/v1/palma/t1/event") == 600
