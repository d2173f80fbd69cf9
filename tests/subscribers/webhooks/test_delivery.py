"""Sending to one receiver: order, pauses, dead letters, keys; a bad receiver delays no other."""

from __future__ import annotations

import base64
import hashlib
import hmac
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from subscribers.webhooks import delivery as module
from subscribers.webhooks import lanes as lanes_module
from subscribers.webhooks.adapter import Adapter, WebhookBody, as_published
from subscribers.webhooks.delivery import WebhookDelivery
from subscribers.webhooks.outbox import NewLetter, Outbox
from subscribers.webhooks.settings import WebhookSettings
from tests.support.video.receivers import HTTPReceiver, Request
from tests.support.waiting import until
from tests.support.webhooks.program import first_of_each, secret

SITE = "novamas/v1/palma"
Answers = Callable[[Request], tuple[int, Any]]


def letters(webhook: str, table: str, *numbers: int) -> list[NewLetter]:
    place = f"{SITE}/{table}"
    return [
        NewLetter(
            webhook,
            place,
            f"palma/{table}/b1/{seq}",
            "round.result",
            f"2026-01-01T00:00:{seq:02}Z",
            b'{"table":"%s","boot":"b1","seq":%d}' % (table.encode(), seq),
        )
        for seq in numbers
    ]


