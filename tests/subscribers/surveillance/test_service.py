"""The recorder with a real daemon and a real broker: every message is stored, once, verbatim."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from common.chain.checkpoint import checkpoint_path, key_path
from common.contract.messages.messages import word
from common.contract.times import format_utc
from subscribers.statistics.health import HealthFinding
from subscribers.statistics.watch import finding_of
from subscribers.surveillance.findings import changed_key
from subscribers.surveillance.open_archive import open_archive
from tests.controller.proof.test_audit import forge
from tests.daemon.conftest import daemon as daemon
from tests.daemon.conftest import mosquitto as mosquitto
from tests.daemon.conftest import subscribe as subscribe
from tests.daemon.conftest import tell as tell
from tests.daemon.conftest import wheel as wheel
from tests.support.daemon.play import TABLE, command, spin, until_up
from tests.support.surveillance.room import (
    RECORDER_TIMEOUT_SECONDS,
    Room,
    edit,
    has_last_checkpoint,
    signed,
)
from tests.support.surveillance.room import room as room
from tests.support.surveillance.room import rooms as rooms
from tests.support.waiting import until


@pytest.mark.essential
def test_every_message_is_stored(room: Room) -> None:
    """Also messages from before the recorder's first start, and while it was away."""
    subscriber, recorder = room.subscriber, room.recorder
    recorder.start()
    recorder.until_logged("connected")
    command(subscriber, "session.open")
    spin(room.wheel, subscriber, "17", 2)
    room.until_kept()
    kinds = {each.kind for each in recorder.found()}
    assert kinds >= {"event", "checkpoint", "reply", "info"}
    [result] = recorder.found(types=("round.result",))
    assert (result.table, result.session, result.round, result.site) == ("r1", 1, 1, "palma")
    assert json.loads(result.body)["outcome"]["number"] == 17
    assert recorder.stop() == 0
    until(
        "the farewell", lambda: subscriber.latest("node/surveillance/status")["status"] == "offline"
    )
    spin(room.wheel, subscriber, "32", 3, before="17")
    recorder.start()
    room.until_kept()
    assert recorder.findings() == []

    room.wheel.unplug()
    until("the alert", lambda: recorder.found(kinds=("alert",)), recorder.log)
    room.daemon.kill()
    room.wheel.plug()
    room.daemon.start()
    until_up(subscriber, room.daemon)
    spin(room.wheel, subscriber, " 0", 4, before="32")
    room.until_kept()
    until(
        "the alert is over",
        lambda: recorder.found(kinds=("alert",), words=("cleared",)),
        recorder.log,
    )
    assert recorder.findings() == []
    with urllib.request.urlopen(f"http://127.0.0.1:{room.port}/metrics") as answer:
        told = answer.read().decode()
    assert 'novamas_surveillance_broker_connected{site="palma"} 1.0' in told
    with urllib.request.urlopen(f"http://127.0.0.1:{room.port}/health") as answer:
        assert json.load(answer)["trouble"] is None


def test_bad_messages_end_nothing(room: Room) -> None:
    subscriber, recorder = room.subscriber, room.recorder
    recorder.start()
    recorder.until_logged("connected")
    for topic, body in (
        ("event", b"no json"),
        ("event", b"[" * 100_000),
        ("event", b'{"type":"x","boot":"b","seq":0,"table":"r1"}'),
        ("event", b'{"type":"x","boot":"b\\u0000","seq":1,"table":"r1"}'),
        ("event", b'{"type":"x","boot":"b","seq":1,"table":"r2"}'),
        ("event", b""),
        ("sealed", b"\xff\xfe"),
        ("alert/x", b'{"alert":7}'),
        ("state", b"{}"),
        ("reply/x", b"null"),
    ):
        subscriber.publish(f"{TABLE}/{topic}", body)
    subscriber.publish("novamas/v1/palma/node/pit-1/checkpoint", b'{"position":-1}')
    command(subscriber, "session.open")
    room.until_kept()
    recorder.signal(signal.SIGTERM)
    assert recorder.wait() == 0
    [told] = recorder.logged("a message cannot be read")
    assert "r1/event" in told["topic"]
    assert recorder.findings() == []


def test_the_chain_of_a_journal_is_verified_from_its_beginning(room: Room) -> None:
    """The recorder is there first, so the first checkpoint may be of a journal without entries."""
    subscriber, recorder, daemon = room.subscriber, room.recorder, room.daemon
    assert daemon.stop() == 0
    for path in daemon.folder.glob("journal.sqlite3*"):
        path.unlink()
    subscriber.publish("novamas/v1/palma/node/pit-1/checkpoint", b"", retain=True)
    recorder.start()
    recorder.until_logged("connected")
    subscriber.messages.clear()
    daemon.start()
    until_up(subscriber, daemon)
    command(subscriber, "session.open")
    room.wheel.unplug()  # whatever changes leads to the next checkpoint at once

    def replies() -> list[dict[str, Any]]:
        return [
            message.body
            for message in subscriber.messages
            if "/reply/surveillance-" in message.topic
        ]

    until(
        "the chain",
        lambda: [reply for reply in replies() if reply.get("chain")],
        recorder.log,
        RECORDER_TIMEOUT_SECONDS,
    )
    assert [reply["error"] for reply in replies() if not reply["ok"]] == []


