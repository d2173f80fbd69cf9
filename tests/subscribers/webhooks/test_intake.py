"""What arrives from the broker: in order, with stated gaps, whatever others publish there."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subscribers.feed import event_intake as module
from subscribers.feed.event_intake import EventIntake
from subscribers.feed.following import EventGap
from subscribers.webhooks.outbox import NewLetter
from subscribers.webhooks.routing import letters_for
from subscribers.webhooks.settings import WebhookSettings

ROOT = "novamas/v1/palma"
SHOP = WebhookSettings(id="shop", address="http://shop.example/", secret_file="key")


class Sent:
    """A connection that is up, and what is published on it."""

    up = True

    def __init__(self) -> None:
        self.published: list[tuple[str, Any]] = []

    def send(self, topic: str, body: bytes) -> None:
        self.published.append((topic, msgspec.json.decode(body)))


class Floor:
    """An intake, and what the tables tell it."""

    def __init__(self, **followed: bytes) -> None:
        self.sent = Sent()
        connection: Any = self.sent
        self.intake = EventIntake(
            "palma",
            connection,
            followed={f"{ROOT}/{table}": runs for table, runs in followed.items()},
            client="webhooks",
            signer=None,
        )

    def tell(self, leaf: str, body: Any, table: str = "r1", retained: bool = False) -> None:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        self.intake.on_message(f"{ROOT}/{table}/{leaf}", data, retained)

    def asked(self) -> Any:
        """Send what is due; return the last recall."""
        for table in self.intake.tables.values():
            if table.due is not None:
                table.due = 0.0
        self.intake.send_due(1e12)
        return self.sent.published[-1][1]

    def letters(self, *webhooks: WebhookSettings) -> list[NewLetter]:
        return [
            letter
            for item in self.intake.pending
            for letter in letters_for(item, webhooks or (SHOP,))
        ]


def event(seq: int, boot: str = "b1", kind: str = "round.result", **fields: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "site": "palma",
        "table": "r1",
        "boot": boot,
        "seq": seq,
        "time": "2026-03-20T02:10:15.549646Z",
        **fields,
    }


def test_events_become_requests_with_the_names_of_the_event() -> None:
    floor = Floor()
    floor.tell("state", {"boot": "b1", "seq": 4}, retained=True)
    floor.tell("event", event(5))
    [letter] = floor.letters()
    assert (letter.place, letter.id, letter.type) == (f"{ROOT}/r1", "palma/r1/b1/5", "round.result")
    assert msgspec.json.decode(letter.body) == event(5)


def test_a_missing_event_is_recalled_and_what_is_gone_is_told_to_every_receiver() -> None:
    floor = Floor()
    floor.tell("state", {"boot": "b1", "seq": 4}, retained=True)
    floor.tell("event", event(8))
    asked = floor.asked()
    assert {"boot": "b1", "from": 4, "onward": True, "client": "webhooks"}.items() <= asked.items()
    reply = {"id": asked["id"], "ok": True, "events": [event(7), event(8)]}
    floor.tell("reply/webhooks", reply)
    deaf = msgspec.structs.replace(SHOP, id="deaf", events=("round.void",))
    told = floor.letters(SHOP, deaf)
    assert [(letter.webhook, letter.type) for letter in told] == [
        ("shop", "gap"),
        ("deaf", "gap"),
        ("shop", "round.result"),
        ("shop", "round.result"),
    ]
    body = msgspec.json.decode(told[0].body)
    assert (body["after"], body["before"]) == ({"boot": "b1", "seq": 4}, {"boot": "b1", "seq": 7})
    assert told[0].id == "palma/r1/gap/b1.4-b1.7"
    assert floor.intake.gaps == 1


def test_a_new_program_continues_where_the_outbox_ends() -> None:
    floor = Floor()
    floor.tell("state", {"boot": "b1", "seq": 4}, retained=True)
    floor.tell("event", event(5))
    runs = msgspec.json.encode(floor.intake.pending[-1].runs)
    later = Floor(r1=runs)
    later.tell("state", {"boot": "b2", "seq": 1}, retained=True)
    asked = later.asked()
    assert (asked["boot"], asked["from"]) == ("b1", 5)
    reply = {"id": asked["id"], "ok": True, "events": [event(5), event(6), event(1, "b2")]}
    later.tell("reply/webhooks", reply)
    assert [letter.id for letter in later.letters()] == ["palma/r1/b1/6", "palma/r1/b2/1"]


def test_filters() -> None:
    floor = Floor()
    floor.tell("event", event(5))
    for changes, count in (
        ({"tables": ("r1",)}, 1),
        ({"tables": ("r2",)}, 0),
        ({"events": ("round.result", "round.void")}, 1),
        ({"events": ("round.void",)}, 0),
        ({"simulated": True}, 0),
    ):
        webhook = msgspec.convert(msgspec.to_builtins(SHOP) | changes, WebhookSettings)
        assert len(floor.letters(webhook)) == count, changes


def test_simulated_tables_are_sent_to_who_asked_for_them_alone() -> None:
    floor = Floor()
    floor.intake.on_message(
        "novamas-sim/v1/palma/r1/event", msgspec.json.encode(event(5, simulated=True)), False
    )
    assert not floor.letters()
    simulated = msgspec.structs.replace(SHOP, simulated=True)
    assert [letter.place for letter in floor.letters(simulated)] == ["novamas-sim/v1/palma/r1"]


def test_a_refused_recall_is_reported_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "UNHEARD_SECONDS", 0.0)
    floor = Floor()
    floor.tell("event", event(5))
    floor.tell("event", event(7))
    asked = floor.asked()
    floor.tell("reply/webhooks", {"id": asked["id"], "ok": False, "error": "sign it"})
    assert floor.intake.unheard(1e12) == {"r1": "sign it"}
    asked = floor.asked()
    reply = {"id": asked["id"], "ok": True, "events": [event(5), event(6), event(7)]}
    floor.tell("reply/webhooks", reply)
    assert floor.intake.unheard(1e12) == {}


def test_while_the_disk_takes_nothing_events_are_left_to_the_journals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_PENDING", 2)
    floor = Floor()
    for seq in range(1, 6):
        floor.tell("event", event(seq))
    assert len(floor.intake.pending) == 2
    floor.tell("state", {"boot": "b1", "seq": 5}, retained=True)
    floor.intake.send_due(1e12)
    assert not floor.sent.published
    floor.intake.pending.clear()
    assert floor.asked()["from"] == 2


HOSTILE = st.one_of(
    st.binary(max_size=60),
    st.builds(
        lambda field, value: msgspec.json.encode(event(5) | {field: value}),
        st.sampled_from(("site", "table", "boot", "seq", "type", "time")),
        st.one_of(st.text(max_size=20), st.integers(), st.none(), st.lists(st.integers())),
    ),
    st.builds(
        lambda events: msgspec.json.encode({"id": 1, "ok": True, "events": events}),
        st.lists(st.one_of(st.integers(), st.just(event(5)), st.text(max_size=5)), max_size=3),
    ),
)


@given(
    st.lists(st.tuples(st.sampled_from(("event", "state", "reply/webhooks")), HOSTILE), max_size=6)
)
def test_no_message_ends_the_service_or_breaks_a_header(messages: list[tuple[str, bytes]]) -> None:
    floor = Floor()
    for leaf, body in messages:
        floor.tell(leaf, body)
    for letter in floor.letters():
        assert letter.id.isascii()
        assert letter.id.isprintable()
        assert not set(" \r\n") & set(letter.id + letter.type + letter.time)
    assert not any(
        isinstance(each.item, EventGap) and each.item.after == each.item.before
        for each in floor.intake.pending
    )
