"""``novamas run`` with six simulated coin acceptors on one ccTalk bus, a pseudo-terminal with its
echo: coins from the wire to a subscriber, and proved again from the journal.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from common.confidential.boxes import open_sealed
from controller.proof.audit import audit
from tests.daemon.test_boards import KEY, TABLE, Simulated, told
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open, until_said
from tests.support.daemon.process import Daemon, configuration
from tests.support.waiting import until

BOXES = range(1, 7)
SPEED = 2
"""Of the table and of its acceptors: an answer has 0.1 s."""


def words(subscriber: Subscriber) -> str:
    """Everything published; where cards are face down, an acceptor's reports are sealed."""
    return str([told(one.topic, one.payload) for one in subscriber.messages])


def test_coins_of_six_boxes(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    """Each box takes part with its coin; a counter that jumped is reported, and its coins beyond
    the last five are not made up; a table without an acceptor's answer plays on.
    """
    link = tmp_path / "bus"
    bus = Simulated(
        link, "slot", "cctalk-acceptor", "--boxes", "6", "--coin", "2.00", "--speed", str(SPEED)
    )
    ending.callback(bus.close)
    boxes = ", ".join(f"[{box + 1}, {box}]" for box in BOXES)
    table = f"""
[surveillance]
public_key = "{bytes(KEY.public_key).hex()}"

[[table]]
id = "b1"
game = "poker-no-draw"
decree = "EUS96"
simulated = true
speed = {SPEED}
settings = {{ jackpot_stake = 2.00 }}

[[table.device]]
id = "slots"
driver = "cctalk-acceptor"
link = "serial://{link}?baud=9600"
options = {{ boxes = [{boxes}], coins = [[5, 1.00], [6, 2.00]] }}
"""
    subscriber = subscribe(mosquitto.port)
    run = daemon(configuration(mosquitto.port, table))
    run.start()
    until("the table", lambda: subscriber.latest("/status"), run.log)
    until_open(subscriber, run, "b1", "slots")

    def say(name: str, **fields: Any) -> None:
        reply = command(subscriber, name, TABLE, **fields)
        assert reply["ok"], reply

    bus.say("start")
    say("session.open", minimum=500, currency="EUR")
    say("bets.open")
    say("boxes.set", boxes=list(BOXES))
    placed = until_said(subscriber, "bet.placed", 3)
    assert {(one["bet"], one["amount"]) for one in placed} == {("jackpot", 200)}
    assert {one["who"] for one in placed} <= {f"box:{box}" for box in BOXES}
    bus.say("counter_jump 9")
    until("the jump", lambda: "box 1: up to 4" in words(subscriber), run.log)
    bus.say("dead_acceptor 10")
    until("the silence", lambda: "box 1: silent" in words(subscriber), run.log)
    assert run.stop() == 0
    proved = audit(run.folder / "journal.sqlite3", lambda body: bytes(open_sealed(body, KEY).body))
    assert proved.differences == []
    assert proved.proved_readings == proved.readings > 0
