"""The names of aiomqtt and paho that are not public and that this program depends on. All of them
are in one file; each test says what a new release of either library broke.
"""

from __future__ import annotations

import ast
import asyncio
import gc
import inspect
import pkgutil
import re
import textwrap
from collections import deque
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import aiomqtt
import paho.mqtt.client as paho
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paho.mqtt.enums import CallbackAPIVersion

import common
import controller
import devices
import simulators
import subscribers
from common.broker import library

CLIENT_NAMES = re.compile(r"aiomqtt|paho|BrokerClient|LibraryClient|PublisherConnection")
METHODS = {
    "_sock_recv": (["self", "bufsize"], "received bytes are no longer read at once, nor bounded"),
    "_loop": (["self", "timeout"], "it is not known since when a packet has waited"),
    "_sock_send": (
        ["self", "buf"],
        "the daemon does not stop before a write after its lease ended",
    ),
    "_packet_write": (["self"], "two threads may write into each other's packets"),
    "_sock_close": (["self"], "a thread may write to a descriptor that is another file's by then"),
    "_handle_publish": (["self"], "a message that paho cannot parse ends the connection"),
    "_handle_pubackcomp": (["self", "cmd"], "the journal is not told what the broker acknowledged"),
    "_send_puback": (["self", "mid"], "a message that paho cannot parse comes again for ever"),
    "_create_socket_connection": (["self"], "simulated worlds cannot connect in memory"),
}
"""Of paho's client: parameters, and what does not work without it."""
AIOMQTT: dict[str, tuple[Any, str]] = {
    "_client": (paho.Client, "paho's client cannot be reached"),
    "_connected": (asyncio.Future, "a connection that ends early is waited for until the timeout"),
    "_disconnected": (asyncio.Future, "a lost connection is not noticed"),
    "_misc_task": ((asyncio.Task, type(None)), "a connection cannot be abandoned with its will"),
}
"""Of aiomqtt's client: type, and what does not work without it."""


@pytest.mark.parametrize("name", METHODS)
def test_paho_has_the_method(name: str) -> None:
    parameters, broken = METHODS[name]
    method = getattr(paho.Client, name, None)
    assert method is not None, f"paho.Client.{name} is gone: {broken}"
    assert list(inspect.signature(method).parameters) == parameters, f"paho.Client.{name}: {broken}"


@pytest.mark.parametrize(
    ("caller", "called"),
    [
        ("loop_forever", "_loop"),
        ("_packet_read", "_sock_recv"),
        ("_packet_write", "_sock_send"),
        ("loop_write", "_packet_write"),
        ("loop_misc", "_sock_close"),
        ("_packet_handle", "_handle_publish"),
        ("_packet_handle", "_handle_pubackcomp"),
    ],
)
def test_paho_calls_the_method_that_is_overridden(caller: str, called: str) -> None:
    body = ast.parse(textwrap.dedent(inspect.getsource(getattr(paho.Client, caller))))
    names = {node.attr for node in ast.walk(body) if isinstance(node, ast.Attribute)}
    assert called in names, f"paho no longer calls {called}: {METHODS[called][1]}"


def test_paho_keeps_the_packet_that_it_reads() -> None:
    packet: Any = getattr(paho_client(), "_in_packet", None)
    assert isinstance(packet, dict), "paho.Client._in_packet: packets cannot be read here"
    assert isinstance(packet.get("packet"), bytearray), "_in_packet['packet'] cannot be cut"
    assert isinstance(packet.get("command"), int), "_in_packet['command'] has no QoS"


def test_paho_notes_when_it_last_received_something() -> None:
    client = paho_client()
    assert isinstance(getattr(client, "_last_bytes_received", None), float), "no keepalive is sent"
    assert hasattr(client, "_msgtime_mutex")
    assert callable(getattr(paho, "time_func", None))


