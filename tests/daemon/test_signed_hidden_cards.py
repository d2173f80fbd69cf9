"""A signed command that names a face-down card: it is kept for surveillance alone, and proved with
its key.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from common.contract.topics import level
from controller.cli import main
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import until_open
from tests.support.daemon.process import Daemon, configuration
from tests.support.daemon.tables import poker_table
from tests.support.devices.parts import Pty
from tests.support.people.signing import LASA, SIGNED, answer, claims, enrol, token
from tests.support.waiting import until

TABLE = "novamas/v1/palma/p1"


def test_what_a_signed_command_names_is_sealed(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = tmp_path / "surveillance.key"
    assert main(["keygen", str(key)]) == 0
    surveillance = capsys.readouterr().out
    port = Pty(tmp_path)
    ending.callback(port.unplug)
    subscriber = subscribe(mosquitto.port)
    table = poker_table(port.url)
    run = daemon(configuration(mosquitto.port, table, people=SIGNED) + surveillance)
    enrol(run.folder)
    run.start()
    until_open(subscriber, run, "p1", "reader")
    tokens: list[bytes] = []

    def say(name: str, **fields: object) -> str:
        """The key of the refusal, or nothing where it is followed."""
        given = claims(LASA, name, aud=TABLE, fields=fields)
        tokens.append(token(given))
        subscriber.publish(f"{TABLE}/command/{level(name)}", tokens[-1])
        reply = answer(subscriber, given)
        return "" if reply["ok"] else reply["refusal"]["key"]

    def draw(card: str) -> None:
        known = len(subscriber.events("card.dealt"))
        port.say(f"[Game]<Card:{card.upper()}>\r\n".encode())
        until(f"{card} is dealt", lambda: len(subscriber.events("card.dealt")) > known, run.log)

    port.say(b"[Game]<Shown 9H>\r\n")  # so that the reader is up
    until("sealed", lambda: subscriber.on(f"{TABLE}/sealed"), run.log)
    for name, fields in (
        ("session.open", {}),
        ("deck.check", {"cards": 52}),
        ("bets.open", {}),
        ("boxes.set", {"boxes": [1]}),
        ("bets.close", {}),
    ):
        assert say(name, **fields) == ""
    draw("Ah")
    tokens.clear()
    boxes = len(subscriber.on(f"{TABLE}/sealed"))
    assert say("card.decide", action="read", card="Kd") != ""
    until("sealed", lambda: len(subscriber.on(f"{TABLE}/sealed")) == boxes + 1, run.log)
    port.say(b"[Game]<Card:AH>\r\n")  # twice: a person has to say which it is
    until("a question", lambda: subscriber.events("irregularity"), run.log)
    assert say("card.decide", action="read", card="Qs") == ""
    assert say("card.decide", action="read", card="Ah") != ""
    assert run.stop() == 0

    parts = [part[-64:] for each in tokens for part in each.split(b".")[1:]]
    assert len(set(parts)) == 6
    public = [
        message.payload for message in subscriber.messages if "/command/" not in message.topic
    ]
    public += [run.log().encode()]
    public += [
        file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and file != run.file
    ]
    assert [part for part in parts if any(part in each for each in public)] == []
    journal = str(tmp_path / "journal.sqlite3")
    capsys.readouterr()
    main(["export", journal])
    output = capsys.readouterr().out.encode()
    assert [part for part in parts if part in output] == []
    assert main(["audit", journal, "--text", "--unseal", str(key)]) == 0
    assert "6 of 6 commands are signed by enrolled persons" in capsys.readouterr().out
