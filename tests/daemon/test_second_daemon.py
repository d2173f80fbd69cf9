"""Two real daemons configured with the same table at one real broker: one serves it, both report
it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from controller.journal.reader import JournalReader
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import HEAD, TABLE, command, spin, until_more, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.programs import with_constants
from tests.support.waiting import until

FIRST, SECOND = (f"novamas/v1/palma/node/pit-{number}" for number in (1, 2))
HURRIED = with_constants(
    "controller.mqtt.table_claims", CLAIM_INTERVAL_SECONDS=0.5, CLAIM_EXPIRY_SECONDS=12.0
)
ONE_PROTOCOL = pytest.mark.parametrize("pair", ["5"], indirect=True)
"""Where no daemon's own messages decide: the protocols differ in whether it receives them."""
LEAVES = ("info", "state", "result", "history", "event", "sealed")


class Pair:
    """The daemon that had the table first, and one that came later, each with its wheel."""

    def __init__(
        self, port: int, wheels: tuple[Wheel, Wheel], daemons: tuple[Daemon, Daemon]
    ) -> None:
        self.port, self.wheels = port, wheels
        self.first, self.second = daemons

    def log(self) -> str:
        return f"{self.first.log()}\n--- second\n{self.second.log()}"


@pytest.fixture(params=["5", "3.1.1"])
def pair(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    ending: ExitStack,
    mosquitto: Mosquitto,
    wheel: Wheel,
    tell: Callable[[str, Callable[[], str]], None],
) -> Pair:
    other = Wheel(tmp_path / "other")
    ending.callback(other.close)
    daemons = []
    for number, each in ((1, wheel), (2, other)):
        folder = tmp_path / f"pit-{number}"
        folder.mkdir()
        text = configuration(
            mosquitto.port, table("r1", each), broker=f'protocol = "{request.param}"'
        )
        made = Daemon(folder, text.replace("pit-1", f"pit-{number}"))
        ending.callback(tell, f"log of pit-{number}", made.log)
        ending.callback(made.kill)
        daemons.append(made)
    return Pair(mosquitto.port, (wheel, other), (daemons[0], daemons[1]))


def boots(subscriber: Subscriber, since: int) -> set[Any]:
    """Who has published at the table what is happening there, not what happened before."""
    found = list(subscriber.messages)[since:]
    bodies = [
        message.body for message in found if message.topic.removeprefix(f"{TABLE}/") in LEAVES
    ]
    told = [body for body in bodies if isinstance(body, dict) and not body.get("historical")]
    return {body["boot"] for body in told if "boot" in body}


def read(daemon: Daemon, what: bytes) -> bool:
    """Whether its journal has this."""
    with closing(JournalReader(daemon.folder / "journal.sqlite3")) as reader:
        return any(what in entry.body for entry in reader.entries() if entry.kind == "input")


def elsewhere(subscriber: Subscriber, node: str) -> Any:
    health = subscriber.latest(f"{node}/health")
    return health and health["tables"]["r1"]["elsewhere"]


def test_the_first_has_the_table_and_both_report_it(
    pair: Pair, subscribe: Callable[..., Subscriber]
) -> None:
    subscriber = subscribe(pair.port)
    pair.first.start()
    until_up(subscriber, pair.first)
    assert command(subscriber, "session.open")["ok"]
    since = len(subscriber.messages)
    pair.second.start()
    pair.first.until_logged("another daemon serves a table of this one")
    pair.second.until_logged("another daemon serves a table of this one")
    alert = until("an alert", lambda: subscriber.latest(f"{TABLE}/alert/second-daemon"), pair.log)
    assert (alert["what"], alert["severity"]) == ("table.second_daemon", "fault")
    assert "table r1 is served by the daemon pit-2 too, and this one has it" in alert["detail"]
    until("the second says who has it", lambda: elsewhere(subscriber, SECOND) == "pit-1", pair.log)
    pair.second.until_logged("broker connected")
    for state in (2, 3, 4, 5):
        pair.wheels[1].show(state, 9, "23" if state == 5 else "  ")
    until("the second has read it", partial(read, pair.second, b'"number":23'), pair.log)
    result = spin(pair.wheels[0], subscriber, "17", 1)
    assert (result["boot"], result["outcome"]["number"]) == (pair.first.boot(), 17)
    known = len(subscriber.on("/reply/t"))
    for number in range(10):
        subscriber.publish(
            f"{TABLE}/command/bets-close", {**HEAD, "client": "t", "id": f"once {number}"}
        )
    until("ten answers", lambda: len(subscriber.on("/reply/t")) >= known + 10, pair.log)
    assert command(subscriber, "session.close")["ok"]
    ids = [reply.body["id"] for reply in subscriber.on("/reply/t")[known:-1]]
    assert ids == [f"once {number}" for number in range(10)], "each is answered once, in order"
    assert boots(subscriber, since) == {pair.first.boot()}
    until("the result is retained", lambda: subscriber.number() == 17, pair.log)
    assert pair.first.logged("another client publishes on this daemon's topics") == []


