"""Command messages."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields

from common.contract.commands import COMMANDS, RoundVoid
from common.contract.notation import read_input, write
from common.contract.orders import (
    MAX_BODY_BYTES,
    DeviceOrder,
    Recall,
    Reply,
    Sender,
    UnreadableCommandError,
    read_order,
)
from common.contract.topics import Topics, level
from tests.support.for_each import for_each

HEAD = {"by": "M. Lasa", "role": "table_head"}


def order(name: str, **fields: Any) -> Any:
    return read_order(name, json.dumps(fields).encode(), 12.5)


def test_the_topic_names_the_command_and_the_table_stamps_it() -> None:
    sender, command = order("round-void", **HEAD, reason="ball_out", client="desk-7", id={"n": 1})
    assert sender == Sender("desk-7", {"n": 1})
    assert command == RoundVoid(at=12.5, by="M. Lasa", role="table_head", reason="ball_out")


def test_orders_to_a_device_and_recalls() -> None:
    assert order("device-command", **HEAD, device="wheel", command="power_on")[1] == DeviceOrder(
        command="power_on", device="wheel", by="M. Lasa", role="table_head"
    )
    assert order("recall", boot="b", **{"from": 8})[1] == Recall(boot="b", first=8)


@for_each(
    ("name", "fields", "message"),
    [
        ("round-void", {**HEAD, "reason": "weather"}, "weather"),
        ("round-void", {**HEAD}, "reason"),
        ("round-void", {**HEAD, "reason": "ball_out", "type": "x"}, "type: leave out of the body"),
        ("round-void", {**HEAD, "reason": "ball_out", "client": "a/b"}, "client"),
        ("round-void", {**HEAD, "reason": "ball_out", "client": 7}, "client"),
        ("link.up", {"device": "wheel"}, "no command 'link.up'"),
        ("recall", {"boot": "b", "from": 1, "limit": 1000}, "limit"),
        (
            "round-void",
            {**HEAD, "raison": "ball_out"},
            r"unknown key raison; did you mean `reason`\?",
        ),
        (
            "session-close",
            {**HEAD, "role": "player"},
            r"role: unknown value .player.; there are: croupier, table_head, inspector, director,",
        ),
        (
            "device-command",
            {**HEAD, "devise": "wheel"},
            r"unknown key devise; did you mean `device`\?",
        ),
        (
            "recall",
            {"boot": "b", "from": 1, "until": 7},
            r"unknown key until; there are: boot, from, to, onward, limit",
        ),
    ],
)
def test_a_mistake_is_named(name: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UnreadableCommandError, match=message):
        order(name, **fields)


def test_the_sender_of_a_wrong_command_is_identified() -> None:
    with pytest.raises(UnreadableCommandError) as caught:
        order("bets.steal", client="t", id=3)
    assert caught.value.sender == Sender("t", 3)


@given(
    st.sampled_from(
        [*(level(str(c.__struct_config__.tag)) for c in COMMANDS), "recall", "device-x", "", "+"]
    ),
    st.binary(max_size=200),
)
def test_no_bytes_raise_anything_else(name: str, body: bytes) -> None:
    with suppress(UnreadableCommandError):
        read_order(name, body, 0.0)


def test_a_body_is_bounded() -> None:
    with pytest.raises(UnreadableCommandError, match=str(MAX_BODY_BYTES)):
        read_order("round-void", b" " * (MAX_BODY_BYTES + 1), 0.0)


@for_each("depth", [17, 400, 990, 8000])
@for_each("key", ["id", "by", "note", "client", "f"])
def test_deeply_nested_brackets_are_refused(key: str, depth: int) -> None:
    body = b'{"%b":%b%b}' % (key.encode(), b"[" * depth, b"]" * depth)
    with pytest.raises(UnreadableCommandError):
        read_order("session.open", body, 1.0)


def test_a_value_that_is_echoed_may_be_structured() -> None:
    told = [[[[[[[[{"n": {"m": 1}}]]]]]]]]
    assert order("session-open", **HEAD, id=told)[0].id == told


HOSTILE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inside: (
        st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4)
    ),
    max_leaves=12,
)
KINDS: tuple[type[msgspec.Struct], ...] = (*COMMANDS, Recall, DeviceOrder)
KEYS = sorted({field.encode_name for kind in KINDS for field in fields(kind)} | {"id", "client"})
NAMES = sorted(level(str(kind.__struct_config__.tag)) for kind in COMMANDS)


@given(
    st.sampled_from([*NAMES, "recall", "device-command"]),
    st.dictionaries(st.sampled_from(KEYS), HOSTILE, max_size=8),
)
def test_any_value_of_any_field_is_accepted_or_refused_and_can_be_answered(
    name: str, given_fields: dict[str, Any]
) -> None:
    said = {**HEAD, **given_fields}
    try:
        sender, command = read_order(name, json.dumps(said).encode(), 1.0)
    except UnreadableCommandError as bad:
        sender, command = bad.sender, None
    assert msgspec.json.decode(msgspec.json.encode(Reply(id=sender.id, ok=True))) is not None
    if command is not None and not isinstance(command, Recall | DeviceOrder):
        assert read_input(write(command)) == command


SPELLED = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""A level of a topic that no broker changes or refuses."""


def test_every_topic_keeps_to_what_all_brokers_allow() -> None:
    topics = Topics("casino-mayor")
    commands = [topics.command("ruleta-1", str(kind.__struct_config__.tag)) for kind in COMMANDS]
    leaves = (
        "info",
        "state",
        "result",
        "history",
        "shoe",
        "event",
        "sealed",
        "alert/wheel-link",
        "command/recall",
    )
    tables = [topics.table("ruleta-1", leaf) for leaf in leaves]
    nodes = [topics.node("node-1", leaf) for leaf in ("status", "claim", "health", "checkpoint")]
    levels = {part for topic in (*commands, *tables, *nodes) for part in topic.split("/")}
    assert [part for part in sorted(levels) if not SPELLED.fullmatch(part)] == []
    assert len(set(commands)) == len(COMMANDS)


def test_a_client_has_no_dot() -> None:
    with pytest.raises(
        UnreadableCommandError, match="client: use 1 to 64 letters, digits, hyphens and underscores"
    ):
        order("session-open", **HEAD, client="desk.7")
