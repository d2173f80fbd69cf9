"""A round of pai gow through a real daemon: dice and packets from their boards, the rest entered by
people.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.daemon.test_boards import Written
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open, until_said
from tests.support.daemon.process import Daemon, configuration
from tests.support.waiting import until

TABLE = "novamas-sim/v1/palma/p1"
BANK, BANK_LOW = "Qc Qd 9h 8s 7c Jd Th", "Jd Th"
BOX, BOX_LOW = "Kc Kd 2h 3s 5c Ah 4d", "Ah 4d"


def test_a_round_from_the_dice_to_the_result(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    boards = {kind: Written(tmp_path / kind, kind) for kind in ("dice", "shuffler")}
    table = '\n[[table]]\nid = "p1"\ngame = "pai-gow"\ndecree = "BAL09"\nsimulated = true\n'
    for kind, board in boards.items():
        ending.callback(board.close)
        options = "dice = 3, settle_time = 0.5, " if kind == "dice" else ""
        table += f'\n[[table.device]]\nid = "{kind}"\ndriver = "{kind}-board"\n'
        table += f'link = "serial://{tmp_path / kind}?baud=115200"\n'
        table += f"stale_after = 1000.0\noptions = {{ {options}late_after = 1000.0 }}\n"
    subscriber = subscribe(mosquitto.port)
    run = daemon(configuration(mosquitto.port, table))
    run.start()
    until("the table", lambda: subscriber.latest("/status"), run.log)
    for kind in boards:
        until_open(subscriber, run, "p1", kind)

    def say(name: str, **fields: Any) -> None:
        reply = command(subscriber, name, TABLE, **fields)
        assert reply["ok"], reply

    boards["shuffler"].jam(subscriber)
    boards["shuffler"].say("state", "ready", 0)
    blink(boards["dice"], subscriber)
    until_said(subscriber, "alert.cleared", 2)
    say("session.open", minimum=500, currency="EUR")
    say("boxes.set", boxes=[1])
    say("bets.open")
    say("bets.close")
    cast(boards["dice"], 2, "1@10.10", "2@100.10", "5@10.200")
    (dice,) = until_said(subscriber, "dice.thrown", 1)
    assert (dice["values"], dice["total"], dice["seat"]) == ([1, 2, 5], 8, 7)
    for number in (1, 2):
        boards["shuffler"].say("packet", number, 7)
    dealt = until_said(subscriber, "card.dealt", 14)
    assert [event["to"] for event in dealt] == ["dealer"] * 7 + ["box:1"] * 7
    assert {event["card"] for event in dealt} == {None}
    say("deck.check", cards=39)
    say("hand.act", who="box:1", action="set")
    say("cards.show", who="dealer", cards=BANK.split(), low=BANK_LOW.split())
    say("cards.show", who="box:1", cards=BOX.split(), low=BOX_LOW.split())
    (result,) = until_said(subscriber, "round.result", 1)
    assert [hand["outcome"] for hand in result["outcome"]["hands"] if "outcome" in hand] == ["win"]
    assert run.stop() == 0


def cast(dice: Written, throw_: int, *faces: str) -> None:
    """Three dice move, and come to lie."""
    dice.say("dice", 1, throw_, "ok", *(f"?{face[1:]}" for face in faces))
    for _ in range(3):
        dice.say("dice", 0, throw_, "ok", *faces)


def blink(dice: Written, subscriber: Subscriber) -> None:
    """The reader reports that it is broken until the table has received it: reports are ignored in
    the first second after connecting.
    """

    def said() -> list[dict[str, Any]]:
        dice.say("dice", 0, 1, "reader")
        return [
            event for event in subscriber.events("alert.raised") if event["what"] == "dice_sensor"
        ]

    until("the reader", said)
    dice.say("dice", 0, 1, "ok")