@ONE_PROTOCOL
def test_the_second_takes_over_when_the_first_is_gone_and_keeps_the_table(
    pair: Pair, subscribe: Callable[..., Subscriber]
) -> None:
    """With a claim that stands for twelve seconds, not for half a minute: a daemon that is starved
    for less keeps its table.
    """
    for daemon in (pair.first, pair.second):
        daemon.program = ("-c", HURRIED + daemon.program[1])
    subscriber = subscribe(pair.port)
    pair.first.start()
    until_up(subscriber, pair.first)
    assert command(subscriber, "session.open")["ok"]
    pair.second.start()
    until("it waits", lambda: elsewhere(subscriber, SECOND) == "pit-1", pair.log)
    pair.wheels[0].unplug()
    until("an alert of the first", lambda: subscriber.latest(f"{TABLE}/alert/wheel-link"), pair.log)
    pair.first.kill()
    until_up(subscriber, pair.second)
    until("it has the table", lambda: elsewhere(subscriber, SECOND) is None, pair.log)
    until(
        "that alert is cleared",
        lambda: subscriber.is_cleared(f"{TABLE}/alert/wheel-link"),
        pair.log,
    )
    since = len(subscriber.messages)
    assert command(subscriber, "session.open")["ok"]
    assert spin(pair.wheels[1], subscriber, "23", 1)["boot"] == pair.second.boot()
    pair.wheels[0].plug()
    pair.first.start()
    until("it waits now", lambda: elsewhere(subscriber, FIRST) == "pit-2", pair.log)
    assert spin(pair.wheels[1], subscriber, "32", 2, before="23")["outcome"]["number"] == 32
    assert pair.first.stop() == 0
    until(
        "the alert is over", lambda: subscriber.is_cleared(f"{TABLE}/alert/second-daemon"), pair.log
    )
    assert command(subscriber, "session.close")["ok"]
    assert boots(subscriber, since) == {pair.second.boot()}
    until("the result is retained", lambda: subscriber.number() == 32, pair.log)


@ONE_PROTOCOL
def test_a_session_and_round_name_one_result_on_either_daemon(
    pair: Pair, subscribe: Callable[..., Subscriber]
) -> None:
    """Killed, and ended in order: the other one numbers beyond, and declares the gap."""
    for daemon in (pair.first, pair.second):
        daemon.program = ("-c", HURRIED + daemon.program[1])
    subscriber = subscribe(pair.port)
    pair.first.start()
    until_up(subscriber, pair.first)
    assert command(subscriber, "session.open")["ok"]
    spin(pair.wheels[0], subscriber, "17", 1)
    pair.second.start()
    until("it waits", lambda: elsewhere(subscriber, SECOND) == "pit-1", pair.log)
    known = subscriber.latest(f"{FIRST}/claim")
    until(
        "the number of the session",
        lambda: subscriber.latest(f"{FIRST}/claim")["sessions"] == {"r1": 1},
    )
    before = pair.first.boot()
    pair.first.kill()
    [told] = until_more(subscriber, "journal.restored", 0)
    assert (told["boot"], told["source"]) == (pair.second.boot(), "other_daemon")
    assert (told["instance"], told["position"]) == ("pit-1", 0)
    assert told["since"] <= told["restored"]
    assert known["boot"] == before
    assert told["next_session"] > 1000
    assert command(subscriber, "session.open")["ok"]
    assert spin(pair.wheels[1], subscriber, "23", 1)["session"] == told["next_session"]
    pair.first.start()
    until("it waits now", lambda: elsewhere(subscriber, FIRST) == "pit-2", pair.log)
    highest = {"r1": told["next_session"]}
    until("it is told", lambda: subscriber.latest(f"{SECOND}/claim")["sessions"] == highest)
    assert pair.second.stop() == 0
    [again] = until_more(subscriber, "journal.restored", 1)
    assert (again["instance"], again["was_open"]) == ("pit-2", 1)
    assert again["next_session"] > told["next_session"] + 1000
    assert command(subscriber, "session.open")["ok"]
    result = spin(pair.wheels[0], subscriber, "32", 2, before="17")
    assert result["session"] == again["next_session"]
    boot = pair.first.boot()
    assert pair.first.stop() == 0
    pair.first.start()
    until_up(subscriber, pair.first)
    assert pair.first.boot() != boot
    state = subscriber.latest(f"{TABLE}/state")
    assert state["shown"]["session"] == again["next_session"], "its own numbers continue"
    assert len(subscriber.events("journal.restored")) == 2
    for daemon in (pair.first, pair.second):
        daemon.kill()
        assert main(["audit", str(daemon.folder / "journal.sqlite3")]) == 0


@ONE_PROTOCOL
def test_a_restart_takes_the_table_from_no_other_daemon(
    pair: Pair, subscribe: Callable[..., Subscriber]
) -> None:
    subscriber = subscribe(pair.port)
    pair.first.start()
    until_up(subscriber, pair.first)
    pair.second.start()
    until("it waits", lambda: elsewhere(subscriber, SECOND) == "pit-1", pair.log)
    for end in (pair.first.kill, pair.first.stop):
        end()
        pair.first.start()
        until_up(subscriber, pair.first)
        assert command(subscriber, "session.open")["ok"]
        assert command(subscriber, "session.close")["ok"]
    assert pair.second.boot() not in boots(subscriber, 0)
