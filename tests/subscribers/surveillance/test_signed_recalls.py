"""Where commands must be signed, a recorder asks as a reader of the people file, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.daemon.conftest import daemon as daemon
from tests.daemon.conftest import mosquitto as mosquitto
from tests.daemon.conftest import subscribe as subscribe
from tests.daemon.conftest import tell as tell
from tests.daemon.conftest import wheel as wheel
from tests.support.daemon.play import spin
from tests.support.people.signing import LASA, SIGNED, enrol, give, reader
from tests.support.surveillance.room import Room, told
from tests.support.surveillance.room import rooms as rooms
from tests.support.waiting import until

KEY = """
recall_key = "reader"
recall_passphrase_file = "reader.passphrase"
recall_person = "recorder-1"
"""


def test_a_gap_is_filled_by_an_authorised_reader(
    rooms: Callable[..., Room], tmp_path: Path
) -> None:
    """The broker forgets what it kept for a recorder that is away: only a recall has it."""
    enrol(tmp_path, others=[reader(tmp_path, "recorder-1")])
    room = rooms(people=f"{SIGNED}required = true\n")
    subscriber, recorder = room.subscriber, room.recorder
    assert give(subscriber, LASA, "session.open", minimum=500)["ok"]
    spin(room.wheel, subscriber, "17", 2)
    before = len(told(room.journal))

    recorder.start()  # it has no key
    recorder.until_logged("a recall is refused")
    until("it says so", lambda: "sign" in (room.health()["sites"]["palma"]["trouble"] or ""))
    assert len(recorder.events()) < before
    assert recorder.stop() == 0
    refused = recorder.logged("a recall is refused")

    recorder.file.write_text(f"{recorder.file.read_text()}{KEY}")
    recorder.start()
    room.until_kept()
    assert recorder.stop() == 0
    spin(room.wheel, subscriber, "32", 3, before="17")
    room.mosquitto.kill()
    room.mosquitto.start()
    until("the daemon is back", lambda: len(room.daemon.logged("broker connected")) == 2)
    kept = len(recorder.events())
    assert kept < len(told(room.journal))
    recorder.start()
    room.until_kept()
    until("nothing is refused", lambda: room.health()["sites"]["palma"]["trouble"] is None)
    assert recorder.logged("a recall is refused") == refused
    recalls = [
        message.payload
        for message in subscriber.messages
        if message.topic.endswith("/command/recall")
    ]
    assert [recall[:1] for recall in recalls[:1]] == [b"{"]  # verbatim, and refused
    assert recalls[-1].startswith(b"ey")  # a token with a signature
    assert len(recorder.events()) > kept
    assert recorder.findings() == []
