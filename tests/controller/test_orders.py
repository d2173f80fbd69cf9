"""Command messages."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.commands import COMMANDS, RoundVoid
from controller.orders import LARGEST, DeviceOrder, Recall, Sender, Unreadable, read_order

HEAD = {"by": "M. Lasa", "role": "table_head"}


def order(name: str, **fields: Any) -> Any:
    return read_order(name, json.dumps(fields).encode(), 12.5)


def test_the_topic_names_the_command_and_the_table_stamps_it() -> None:
    sender, command = order("round.void", **HEAD, reason="ball_out", client="desk-7", id={"n": 1})
    assert sender == Sender("desk-7", {"n": 1})
    assert command == RoundVoid(at=12.5, by="M. Lasa", role="table_head", reason="ball_out")


def test_orders_to_a_device_and_recalls() -> None:
    assert order("device.power_on", **HEAD, device="wheel")[1] == DeviceOrder(
        command="power_on", device="wheel", by="M. Lasa", role="table_head"
    )
    assert order("recall", boot="b", **{"from": 8})[1] == Recall(boot="b", first=8)


@pytest.mark.parametrize(
    ("name", "fields", "told"),
    [
        ("round.void", {**HEAD, "reason": "weather"}, "weather"),
        ("round.void", {**HEAD}, "reason"),
        ("round.void", {**HEAD, "reason": "ball_out", "type": "x"}, "type: not in the body"),
        ("round.void", {**HEAD, "reason": "ball_out", "client": "a/b"}, "client"),
        ("round.void", {**HEAD, "reason": "ball_out", "client": 7}, "client"),
        ("link.up", {"device": "wheel"}, "no command 'link.up'"),
        ("recall", {"boot": "b", "from": 1, "limit": 1000}, "limit"),
        ("round.void", {**HEAD, "raison": "ball_out"}, r"unknown field `raison`; is `reason` meant\?"),
        (
            "session.close",
            {**HEAD, "role": "player"},
            r"`\$\.role`; there are: croupier, table_head, inspector, director, technician",
        ),
        ("device.power_on", {**HEAD, "devise": "wheel"}, r"unknown field `devise`; is `device` meant\?"),
        ("recall", {"boot": "b", "from": 1, "until": 7}, r"unknown field `until`; there are: boot, from, to, onward, limit"),
    ],
)
def test_what_is_wrong_is_named(name: str, fields: dict[str, Any], told: str) -> None:
    with pytest.raises(Unreadable, match=told):
        order(name, **fields)


def test_whoever_asks_wrongly_is_known_all_the_same() -> None:
    with pytest.raises(Unreadable) as caught:
        order("bets.steal", client="t", id=3)
    assert caught.value.sender == Sender("t", 3)


@given(
    st.sampled_from([*(str(c.__struct_config__.tag) for c in COMMANDS), "recall", "device.x", "", "+"]),
    st.binary(max_size=200),
)
def test_no_bytes_raise_anything_else(name: str, body: bytes) -> None:
    with suppress(Unreadable):
        read_order(name, body, 0.0)


def test_a_body_is_bounded() -> None:
    with pytest.raises(Unreadable, match=str(LARGEST)):
        read_order("round.void", b" " * (LARGEST + 1), 0.0)