class Sending:
    """An outbox, and receivers that get what is in it."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self.outbox = Outbox(folder / "webhooks.sqlite3", service=True)
        self.file = secret(folder)

    def receive(self, answers: Answers | None = None) -> HTTPReceiver:
        made = HTTPReceiver(answers)
        self._stack.callback(made.stop)
        return made

    def start(
        self, name: str, address: str, adapter: Adapter = as_published, **changes: Any
    ) -> WebhookDelivery:
        settings = WebhookSettings(
            **{"id": name, "address": address or None, "secret_file": str(self.file), **changes}
        )
        made = WebhookDelivery(settings, self.outbox, adapter)
        threads = made.start()
        for thread in threads:
            self._stack.callback(thread.join)
        self._stack.callback(made.lanes.end)
        made.lanes.add(self.outbox.places(name))
        return made


@pytest.fixture
def sending(tmp_path: Path, ending: ExitStack, monkeypatch: pytest.MonkeyPatch) -> Sending:
    monkeypatch.setattr(lanes_module, "MIN_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(lanes_module, "MAX_RETRY_SECONDS", 0.05)
    return Sending(tmp_path, ending)


def numbers(receiver: HTTPReceiver) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for request in first_of_each(receiver):
        found[request.told["table"]].append(request.told["seq"])
    return dict(found)


def test_a_flaky_receiver_gets_each_tables_events_in_order(sending: Sending) -> None:
    count = iter(range(10_000))
    receiver = sending.receive(lambda _: (503 if next(count) % 3 else 200, {}))
    for table in ("r1", "r2", "r3"):
        sending.outbox.add(letters("shop", table, *range(1, 15)), {})
    sending.start("shop", receiver.address)
    until("all came", lambda: not sending.outbox.states())
    assert numbers(receiver) == {table: list(range(1, 15)) for table in ("r1", "r2", "r3")}


def test_a_refused_event_is_a_dead_letter_and_the_next_one_comes(
    sending: Sending,
) -> None:
    receiver = sending.receive(
        lambda request: (400 if request.told["seq"] == 2 else 200, {"no": 1})
    )
    sending.outbox.add(letters("shop", "r1", 1, 2, 3), {})
    delivery = sending.start("shop", receiver.address)
    until("the others came", lambda: delivery.state.sent == 2)
    [dead] = sending.outbox.dead_letters()
    assert dead.id == "palma/r1/b1/2"
    assert "replied 400" in dead.why
    receiver.answers = lambda _: (200, {})
    sending.outbox.revive([dead.number])
    delivery.lanes.add(sending.outbox.places("shop"))
    until("it came", lambda: delivery.state.sent == 3)
    assert numbers(receiver) == {"r1": [1, 3, 2]}


def test_an_event_that_breaks_the_receiver_holds_up_its_own_table_alone_and_not_for_ever(
    sending: Sending,
) -> None:
    poison = threading.Event()
    receiver = sending.receive(
        lambda request: (
            (500, {})
            if (request.told["table"], request.told["seq"]) == ("r1", 1) and not poison.is_set()
            else (200, {})
        )
    )
    sending.outbox.add(letters("shop", "r1", 1, 2) + letters("shop", "r2", 1, 2, 3), {})
    delivery = sending.start("shop", receiver.address)
    until("the other table's came", lambda: len(numbers(receiver).get("r2", [])) == 3)
    until("it is a dead letter", sending.outbox.dead_letters)
    until("the next came", lambda: numbers(receiver).get("r1") == [2])
    assert sending.outbox.dead_letters()[0].attempts == module.MAX_ATTEMPTS_ALONE + 1
    assert delivery.state.failed >= module.MAX_ATTEMPTS_ALONE


def test_a_receiver_that_refuses_everything_makes_no_dead_letters(
    sending: Sending,
) -> None:
    broken = threading.Event()
    receiver = sending.receive(lambda _: (200 if broken.is_set() else 500, {}))
    sending.outbox.add(letters("shop", "r1", 1, 2), {})
    delivery = sending.start("shop", receiver.address)
    until("many attempts", lambda: delivery.state.failed > 2 * module.MAX_ATTEMPTS_ALONE)
    assert not sending.outbox.dead_letters()
    assert "replied 500" in delivery.state.trouble
    broken.set()
    until("all came", lambda: delivery.state.sent == 2)
    assert not delivery.state.trouble


def test_after_days_of_failures_what_is_old_is_given_up(sending: Sending) -> None:
    receiver = sending.receive(lambda _: (503, {}))
    sending.outbox.add(letters("shop", "r1", 1, 2), {})
    sending.start("shop", receiver.address, give_up_after=0.0001)
    until("both are dead letters", lambda: len(sending.outbox.dead_letters()) == 2)


def test_a_stuck_receiver_delays_no_other(sending: Sending) -> None:
    stuck = threading.Event()

    def never(_: Request) -> tuple[int, Any]:
        stuck.wait()
        return 200, {}

    slow, quick = sending.receive(never), sending.receive()
    for name in ("slow", "quick"):
        sending.outbox.add(letters(name, "r1", *range(1, 21)), {})
    try:
        behind = sending.start("slow", slow.address)
        ahead = sending.start("quick", quick.address)
        until("the other has all", lambda: ahead.state.sent == 20)
        assert behind.state.sent == 0
    finally:
        stuck.set()
    until("it continues", lambda: behind.state.sent == 20)


def test_while_keys_change_both_sign(sending: Sending) -> None:
    receiver = sending.receive()
    keys = [b"n" * 32, b"o" * 32]
    sending.file.write_text("".join(f"whsec_{base64.b64encode(key).decode()}\n" for key in keys))
    sending.outbox.add(letters("shop", "r1", 1), {})
    delivery = sending.start("shop", receiver.address)
    until("it came", lambda: delivery.state.sent == 1)
    [request] = receiver.requests
    signed = b".".join(
        [
            request.headers["webhook-id"].encode(),
            request.headers["webhook-timestamp"].encode(),
            request.body,
        ]
    )
    assert request.headers["webhook-signature"].split() == [
        "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys
    ]


GOOD_KEY = f"whsec_{base64.b64encode(b'k' * 24).decode()}"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "has 0 keys"),
        ("a\nb\nc\n", "has 3 keys"),
        ("whsec_no-base64!", "key 1 is not whsec_ followed by base64"),
        ("any text of a person, long or short", "key 1 is not whsec_ followed by base64"),
        (f"{GOOD_KEY}\nhunter2\n", "key 2 is not whsec_ followed by base64"),
        ("whsec_c2hvcnQ=", "key 1 has 5 bytes, expected 24 to 64"),
        (f"whsec_{base64.b64encode(bytes(65)).decode()}", "key 1 has 65 bytes"),
        (None, "the secret cannot be read: No such file"),
    ],
)
def test_without_a_usable_key_nothing_is_sent_and_the_reason_is_given(
    content: str | None, reason: str, sending: Sending
) -> None:
    receiver = sending.receive()
    if content is None:
        sending.file.unlink()
    else:
        sending.file.write_text(content)
    sending.outbox.add(letters("shop", "r1", 1), {})
    delivery = sending.start("shop", receiver.address)
    until("it waits", lambda: reason in delivery.state.trouble)
    assert not receiver.requests
    secret(sending.folder)
    until("it came", lambda: delivery.state.sent == 1)


def test_an_adapter_changes_the_body_and_leaves_out_events(sending: Sending) -> None:
    receiver = sending.receive()

    def adapter(event: Any) -> WebhookBody | None:
        if event.id.endswith("/1"):
            return None
        if event.id.endswith("/2"):
            raise KeyError(event.body)
        return WebhookBody(body=b'{"told":1}', content_type="application/vnd.acme+json")

    sending.outbox.add(letters("shop", "r1", 1, 2, 3), {})
    delivery = sending.start("shop", receiver.address, adapter)
    until("the third came", lambda: len(receiver.requests) == 1)
    until("the others are done", lambda: not sending.outbox.next("shop", f"{SITE}/r1"))
    [request] = receiver.requests
    assert request.body == b'{"told":1}'
    assert request.headers["content-type"] == "application/vnd.acme+json"
    assert [each.why for each in sending.outbox.dead_letters()] == [
        "the adapter failed with KeyError; call its author"
    ]
    assert delivery.state.refused == 1


def test_an_address_in_a_file_is_never_shown(sending: Sending) -> None:
    receiver = sending.receive(lambda _: (503, {}))
    file = sending.folder / "address"
    file.write_text(f"{receiver.address}/hidden-token\n")
    sending.outbox.add(letters("shop", "r1", 1), {})
    delivery = sending.start("shop", "", address_file=str(file))
    until("it waits", lambda: delivery.state.trouble)
    assert "hidden-token" not in delivery.state.trouble
    receiver.answers = lambda _: (200, {})
    until("it came", lambda: delivery.state.sent == 1)
    assert receiver.requests[0].path == "/hidden-token"
