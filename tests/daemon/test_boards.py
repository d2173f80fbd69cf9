"""``novamas run`` with simulated sensor boards on pseudo-terminals: rounds from the wire to a
subscriber.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tty
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from nacl.public import PrivateKey

from common.confidential.boxes import open_sealed
from controller.proof.audit import audit
from devices.board.report import write_report
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open, until_said, until_up
from tests.support.daemon.process import Daemon, configuration
from tests.support.waiting import until

TABLE = "novamas-sim/v1/palma/b1"
SPEED, SLOW_SPEED = 20, 3
KEY = PrivateKey.generate()
"""Of surveillance, for whom cards are sealed that lie face down."""


class Simulated:
    """A board as a program, its power still off."""

    def __init__(
        self, link: Path, kind: str, protocol: str, *words: str, speed: int = SPEED
    ) -> None:
        program = [
            sys.executable,
            "-m",
            "simulators",
            kind,
            "--protocol",
            protocol,
            "--link",
            str(link),
            "--wait",
        ]
        pace = ["--speed", str(speed), "--games-per-hour", "240"]
        self._program = subprocess.Popen(
            [*program, *pace, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._program.stdout is not None
        assert json.loads(self._program.stdout.readline())["port"] == str(link)

    def say(self, line: str) -> None:
        assert self._program.stdin is not None
        self._program.stdin.write(f"{line}\n".encode())
        self._program.stdin.flush()

    def close(self) -> None:
        self._program.kill()
        self._program.communicate()


class Written:
    """A board on a pseudo-terminal, by hand."""

    def __init__(self, link: Path, kind: str) -> None:
        self._master, slave = os.openpty()
        tty.setraw(slave)
        link.symlink_to(os.ttyname(slave))
        os.close(slave)
        self._link, self._kind = link, kind
        self._number, self._ms = 0, 0

    def say(self, word: str, *fields: object) -> None:
        """A report, a second after the one before by the board's clock."""
        os.write(self._master, write_report(self._number, self._ms, self._kind, word, *fields))
        self._number, self._ms = self._number + 1, self._ms + 1000

    def jam(self, subscriber: Subscriber) -> dict[str, Any]:
        """Report that a card is stuck until the table has received it: a state is ignored in the
        first second after connecting.
        """

        def said() -> list[dict[str, Any]]:
            self.say("state", "jam", 0, "feed")
            return [
                event
                for event in subscriber.events("alert.raised")
                if event["what"] == "shuffler_jam"
            ]

        found: list[dict[str, Any]] = until("the jam", said)
        return found[0]

    def close(self) -> None:
        self._link.unlink()  # first: the next terminal that anybody makes may have the same number
        os.close(self._master)


class Floor:
    """A table with its boards, by their driver; the daemon, and a subscriber."""

    def __init__(
        self,
        subscriber: Subscriber,
        boards: dict[str, Simulated],
        written: dict[str, Written],
        run: Daemon,
    ) -> None:
        self.subscriber, self.boards, self.written, self.run = subscriber, boards, written, run

    def say(self, name: str, **fields: Any) -> None:
        reply = command(self.subscriber, name, TABLE, **fields)
        assert reply["ok"], reply

    def start(self, driver: str) -> None:
        self.boards[driver].say("start")

    def prove(self) -> None:
        """End the daemon, and derive everything it read and published from the bytes again."""
        assert self.run.stop() == 0
        proved = audit(
            self.run.folder / "journal.sqlite3", lambda body: bytes(open_sealed(body, KEY).body)
        )
        assert proved.differences == []
        assert proved.proved_readings == proved.readings > 0
        assert proved.proved_events == proved.events > 0


Play = Callable[..., Floor]