@pytest.mark.essential
def test_a_gap_is_recalled_and_what_differs_is_found(room: Room) -> None:
    """Another client publishes for the table: the first record stays, the difference is shown."""
    subscriber, recorder = room.subscriber, room.recorder
    recorder.start()
    recorder.until_logged("connected")
    command(subscriber, "session.open")
    room.until_kept()
    first = recorder.found(kinds=("event",))[0]
    other = json.loads(first.body) | {"type": "round.result", "round": 9}
    subscriber.publish(f"{TABLE}/event", other)
    until("the finding", lambda: recorder.findings() == ["event_differs"], recorder.log)
    room.until_kept()
    alert = until(
        "its alert",
        lambda: [
            message
            for message in subscriber.messages
            if "node/surveillance/alert/event-diff" in message.topic
        ],
    )[0].body
    assert alert["what"] == "surveillance.event_differs"
    assert alert["severity"] == "fault"


def test_an_edit_while_the_daemon_runs_is_an_alarm(room: Room) -> None:
    """The daemon detects that another program wrote, sets the file aside and reports it; so does
    the recorder, which compares new events with its records.
    """
    recorder = room.recorder
    recorder.start()
    command(room.subscriber, "session.open")
    room.until_kept()
    edit(room.journal, "UPDATE entry SET body = replace(body, 'M. Lasa', 'M. Losa')")
    room.wheel.unplug()  # whatever changes leads to the next checkpoint at once
    until(
        "the daemon's alert",
        lambda: recorder.found(kinds=("alert",), types=("journal.foreign",)),
        recorder.log,
        RECORDER_TIMEOUT_SECONDS,
    )
    until(
        "its finding",
        lambda: "journal_replaced" in recorder.findings(),
        recorder.log,
        RECORDER_TIMEOUT_SECONDS,
    )


def test_an_older_copy_in_place_of_a_stopped_journal_is_found(room: Room, tmp_path: Path) -> None:
    subscriber, recorder, daemon = room.subscriber, room.recorder, room.daemon
    recorder.start()
    recorder.until_logged("connected")
    room.until_kept()
    assert daemon.stop() == 0
    older = tmp_path / "older.sqlite3"
    shutil.copy(room.journal, older)
    daemon.start()
    until_up(subscriber, daemon)
    command(subscriber, "session.open")
    spin(room.wheel, subscriber, "17", 2)
    room.until_kept()
    assert daemon.stop() == 0
    until("the last checkpoint", lambda: has_last_checkpoint(recorder, subscriber))
    assert recorder.findings() == []
    shutil.copy(older, room.journal)
    checkpoint_path(room.journal).unlink()
    daemon.start()
    until(
        "an event is unknown",
        lambda: "event_unknown" in recorder.findings(),
        recorder.log,
        RECORDER_TIMEOUT_SECONDS,
    )
    until(
        "it was rolled back",
        lambda: (
            {"journal_rolled_back", "journal_rewritten", "journal_cut"} & {*recorder.findings()}
        ),
        recorder.log,
        RECORDER_TIMEOUT_SECONDS,
    )


def test_a_journal_with_every_hash_recomputed_is_found(room: Room) -> None:
    """By an attacker who owns the daemon's machine, with its signing key, but not the recorder's.
    Then its end is cut.
    """
    subscriber, recorder, daemon = room.subscriber, room.recorder, room.daemon
    recorder.start()
    recorder.until_logged("connected")
    command(subscriber, "session.open")
    spin(room.wheel, subscriber, "17", 2)
    spin(room.wheel, subscriber, "32", 3, before="17")
    room.until_kept()
    assert daemon.stop() == 0
    until("the last checkpoint", lambda: has_last_checkpoint(recorder, subscriber))
    assert recorder.findings() == []
    position, run, seq = of_result(room.journal, 17)
    forge(room.journal, position, '"number":17', '"number":18')
    checkpoint_path(room.journal).unlink()
    daemon.start()
    until_up(subscriber, daemon)
    until(
        "it is named",
        lambda: "event_differs" in recorder.findings(),
        recorder.log,
        RECORDER_TIMEOUT_SECONDS,
    )
    until(
        "so is the journal",
        lambda: "journal_rewritten" in recorder.findings(),
        recorder.log,
        RECORDER_TIMEOUT_SECONDS,
    )
    [differs] = recorder.found(kinds=("finding",), types=("event_differs",))
    assert (differs.table, differs.boot, differs.seq) == ("r1", run, seq)
    evidence = json.loads(differs.body)["evidence"]
    assert '"number":17' in evidence["archived"]
    assert '"number":18' in evidence["said"]
    rewritten = json.loads(recorder.found(types=("journal_rewritten",))[0].body)
    unchanged = rewritten["evidence"]["unchanged"]
    first = 0 if unchanged is None else unchanged["position"]
    assert first < position <= rewritten["evidence"]["signed"]["position"]
    until("its alert", lambda: room.alert("journal-rewritten"))

    kept = recorder.findings()
    assert daemon.stop() == 0
    until("the last checkpoint", lambda: has_last_checkpoint(recorder, subscriber))
    position, run, seq = of_result(room.journal, 32)
    edit(room.journal, f"DELETE FROM entry WHERE position >= {position}")
    checkpoint_path(room.journal).unlink()
    daemon.start()
    gone = {"journal_rolled_back", "journal_rewritten", "journal_cut"}
    until(
        "the cut",
        lambda: gone & {*recorder.findings()[len(kept) :]},
        recorder.log,
        RECORDER_TIMEOUT_SECONDS,
    )
    until(
        "what is gone",
        lambda: "event_unknown" in recorder.findings(),
        recorder.log,
        RECORDER_TIMEOUT_SECONDS,
    )
    unknown = recorder.found(kinds=("finding",), types=("event_unknown",))
    assert {each.table for each in unknown} == {"r1"}
    assert ("r1", run, seq) in recorder.events()  # stored events stay