class Arriving:
    """A socket at which pieces arrive one by one, and then none."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    def recv(self, size: int) -> bytes:
        if not self.pieces:
            raise BlockingIOError
        piece = self.pieces.pop(0)
        if piece[size:]:
            self.pieces.insert(0, piece[size:])
        return piece[:size]


PACKETS = (
    b"\x40\x02\x00\x01",
    b"\x40\x03\x12\x34\x87",
    b"\x40\x04\xff\xff\x10\x00",
    b"\x40\x00",  # too short to name a message
    b"\x40\x01\x07",
    b"\x40\x85\x00\x00\x05\x80\x00\x00",  # its length takes two bytes
    b"\xd0\x00",
)


def acknowledged(kind: type[library.PublishingClient], pieces: list[bytes]) -> list[Any]:
    """Return what a client reports of the pieces, and how each read ends."""
    client: Any = kind(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
    arriving = client._sock = Arriving(list(pieces))
    found: list[Any] = []
    client.acknowledge = lambda packet_id, reason: found.append((packet_id, reason))
    while arriving.pieces or client._read < len(client._received):
        if rc := client.loop_read():
            found.append(rc)
    client._sock = None
    return found


class ReadByPaho(library.PublishingClient):
    """Each PUBACK goes through the library."""

    def _handle_received(self) -> bool:
        return False


@given(st.lists(st.sampled_from(PACKETS), max_size=12), st.lists(st.integers(1, 9), max_size=40))
def test_acknowledgements_are_read_as_paho_reads_them(
    packets: list[bytes], cuts: list[int]
) -> None:
    stream, pieces = b"".join(packets), list[bytes]()
    for cut in cuts:
        pieces.append(stream[:cut])
        stream = stream[cut:]
    pieces = [piece for piece in [*pieces, stream] if piece]
    assert acknowledged(library.PublishingClient, pieces) == acknowledged(ReadByPaho, pieces)


def test_paho_queues_packets_as_this_program_does(monkeypatch: pytest.MonkeyPatch) -> None:
    client = library.PublishingClient(CallbackAPIVersion.VERSION2)
    queue: Any = getattr(client, "_out_packet", None)
    assert isinstance(queue, deque), "paho.Client._out_packet: no packet can be queued here"

    def blocks(*_: object) -> int:
        raise BlockingIOError

    monkeypatch.setattr(paho.Client, "_sock_send", blocks)
    assert not client.send(b"packet")
    ours = queue.pop()
    client.on_socket_register_write = lambda *_: None
    client._packet_queue(0x30, b"packet", 0, 1)
    theirs = queue.pop()
    assert ours == theirs, "paho.Client._out_packet: paho's own packets have another form"


class FullSocket:
    """It takes so many bytes, and then blocks."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.taken = b""

    def send(self, data: bytes) -> int:
        if not (part := data[: self.room]):
            raise BlockingIOError
        self.room -= len(part)
        self.taken += part
        return len(part)


@pytest.mark.parametrize(("room", "all_sent"), [(6, True), (4, False), (0, False)])
def test_packets_go_first_or_not_at_all(
    room: int, all_sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = library.PublishingClient(CallbackAPIVersion.VERSION2)
    full = FullSocket(room)
    monkeypatch.setattr(client, "socket", lambda: full)
    assert client.send_first(b"packet") is all_sent
    assert full.taken == b"packet"[:room]
    assert client.want_write() is not all_sent
    full.room = 6
    if not all_sent:
        assert client.send_first(b"other") is None, "it would come before the rest of the packet"
        assert full.taken == b"packet"[:room]


def test_nothing_is_sent_first_on_a_closed_socket() -> None:
    assert library.PublishingClient(CallbackAPIVersion.VERSION2).send_first(b"packet") is None


def test_each_use_of_the_socket_holds_its_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    client = library.PublishingClient(CallbackAPIVersion.VERSION2)
    held = 0

    class Lock:
        def __enter__(self) -> None:
            nonlocal held
            held += 1

        def __exit__(self, *_: object) -> None:
            nonlocal held
            held -= 1

    used: list[str] = []

    def use(name: str, result: object) -> None:
        def used_socket(*_: object) -> object:
            assert held, name
            used.append(name)
            return result

        monkeypatch.setattr(paho.Client, name, used_socket)

    client.socket_lock = Lock()
    use("_sock_recv", b"x")
    use("_sock_send", 6)
    use("_sock_close", None)
    use("_packet_write", 0)
    client._sock_recv(1)
    client.send(b"packet")
    client._sock_close()
    client._packet_write()
    assert used == ["_sock_recv", "_sock_send", "_sock_close", "_packet_write"]


async def test_an_end_that_nobody_awaits_is_not_logged_as_a_bug() -> None:
    """A connection may be lost just when its client stops waiting for it."""
    logged: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context))
    client = library.LibraryClient("127.0.0.1", 1)
    client.fail(OSError("gone"))
    with pytest.raises(OSError, match="gone"):
        await client.ended
    client = library.LibraryClient("127.0.0.1", 1)
    client.fail(OSError("gone"))
    await asyncio.sleep(0)
    del client
    gc.collect()
    assert logged == []


