"""A daemon that follows only enrolled people: what it follows, stores and publishes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from controller.cli import main
from controller.proof.audit import audit
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import NODE, TABLE, spin, until_said, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.people.signing import LASA, RIERA, SIGNED, VIDAL, enrol, give
from tests.support.waiting import until


@pytest.fixture
def running(mosquitto: Mosquitto, wheel: Wheel, daemon: Callable[[str], Daemon]) -> Daemon:
    made = daemon(configuration(mosquitto.port, table("r1", wheel, commands=True), people=SIGNED))
    enrol(made.folder)
    made.start()
    made.until_logged("broker connected")
    return made


@pytest.fixture
def subscriber(
    mosquitto: Mosquitto, running: Daemon, subscribe: Callable[..., Subscriber]
) -> Subscriber:
    made = subscribe(mosquitto.port)
    until_up(made, running)
    return made


def key(reply: Any) -> str:
    return "" if reply["ok"] else reply["refusal"]["key"]


def exported(running: Daemon, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["export", str(running.folder / "journal.sqlite3"), "--table", "r1"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.essential
def test_the_signer_is_published_stored_and_proved(
    subscriber: Subscriber, running: Daemon, wheel: Wheel, capsys: pytest.CaptureFixture[str]
) -> None:
    assert give(subscriber, LASA, "session.open", minimum=500)["ok"]
    lasa = {"id": "m-lasa", "name": "M. Lasa", "role": "table_head"}
    assert until_said(subscriber, "session.opened", 1)[0]["signed_by"] == [lasa]
    assert key(give(subscriber, RIERA, "session.close", "croupier")) == "role_not_allowed"
    spin(wheel, subscriber, "17", 1)
    correction: dict[str, Any] = {"round": 1, "number": 12}
    assert key(give(subscriber, LASA, "result.correct", **correction)) == "second_person_wanted"
    assert key(give(subscriber, LASA, "result.correct", **correction)) == "second_person_same"
    assert subscriber.events("result.corrected") == []
    assert give(subscriber, VIDAL, "result.correct", "director", **correction)["ok"]
    power = {"device": "wheel", "command": "power_on"}
    assert give(subscriber, LASA, "device.command", "table_head", fields=power)["ok"]
    assert until_said(subscriber, "device.commanded", 1)[0]["signed_by"] == [lasa]
    both = [lasa, {"id": "t-vidal", "name": "T. Vidal", "role": "director"}]
    corrected = until_said(subscriber, "result.corrected", 1)[0]
    assert (corrected["by"], corrected["signed_by"]) == ("M. Lasa", both)
    assert "signed_by" not in subscriber.events("round.result")[0]
    assert "unsigned" not in subscriber.latest(f"{TABLE}/state")
    running.stop()
    inputs = [each["body"] for each in exported(running, capsys) if each["kind"] == "input"]
    said = [
        (event["type"], event.get("refusal"), [by["id"] for by in event["signed"]])
        for event in inputs
        if "signed" in event
    ]
    assert said == [
        ("session.open", None, ["m-lasa"]),
        ("command.refused", "role_not_allowed", ["a-riera"]),
        ("command.refused", "second_person_wanted", ["m-lasa"]),
        ("command.refused", "second_person_same", ["m-lasa"]),
        ("result.correct", None, ["m-lasa", "t-vidal"]),
        ("device.command", None, ["m-lasa"]),
    ]
    found = audit(running.folder / "journal.sqlite3")
    assert found.proves
    assert (found.signed, found.commands) == (3, 3)
    assert main(["audit", str(running.folder / "journal.sqlite3"), "--text"]) == 0
    assert "3 of 3 commands are signed by enrolled persons" in capsys.readouterr().out


def test_what_was_altered_in_the_journal_is_found(subscriber: Subscriber, running: Daemon) -> None:
    assert give(subscriber, LASA, "session.open", minimum=500)["ok"]
    assert give(subscriber, VIDAL, "session.close", "director")["ok"]
    until_said(subscriber, "session.closed", 1)
    running.stop()
    path = running.folder / "journal.sqlite3"

    def altered(kind: str, *changes: tuple[str, str]) -> list[str]:
        """What audit finds if each ``before`` becomes ``after``, whatever the chain says."""
        with closing(sqlite3.connect(path)) as journal:
            entries = "SELECT position, body FROM entry WHERE kind = ?"
            was = journal.execute(entries, (kind,)).fetchall()
            for position, body in was:
                text = body.decode()
                for before, after in changes:
                    text = text.replace(before, after)
                journal.execute(
                    "UPDATE entry SET body = ? WHERE position = ?", (text.encode(), position)
                )
            journal.commit()
            found = [difference.what for difference in audit(path).differences]
            journal.executemany(
                "UPDATE entry SET body = ? WHERE position = ?",
                [(body, position) for position, body in was],
            )
            journal.commit()
        return found

    assert altered("input") == []
    [told] = altered("input", ('"minimum":500', '"minimum":900'))[:1]
    assert told == "this is not the command that was signed"
    name = altered("input", ("M. Lasa", "A. Riera"), ("m-lasa", "a-riera"))
    assert name[0] == "signed by M. Lasa and not by A. Riera"
    assert "does not hold" in altered("input", ('"token":"ey', '"token":"eZ'))[0]
    person = altered("boot", ("M. Lasa", "N. Lasa"))
    assert "it was changed after it was signed" in person[0]
    assert person[1] == "signed, but there is no people file that holds"


def test_people_change_while_it_runs(subscriber: Subscriber, running: Daemon) -> None:
    def health() -> Any:
        return subscriber.latest(f"{NODE}/health")["people"]

    def number() -> Any:
        return health()["number"]

    def alert() -> str:
        return str((subscriber.latest(f"{TABLE}/alert/people") or {"detail": ""})["detail"])

    assert give(subscriber, LASA, "session.open")["ok"]
    first = enrol(running.folder).read_bytes()
    enrol(running.folder, 8, revoked="2026-11-22T12:00:00Z")
    until("the change", lambda: number() == 8, running.log)
    assert key(give(subscriber, LASA, "session.close")) == "person_revoked"
    file = running.folder / "people.jsonl"
    good = file.read_bytes()
    for bad, told in (
        (first, "it is an old copy"),
        (good.replace(b"A. Riera", b"A. Rivera"), "it was changed after it was signed"),
        (good[:-1], "the last line does not end"),
    ):
        file.write_bytes(bad)
        until("the alert", partial(lambda told: told in alert(), told), running.log)
        until("health says so", partial(lambda told: told in str(health()["trouble"]), told))
        assert number() == 8
        assert key(give(subscriber, LASA, "session.close")) == "person_revoked"
    file.write_bytes(good)
    until("no alert", lambda: subscriber.is_cleared(f"{TABLE}/alert/people"), running.log)
    running.kill()
    file.write_bytes(first)  # while it does not run: the journal knows better
    running.start()
    until_up(subscriber, running)
    until("an alert", lambda: subscriber.latest(f"{TABLE}/alert/people"), running.log)
    until("health says so", lambda: "old copy" in str(health()["trouble"]), running.log)
    assert number() == 8
    enrol(running.folder, 9)
    until("the next", lambda: number() == 9, running.log)
    running.stop()
    assert audit(running.folder / "journal.sqlite3").proves


def test_unsigned_commands_are_followed_where_the_risk_is_accepted(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    running = daemon(configuration(mosquitto.port, table("r1", wheel)))
    running.start()
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, running)
    assert subscriber.latest(f"{TABLE}/state")["unsigned"] is True
    health = until("health", lambda: subscriber.latest(f"{NODE}/health"), running.log)
    assert health["people"] is None
