"""A table of poker, a shoe that speaks its cards in clear, everything going wrong: no message, log
or file names a hidden card.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open
from tests.support.daemon.process import Daemon, configuration
from tests.support.daemon.tables import poker_table
from tests.support.devices.parts import Pty
from tests.support.waiting import until

TABLE = "novamas/v1/palma/p1"
DEALT = ("Ah", "2c", "Th", "3c", "9h", "4c", "8h", "5c", "7h", "6c")
"""To the box and the bank in turn; the last lies face up."""


@pytest.mark.essential
def test_a_hand_of_poker_with_everything_going_wrong(
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
    run = daemon(configuration(mosquitto.port, poker_table(port.url)) + surveillance)
    run.start()
    until("the table", lambda: subscriber.latest(f"{TABLE}/state"), run.log)
    until_open(subscriber, run, "p1", "reader")

    def sealed() -> int:
        return len(subscriber.on(f"{TABLE}/sealed"))

    def speak(line: str) -> None:
        """The shoe sends a line, which is published to surveillance."""
        known = sealed()
        port.say(line.encode() + b"\r\n")
        until(f"sealed: {line}", lambda: sealed() > known, run.log)

    def draw(card: str) -> None:
        known = len(subscriber.events("card.dealt"))
        port.say(f"[Game]<Card:{card.replace('T', '10').upper()}>\r\n".encode())
        until(f"{card} is dealt", lambda: len(subscriber.events("card.dealt")) > known, run.log)

    def say(name: str, *, ok: bool | None = True, **fields: Any) -> None:
        reply = command(subscriber, name, TABLE, **fields)
        assert ok is None or reply["ok"] is ok, reply

    say("session.open")
    speak("[Game]<Alarm:E9 AH misread>")
    say("deck.check", cards=52)
    say("bets.open")
    say("boxes.set", boxes=[1])
    say("bets.close")
    for card in DEALT:
        draw(card)
    [*_, last] = subscriber.events("card.dealt")
    assert [event["card"] for event in subscriber.events("card.dealt")][:9] == [None] * 9
    hidden = {*DEALT} - {last["card"]}
    speak("[Game]<Alarm:E8 10H twice>")
    speak("<Card:2CC><Card:AH")
    speak("[Game]<Shown 9H>")
    say("round.confirm", ok=False)
    say("cards.turn", ok=False, who="box:7")
    say("session.open", ok=False)
    health = subscriber.latest("/health")
    assert health
    run.kill()
    run.start()
    until_open(subscriber, run, "p1", "reader")
    say("bets.open", ok=False)
    say("card.decide", ok=None, action="accept")
    assert run.stop() == 0

    words = {
        word for card in hidden for word in (card, card.upper(), card.upper().replace("T", "10"))
    }
    named = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(sorted(words))})(?![A-Za-z0-9])")
    public = [
        (message.topic, message.payload.decode())
        for message in subscriber.messages
        if not message.topic.endswith("/sealed")
    ]
    assert [each for each in public if named.search(each[1])] == []
    assert [line for line in run.log().splitlines() if named.search(line)] == []
    assert {
        message.body["tables"]["p1"]["devices"]["reader"]["counters"]["bytes"]
        for message in subscriber.messages
        if "/health" in message.topic
    } == {0}
    journal = tmp_path / "journal.sqlite3"
    capsys.readouterr()
    verdicts = [[word, form] for word in ("audit", "verify") for form in ("--text", "--json")]
    for words_of in (["export"], *verdicts):
        main([*words_of, str(journal)])
        output = capsys.readouterr()
        assert named.search(re.sub(r'"sealed":"[^"]*"', "", output.out + output.err)) is None, (
            words_of
        )  # a box may spell anything
    every = "|".join(sorted(words)).encode()
    marked = re.compile(
        rb'[\[{:,]"(?:%b)"[\]},:]|Card:(?:%b)' % (every, every)
    )  # between other bytes it is chance
    files = [file for file in tmp_path.rglob("*") if file.is_file() and file not in (key, run.file)]
    assert [file for file in files if marked.search(file.read_bytes())] == []
