"""What the console shows of a command that reaches the daemon twice, and of one without a reply."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from common.contract.topics import Topics
from subscribers.console.outcomes import outcome_of
from subscribers.console.sending import CommandSender, Touch, TouchState
from subscribers.console.sessions import Session
from subscribers.console.words import console_text
from subscribers.feed.tables import BrokerLogin
from tests.support.people.staff import LASA

TOPICS = Topics("palma")
NUMBER = "a-touch-with-a-number"
FOLLOWED = {"ok": True}


def refused(key: str) -> dict[str, Any]:
    """The reply with a refusal."""
    return {"ok": False, "error": key, "refusal": {"key": key, "fields": {}}}


ROWS: tuple[tuple[tuple[dict[str, Any], ...], str], ...] = (
    ((FOLLOWED, refused("signed_already")), "followed"),
    ((FOLLOWED, refused("signed_expired")), "followed"),
    ((FOLLOWED, refused("person_revoked")), "followed"),
    ((refused("signed_already"), FOLLOWED), "followed"),
    ((refused("signed_already"),), "sent"),
    ((refused("second_person_wanted"), refused("signed_already")), "waiting"),
    ((refused("no_session"), refused("signed_already")), "refused"),
)
"""The replies to a command and its copies, and what the console then shows."""


def sender_with(how: TouchState) -> CommandSender:
    """A sender that has sent one command, without a broker."""
    sender = CommandSender(
        BrokerLogin(url="mqtt://127.0.0.1:1"), {"r1": TOPICS}, lambda _: None, lambda: 0.0
    )
    sender.touches[NUMBER] = Touch(
        number=NUMBER,
        person=LASA,
        table="r1",
        command="session.open",
        fields={},
        role="table_head",
        how=how,
        at=0.0,
    )
    return sender


async def test_the_refusal_of_a_copy_says_nothing_of_the_command() -> None:
    for replies, shown in ROWS:
        sender = sender_with("sent")
        for reply in replies:
            topic = TOPICS.reply("r1", sender._client)
            sender._on_reply(topic, msgspec.json.encode({"id": NUMBER, **reply}))
        assert sender.touches[NUMBER].how == shown, replies


@pytest.mark.parametrize(
    ("events", "shown"),
    [
        (None, None),
        ((), console_text("pit.found_nothing", "en")),
        (("session.opened",), console_text("pit.found", "en", events="session.opened")),
    ],
)
async def test_nothing_is_said_of_a_command_before_the_daemon_has_answered(
    events: tuple[str, ...] | None, shown: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``events``: the daemon's answer; None: it refuses it, or does not answer."""
    sender, answered = sender_with("unknown"), asyncio.Event()
    session = cast("Session", SimpleNamespace(tag=NUMBER[:3], person=LASA))
    queries = []

    async def signed_events(*query: object) -> tuple[str, ...] | None:
        queries.append(query)
        await answered.wait()
        return events

    monkeypatch.setattr(CommandSender, "up", property(lambda _: True))
    monkeypatch.setattr(sender, "signed_events", signed_events)
    monkeypatch.setattr("subscribers.console.sending.clock.sleep", asyncio.sleep)
    for _ in range(3):
        sender.query_outcomes([session])
        await asyncio.sleep(0)
        assert outcome_of(sender.touches[NUMBER], "en").found is None
    answered.set()
    await asyncio.gather(*sender._queries)
    assert outcome_of(sender.touches[NUMBER], "en").found == shown
    assert len(queries) == 1
    sender.query_outcomes([session])
    assert len(sender._queries) == (events is None)  # it is asked again
    await asyncio.gather(*sender._queries)
