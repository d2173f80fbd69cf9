"""What a daemon stored, through a kill, an unplugged wheel and a clean stop, is verified with a witness and derived again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from controller.proof.audit import audit
from controller.proof.verify import verify
from controller.proof.witness import Witness
from tests.daemon.mosquitto import Mosquitto, Subscriber, until
from tests.daemon.play import command, spin, until_more, until_up
from tests.daemon.process import Daemon, Wheel, configuration, table


def test_a_journal_of_a_real_evening_holds_and_everything_follows(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Callable[[str], Daemon], subscribe: Callable[..., Subscriber], tmp_path: Path
) -> None:
    heard = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table("r1", wheel)))
    made.start()
    until_up(heard, made)
    command(heard, "session.open")
    spin(wheel, heard, "17", 2)
    spin(wheel, heard, "32", 3, before="17")
    made.kill()
    made.start()
    until("another boot", lambda: len({event["boot"] for event in heard.events()}) == 2, made.log)
    until_up(heard, made)
    spin(wheel, heard, " 0", 4, before="32")
    wheel.unplug()
    until_more(heard, "alert.raised", 0)
    wheel.plug()
    until_more(heard, "alert.cleared", 0)
    boot = made.boot()
    assert made.stop() == 0
    until("the farewell", lambda: heard.latest("/status") == {"status": "offline", "boot": boot}, made.log)
    last = heard.latest("/checkpoint")
    journal = made.folder / "journal.sqlite3"
    archive = tmp_path / "archive.jsonl"
    archive.write_text("".join(json.dumps({"topic": h.topic, "payload": h.body}) + "\n" for h in heard.heard if h.payload))
    witness = Witness(archive)
    verdict = verify(journal, last["key"], witness.checkpoints.values(), witness.hear)
    witness.testify(verdict)
    assert verdict.problems == []
    assert verdict.witnessed == len({(event["boot"], event["seq"]) for event in heard.events()})
    assert verdict.through == verdict.head == last["position"]
    proved = audit(journal)
    assert proved.differences == []
    assert proved.proved_readings == proved.readings > 0
    assert proved.proved_events == proved.events > 0
