"""Cards that lie face down, from a shoe's wire to every way out of a running daemon; a wheel plays
at the table beside.
"""

from __future__ import annotations

import json
import os
import re
import tty
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from common.readings import escape
from controller.cli import main
from controller.games.cards import DECK
from devices.shoe import angel_eye_frames as frames
from tests.daemon.test_contract import check
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.play import command, spin, until_open, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import TIMEOUT_SECONDS, until

TABLE = "novamas/v1/palma/bacara-1"
CARD = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(DECK)})(?![A-Za-z0-9])")
PLACES = {"player": 0x80, "banker": 0x90, "burn": 0xA0, "first": 0xC0}
SUITS = {suit: code for code, suit in frames.SUITS.items()}


class Shoe:
    """An Angel Eye on a pseudo-terminal, by hand. Everything is published once."""

    def __init__(self, link: Path) -> None:
        self._master, slave = os.openpty()
        tty.setraw(slave)
        link.symlink_to(os.ttyname(slave))
        os.close(slave)
        self._link = link
        self.url = f"serial://{link}?baud=4800"
        self._seq = 0

    def frame(self, body: bytes) -> bytes:
        self._seq = self._seq % 9 + 1
        content = b"%d" % self._seq + body + bytes((frames.ETX,))
        return bytes((frames.ENQ,)) + content + frames.bcc(content)

    def send(self, data: bytes) -> bytes:
        os.write(self._master, data)
        return data

    def draw(self, card: str, to: str, index: int = 0) -> bytes:
        code = 0x80 | SUITS[card[1]] << 4 | frames.RANKS.index(card[0]) + 1
        return self.send(self.frame(bytes((ord("D"), PLACES[to] | index, code))))

    def close(self) -> None:
        self._link.unlink()  # first: the next terminal that anybody makes may have the same number
        os.close(self._master)


@pytest.fixture
def shoe(tmp_path: Path) -> Iterator[Shoe]:
    made = Shoe(tmp_path / "shoe")
    yield made
    made.close()


