"""What the console shows of a command of which another copy reaches the daemon."""

from __future__ import annotations

from typing import Any

import msgspec

from common.contract.topics import Topics
from subscribers.console.sending import CommandSender, Touch
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


async def test_the_refusal_of_a_copy_says_nothing_of_the_command() -> None:
    for replies, shown in ROWS:
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
            how="sent",
            at=0.0,
        )
        for reply in replies:
            topic = TOPICS.reply("r1", sender._client)
            sender._on_reply(topic, msgspec.json.encode({"id": NUMBER, **reply}))
        assert sender.touches[NUMBER].how == shown, replies