@pytest.fixture
def play(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> Play:
    """``play(game, decree, settings, board...)``: a table whose session is open. A board is
    ``(kind, protocol, word...)``, without words one that is written by hand. ``first``: the boards
    are up before the session is opened, and so slow that bets are open before the first throw.
    """

    def begin(
        game: str, decree: str, settings: str, *boards: tuple[str, ...], first: bool = False
    ) -> Floor:
        made: dict[str, Simulated] = {}
        written: dict[str, Written] = {}
        speed = SLOW_SPEED if first else SPEED
        table = f'\n[surveillance]\npublic_key = "{bytes(KEY.public_key).hex()}"\n'
        table += f'\n[[table]]\nid = "b1"\ngame = "{game}"\ndecree = "{decree}"\n'
        table += f"simulated = true\nspeed = {speed}\n"
        table += f"settings = {settings}\n"
        for kind, protocol, *words in boards:
            link = tmp_path / protocol
            if words:
                made[protocol] = Simulated(link, kind, protocol, *words, speed=speed)
                ending.callback(made[protocol].close)
            else:
                written[protocol] = Written(link, kind)
                ending.callback(written[protocol].close)
            # this machine may keep bytes for longer than a hurried board needs
            table += f'\n[[table.device]]\nid = "{kind}"\ndriver = "{protocol}"\nlink = "serial://{link}?baud=115200"\n'
            table += "stale_after = 1000.0\noptions = { late_after = 1000.0 }\n"
        subscriber = subscribe(mosquitto.port)
        run = daemon(configuration(mosquitto.port, table))
        run.start()
        until("the table", lambda: subscriber.latest("/status"), run.log)
        for kind, *_ in boards:
            until_open(subscriber, run, "b1", kind)
        floor = Floor(subscriber, made, written, run)
        for kind, protocol, *_ in boards if first else ():
            floor.start(protocol)
            until_up(subscriber, run, TABLE, kind)
        floor.say("session.open", minimum=500, currency="EUR")
        return floor

    return begin


def wrong(subscriber: Subscriber, rounds: int) -> list[tuple[int, str]]:
    return [
        (event["round"], event["what"])
        for event in subscriber.events("irregularity")
        if event["round"] <= rounds
    ]


def test_boule(play: Play) -> None:
    floor = play(
        "boule",
        "BAL05",
        '{ phases = "device" }',
        ("wheel", "boule-board", "--numbers", "7,7,12,18"),
    )
    floor.start("boule-board")
    results = until_said(floor.subscriber, "round.result", 4)
    assert [(result["outcome"]["number"], result["spin"]) for result in results] == [
        (7, 1),
        (7, 2),
        (3, 3),
        (9, 4),
    ]
    assert [event["round"] for event in floor.subscriber.events("bets.closed")[:4]] == [1, 2, 3, 4]
    assert wrong(floor.subscriber, 4) == []
    floor.prove()


def test_a_ball_between_two_holes_waits_for_a_person(play: Play) -> None:
    faults = "--fault", "0:between_holes"
    floor = play(
        "boule",
        "BAL05",
        '{ phases = "device" }',
        ("wheel", "boule-board", "--numbers", "7,3", *faults),
    )
    floor.start("boule-board")
    (asked,) = until_said(floor.subscriber, "irregularity", 1)
    assert (asked["what"], asked["round"]) == ("between", 1)
    assert "round.void" in asked["asks"]
    assert 1 not in [result["round"] for result in floor.subscriber.events("round.result")]


def test_fortune_wheel(play: Play) -> None:
    floor = play(
        "fortune-wheel",
        "BAL05",
        '{ phases = "device" }',
        ("wheel", "fortune-board", "--numbers", "54,54,1"),
    )
    floor.start("fortune-board")
    results = until_said(floor.subscriber, "round.result", 3)
    assert [(result["outcome"]["cell"], result["spin"]) for result in results] == [
        (54, 1),
        (54, 2),
        (1, 3),
    ]
    assert wrong(floor.subscriber, 3) == []
    floor.prove()


def test_craps(play: Play) -> None:
    settings = '{ rounds = "dice", shooter = "unwatched", serials = "unwatched" }'
    board = "dice", "dice-board", "--throws", "34,22,22,61"
    # with bets open before the reader's first report, a throw may have come unseen
    floor = play("craps", "BAL05", settings, board, first=True)
    results = until_said(floor.subscriber, "round.result", 4)
    assert [result["outcome"]["dice"] for result in results] == [[3, 4], [2, 2], [2, 2], [6, 1]]
    assert wrong(floor.subscriber, 4) == []
    floor.prove()


def test_dice_that_were_not_thrown_wait_for_a_person(play: Play) -> None:
    settings = '{ rounds = "dice", shooter = "unwatched", serials = "unwatched" }'
    floor = play(
        "craps",
        "BAL05",
        settings,
        ("dice", "dice-board", "--throws", "34,22", "--fault", "0:cocked"),
    )
    floor.start("dice-board")
    (asked,) = until_said(floor.subscriber, "irregularity", 1)
    assert (asked["what"], asked["round"]) == ("die_cocked", 1)


def test_coins_and_packets(play: Play) -> None:
    """The slots play by themselves; the shuffler deals when the table is ready, so a hand writes
    what it says.
    """
    slots = "slot", "slot-board", "--boxes", "3", "--coin", "2.50", "--fault", "12:blocked=100000"
    floor = play(
        "poker-no-draw",
        "EUS96",
        '{ dealt = "packets", jackpot_stake = 2.50 }',
        slots,
        ("shuffler", "shuffler-board"),
    )
    shuffler, subscriber = floor.written["shuffler-board"], floor.subscriber
    shuffler.say("boot", 1, "by hand")
    raised = shuffler.jam(subscriber)
    assert raised["device"] == "shuffler"
    assert "feed" not in str(raised), (
        "a shuffler knows its cards: its own reports are not published"
    )
    shuffler.say("state", "shuffling", 0)
    until_said(subscriber, "alert.cleared", 1)
    floor.say("bets.open")
    floor.say("boxes.set", boxes=[1, 2, 3])
    floor.start("slot-board")
    until_said(subscriber, "bet.placed", 1)
    assert ("slot", "up") in [
        (event["device"], event["state"]) for event in subscriber.events("device.state")
    ]
    shuffler.say("verdict", 1, 52, 1, 1, "-", "-")
    until_said(subscriber, "deck.checked", 1)
    floor.say("bets.close")
    for index, to in enumerate(("box:1", "box:2", "box:3", "dealer"), 1):
        shuffler.say("packet", index, 5, to)
    dealt = until_said(subscriber, "card.dealt", 20)
    assert [event["to"] for event in dealt] == [
        to for to in ("box:1", "box:2", "box:3", "dealer") for _ in range(5)
    ]
    assert {event["card"] for event in dealt} == {None}
    assert {(event["bet"], event["amount"]) for event in subscriber.events("bet.placed")} == {
        ("jackpot", 250)
    }
    floor.prove()


def test_a_shuffler_that_reports_cards_in_order_is_ignored(play: Play) -> None:
    floor = play("poker-no-draw", "EUS96", '{ dealt = "packets" }', ("shuffler", "shuffler-board"))
    shuffler = floor.written["shuffler-board"]
    shuffler.jam(floor.subscriber)
    shuffler.say("order", "7h", "Ks", "2c")
    shuffler.say("packet", 1, 5, "7h+Ks+2c")
    shuffler.say("state", "ready", 0)
    until_said(floor.subscriber, "alert.cleared", 1)
    everything = (
        str([told(message.topic, message.payload) for message in floor.subscriber.messages])
        + floor.run.log()
    )
    assert "shuffler_jam" in everything
    for word in (
        "order",
        "packet",
    ):  # it was received: surveillance gets it, and even there without its cards
        assert f'"report":"cards_refused","value":"{word}"' in everything
    assert not re.search(r"7h.{1,3}Ks", everything)


def told(topic: str, payload: bytes) -> bytes:
    """The text of a message, opened where it is sealed: sealed bytes are random, and contain the
    name of any card some day.
    """
    return bytes(open_sealed(payload, KEY).body) if topic.endswith("/sealed") else payload