def of_result(journal: Path, number: int) -> tuple[int, str, int]:
    """The entry of a result in a journal: its position, run and number."""
    with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as file:
        found: tuple[int, str, int] = file.execute(
            "SELECT position, boot, seq FROM entry WHERE kind = 'event' AND "
            "CAST(body AS TEXT) LIKE '%round.result%' AND CAST(body AS TEXT) LIKE ?",
            (f'%"number":{number}%',),
        ).fetchone()
    return found


def test_a_changed_key_is_not_believed_until_a_person_vouches_for_it(room: Room) -> None:
    """A signed-in person settles it, or the configuration; no one else."""
    recorder, daemon = room.recorder, room.daemon
    recorder.start()
    until("it knows a key", lambda: signed(recorder), recorder.log)
    until("first sight", lambda: room.health()["sites"]["palma"]["first_sight"] == ["pit-1"])
    recorder.until_logged("a key is believed at first sight")
    assert daemon.stop() == 0
    key_path(room.journal).unlink()
    daemon.start()
    until(
        "the finding",
        lambda: "checkpoint_key_changed" in recorder.findings(),
        recorder.log,
        RECORDER_TIMEOUT_SECONDS,
    )
    alert = until("its alert", lambda: room.alert("checkpoint-key-changed"), recorder.log)
    [(number, found)] = room.open_findings()
    node, key = changed_key(found.key)
    last = signed(recorder)
    assert last is not None
    assert (node, key) == ("pit-1", last["key"])
    assert key in alert["detail"]

    assert recorder.stop() == 0
    text = recorder.file.read_text()
    recorder.file.write_text(text.replace("[archive]", f'[archive]\nkeys = {{ pit-1 = "{key}" }}'))
    recorder.start()
    settled = room.ran("settle", "--finding", str(number), "--by", "J. Serra", "--note", "new key")
    assert (settled.returncode, settled.stdout) == (0, f"{number} is settled by J. Serra\n")
    assert room.open_findings() == []
    until("no alert", lambda: room.alert("checkpoint-key-changed") is None, recorder.log)
    until("the sites", lambda: room.health()["sites"].get("palma"))
    assert room.health()["sites"]["palma"]["first_sight"] == []
    assert set(recorder.findings()) == {"checkpoint_key_changed", "settled"}


def test_a_statistical_finding_is_an_alert_until_a_person_settles_it(room: Room) -> None:
    """Also after a restart; and not again once it is settled."""
    subscriber, recorder = room.subscriber, room.recorder
    recorder.start()
    recorder.until_logged("connected")

    def found(table: str) -> None:
        advice = HealthFinding(
            "wheel_bias", "palma", table, format_utc(1_790_000_000), "first", 900, "0 32 15"
        )
        with closing(open_archive(recorder.where)) as archive:
            archive.store([finding_of(advice)])

    found("r1")
    alert = until("its alert", lambda: room.alert("wheel-bias"), recorder.log)
    assert alert["what"] == "surveillance.wheel_bias"
    assert word("alert", alert["what"], "es") == "una ruleta favorece algunas casillas"
    assert (alert["severity"], alert["detail"]) == ("warning", "0 32 15")
    until("one is open", lambda: room.health()["sites"]["palma"]["open"] == 1, recorder.log)
    [(number, _)] = room.open_findings()
    settled = room.ran("settle", "--finding", str(number), "--by", "J. Serra", "--note", "levelled")
    assert settled.returncode == 0, settled.stderr
    until("no alert", lambda: room.alert("wheel-bias") is None, recorder.log)
    assert recorder.stop() == 0
    found("r2")
    count = len(subscriber.messages)
    recorder.start()
    until("the other alert", lambda: room.alert("wheel-bias"), recorder.log)
    topics = {
        message.topic
        for message in subscriber.messages[count:]
        if "/alert/wheel-bias" in message.topic
    }
    assert len(topics) == 1
    assert alert["alert"] not in topics.pop()