async def test_aiomqtt_has_what_is_read_and_set_here() -> None:
    client = aiomqtt.Client("localhost")
    for name, (kind, broken) in AIOMQTT.items():
        assert hasattr(client, name), f"aiomqtt.Client.{name} is gone: {broken}"
        assert isinstance(getattr(client, name), kind), f"aiomqtt.Client.{name}: {broken}"


def test_aiomqtt_waits_with_the_method_that_is_overridden() -> None:
    method = getattr(aiomqtt.Client, "_wait_for", None)
    broken = "aiomqtt.Client._wait_for: a cancellation that comes with a reply is lost"
    assert method is not None, broken
    assert list(inspect.signature(method).parameters) == ["self", "fut", "timeout"], broken


def test_aiomqtt_checks_the_keepalive_with_the_method_that_is_overridden() -> None:
    method = getattr(aiomqtt.Client, "_misc_loop", None)
    broken = "aiomqtt.Client._misc_loop: a short keepalive ends the connection"
    assert method is not None, broken
    assert "loop_misc()" in inspect.getsource(method), broken


async def test_aiomqtt_sets_the_callbacks_that_are_wrapped_here() -> None:
    """They are public, but they must be set when ``LibraryClient`` wraps them."""
    client = aiomqtt.Client("localhost")
    for name in ("on_connect", "on_disconnect", "on_message", "on_socket_register_write"):
        assert callable(getattr(client._client, name)), f"aiomqtt does not set {name} at once"


def test_no_other_file_uses_a_private_name_of_a_client() -> None:
    found = [
        f"{module.__name__}.{kind.__name__}.{name}"
        for module in modules()
        for kind in clients(module)
        for name in sorted(private_names(kind))
    ]
    assert found == []


def modules() -> Iterator[ModuleType]:
    for package in (common, controller, devices, simulators, subscribers):
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            spec = each.module_finder.find_spec(each.name, None)
            source = "" if spec is None or spec.origin is None else Path(spec.origin).read_text()
            if CLIENT_NAMES.search(source) and each.name != library.__name__:
                yield import_module(each.name)


def clients(module: ModuleType) -> Iterator[type]:
    """The clients of either library that a module defines."""
    for kind in vars(module).values():
        is_own = isinstance(kind, type) and kind.__module__ == module.__name__
        if is_own and issubclass(kind, (aiomqtt.Client, paho.Client)):
            yield kind


def private_names(kind: type) -> set[str]:
    """Names of the libraries that a class uses or overrides."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    used = {node.attr for node in ast.walk(body) if isinstance(node, ast.Attribute)}
    used |= {node.name for node in ast.walk(body) if isinstance(node, ast.FunctionDef)}
    theirs = set().union(*(LIBRARY_NAMES.get(base, set()) for base in kind.__mro__))
    return {name for name in used & theirs if name.startswith("_") and name[:2] != "__"}


def paho_client() -> paho.Client:
    return paho.Client(CallbackAPIVersion.VERSION2)


def names_of(module: ModuleType, kind: type) -> set[str]:
    """Attributes of a library's client: those of its class, and those that its code sets."""
    tree = ast.walk(ast.parse(inspect.getsource(module)))
    attributes = (node for node in tree if isinstance(node, ast.Attribute))
    return {node.attr for node in attributes if isinstance(node.ctx, ast.Store)} | set(dir(kind))


LIBRARY_NAMES = {
    aiomqtt.Client: names_of(aiomqtt.client, aiomqtt.Client),
    paho.Client: names_of(paho, paho.Client),
}