@pytest.mark.essential
def test_a_card_that_lies_face_down_leaves_the_daemon_sealed_alone(
    mosquitto: Mosquitto,
    wheel: Wheel,
    shoe: Shoe,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = tmp_path / "surveillance.key"
    assert main(["keygen", str(key)]) == 0
    surveillance = capsys.readouterr().out
    subscriber = subscribe(mosquitto.port)
    bacara = f"""
[[table]]
id = "bacara-1"
game = "punto-banca"
decree = "ARA02"

[[table.device]]
id = "shoe"
driver = "angel-eye"
link = "{shoe.url}"

[table.device.options]
min_draw = 0.0
"""
    text = configuration(mosquitto.port, table("r1", wheel), bacara) + surveillance
    port = free_port()
    made = daemon(f'{text}\n[metrics]\nlisten = "127.0.0.1:{port}"\n')
    made.start()
    until_up(subscriber, made)
    until_open(subscriber, made, "bacara-1", "shoe")

    def say(name: str, **fields: Any) -> None:
        reply = command(subscriber, name, TABLE, **fields)
        assert reply["ok"], reply

    def until_said(kind: str, count: int) -> list[dict[str, Any]]:
        def enough() -> list[dict[str, Any]]:
            found = [event for event in subscriber.events(kind) if event["table"] == "bacara-1"]
            return found if len(found) >= count else []

        told: list[dict[str, Any]] = until(
            f"{kind} {count}", enough, lambda: "\n".join(map(str, subscriber.events()))
        )
        return told

    def until_sealed(count: int) -> None:
        until(f"sealed {count}", lambda: len(subscriber.on(f"{TABLE}/sealed")) >= count)

    def until_shown(drawn: int) -> dict[str, Any]:
        def shown() -> dict[str, Any] | None:
            found: dict[str, Any] = (subscriber.latest(f"{TABLE}/state") or {"shown": {}})["shown"]
            return found if (found.get("shoe") or {}).get("drawn") == drawn else None

        told: dict[str, Any] = until(f"{drawn} cards", shown)
        return told

    say("session.open")
    say("shoe.start", shoe="S1")
    shoe.draw("2c", "first")
    drawn = 1
    while until_shown(drawn)["phase"] == "burning":
        shoe.draw("Jd", "burn")
        drawn += 1
    say("bets.open")
    say("bets.close")
    hidden = [("9s", "player", 1), ("7h", "banker", 1), ("Td", "player", 2), ("Ks", "banker", 2)]
    sent = [shoe.draw(card, to, index) for card, to, index in hidden]
    until_said("card.dealt", 4)
    assert command(subscriber, "session.open", "novamas/v1/palma/r1")["ok"]
    assert spin(wheel, subscriber, "17", 2)["outcome"]["number"] == 17
    count = len(subscriber.on(f"{TABLE}/sealed"))
    shoe.send(b"\x00garbage\xc7" + shoe.frame(b"P"))
    until_sealed(count + 2)
    assert "sealed" in {check(message) for message in subscriber.messages}

    published = [
        (message.topic, message.payload)
        for message in subscriber.messages
        if not message.topic.endswith("/sealed")
    ]
    cards = {card for card, _, _ in hidden}
    evidence = [escape(frame).encode() for frame in sent]
    wire = [frame[2:-3] for frame in sent]

    def told(text: bytes) -> bool:
        return bool(cards & {*CARD.findall(text.decode("latin-1"))}) or any(
            each in text for each in (*evidence, *wire)
        )

    assert [topic for topic, payload in published if told(payload)] == []
    assert not told(made.log().encode())
    with urllib.request.urlopen(
        f"http://127.0.0.1:{port}/metrics", timeout=TIMEOUT_SECONDS
    ) as answer:
        metrics = answer.read()
    assert (
        b'novamas_device_frames_total{device="shoe",simulated="false",table="bacara-1"}' in metrics
    )
    assert b'damaged_bytes_total{device="wheel"' in metrics
    assert b'damaged_bytes_total{device="shoe"' not in metrics  # their number may identify a card
    assert not told(metrics)
    stored = [path for path in tmp_path.iterdir() if path.is_file() and path != key]
    names = [rb'[\[{:,]"%b"[\]},:]' % card.encode() for card in cards] + [
        re.escape(each) for each in evidence
    ]  # others are chance
    assert [
        (path, name) for path in stored for name in names if re.search(name, path.read_bytes())
    ] == []
    assert not (tmp_path / "recordings" / "bacara-1").exists()
    assert made.until_logged(
        "cards are face down: no recordings are written; the journal has the bytes, sealed"
    )

    messages = tmp_path / "messages"
    messages.write_bytes(
        b"\n".join(message.payload for message in subscriber.on(f"{TABLE}/sealed"))
    )
    signer = subscriber.latest("/checkpoint")["key"]
    assert main(["unseal", "--key", str(key), "--signer", signer, str(messages)]) == 0
    opened = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(each["signed"], each["signer"]) for each in opened} == {("key_given", signer)}
    cards_drawn = [each["body"]["card"] for each in opened if each["body"]["type"] == "card.drawn"]
    assert cards_drawn[-4:] == [card for card, _, _ in hidden]
    assert [each["body"]["type"] for each in opened[-2:]] == ["link.garbage", "device.report"]

    say("cards.turn")
    assert [(each["to"], each["index"], each["card"]) for each in until_said("card.turned", 4)] == [
        (to, index, card)
        for to in ("player", "banker")
        for card, whose, index in hidden
        if whose == to
    ]
    assert until_said("round.result", 1)[0]["outcome"]["winner"] == "player"
    assert made.stop() == 0

    assert main(["audit", str(tmp_path / "journal.sqlite3"), "--text", "--unseal", str(key)]) == 0
    assert "PROVED: every reading and every event" in capsys.readouterr().out
