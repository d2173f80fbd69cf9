"""A daemon's journal, after a kill, an unplugged wheel and a clean stop, is verified with a witness
and derived again.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from common.chain.checkpoint import checkpoint_path, key_path, load_key, sign
from common.chain.schema import ChainHead
from controller.cli import main
from controller.proof.audit import audit
from controller.proof.verify import verify
from controller.proof.witness import Witness
from tests.controller.proof.test_audit import forge
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, serve, spin, until_more, until_up
from tests.support.daemon.process import Daemon, Wheel
from tests.support.journal.premises import entries
from tests.support.programs import running
from tests.support.waiting import until


@pytest.mark.essential
def test_a_journal_of_a_real_evening_holds_and_everything_follows(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
) -> None:
    made, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    command(subscriber, "session.open")
    spin(wheel, subscriber, "17", 2)
    spin(wheel, subscriber, "32", 3, before="17")
    made.kill()
    made.start()
    until(
        "another boot", lambda: len({event["boot"] for event in subscriber.events()}) == 2, made.log
    )
    until_up(subscriber, made)
    spin(wheel, subscriber, " 0", 4, before="32")
    wheel.unplug()
    until_more(subscriber, "alert.raised", 0)
    wheel.plug()
    until_more(subscriber, "alert.cleared", 0)
    boot = made.boot()
    assert made.stop() == 0
    until(
        "the farewell",
        lambda: subscriber.latest("/status") == {"status": "offline", "boot": boot},
        made.log,
    )
    last = subscriber.latest("/checkpoint")
    journal = made.folder / "journal.sqlite3"
    archive = tmp_path / "archive.jsonl"
    archive.write_text(
        "".join(
            json.dumps({"topic": h.topic, "payload": h.body}) + "\n"
            for h in subscriber.messages
            if h.payload
        )
    )
    witness = Witness(archive)
    verdict = verify(journal, last["key"], witness.checkpoints.values(), witness.on_entry)
    witness.add_evidence(verdict)
    assert verdict.problems == []
    assert verdict.witnessed == len(
        {(event["boot"], event["seq"]) for event in subscriber.events()}
    )
    assert verdict.through == verdict.head == last["position"]
    proved = audit(journal)
    assert proved.differences == []
    assert proved.proved_readings == proved.readings > 0
    assert proved.proved_events == proved.events > 0


def test_the_witness_that_verify_requires_finds_alterations_made_with_the_key(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The two commands as the verdict prints them: one keeps the archive, the other finds what was
    changed and signed again.
    """
    if shutil.which("mosquitto_sub") is None:
        pytest.fail(
            "mosquitto_sub is not installed; tests/debian-packages names what the tests need"
        )
    made, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    journal = made.folder / "journal.sqlite3"
    main(["verify", str(journal), "--text"])
    keep, use = re.findall(
        r"^  (mosquitto_sub .*|novamas .*)$", capsys.readouterr().out, re.MULTILINE
    )
    archive = tmp_path / "archive.jsonl"
    words = shlex.split(keep.replace("BROKER", f"127.0.0.1 -p {mosquitto.port}"))
    assert words[-2:] == [">>", "archive.jsonl"]
    with archive.open("ab") as file, running(words[:-2], stdout=file):
        until("the retained checkpoint", archive.read_bytes, made.log)
        command(subscriber, "session.open")
        spin(wheel, subscriber, "17", 2)
        spin(wheel, subscriber, "32", 3, before="17")
        assert made.stop() == 0
        until(
            "the last checkpoint",
            lambda: (
                json.dumps(subscriber.latest("/checkpoint")["signature"]) in archive.read_text()
            ),
            made.log,
        )
    key = str(subscriber.latest("/checkpoint")["key"])
    use = use.replace("PUBLICKEY", key).replace("archive.jsonl", str(archive))
    arguments = [*shlex.split(use)[1:], "--text"]
    assert main(arguments) == 0, capsys.readouterr().out

    result = next(
        entry.position
        for entry in entries(journal)
        if entry.kind == "event" and b'"number":17' in entry.body
    )
    forge(journal, result, '"number":17', '"number":18')
    last, point = entries(journal)[-1], subscriber.latest("/checkpoint")
    forged = sign(
        load_key(key_path(journal)),
        point["journal"],
        point["boot"],
        point["time"],
        ChainHead(last.position, last.hash),
    )
    checkpoint_path(journal).write_bytes(msgspec.json.encode(forged))
    assert main(["verify", str(journal), "--signer", key]) == 0
    capsys.readouterr()
    assert main(arguments) == 1
    assert "DOES NOT HOLD" in capsys.readouterr().out
