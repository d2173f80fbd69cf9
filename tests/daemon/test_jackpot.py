"""``novamas run`` with a table that is linked with a jackpot: what its controller says over a real
broker decides whether bets on it are taken, and when it says nothing they are not.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nacl.public import PrivateKey

from common.confidential.boxes import open_sealed
from common.contract.jackpot import JackpotState, JackpotTable
from common.contract.times import format_utc
from controller.proof.audit import audit
from tests.daemon.test_boards import Written
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.carrousel.floor import Controller, terms
from tests.support.daemon.play import command, until_open
from tests.support.daemon.process import Daemon, configuration
from tests.support.waiting import TIMEOUT_SECONDS, until

TABLE = "novamas-sim/v1/palma/b1"
TOPIC = "novamas-sim/v1/palma/jackpot/carrousel-1/state"
KEY = PrivateKey.generate()
Standing = tuple[bool | None, str | None]
"""Whether a table has its jackpot in play, and why not."""
IN_PLAY: Standing = (True, None)
NO_STATEMENT: Standing = (False, "unheard")
CHECKING: Standing = (False, "not_verified")
LATE: Standing = (False, "clock")
"""The statement reached the daemon after the end of its validity."""


def statement(seconds: float = 60.0, **fields: Any) -> dict[str, Any]:
    """A statement of the controller, valid for that number of seconds."""
    now = time.time()
    said = JackpotState(
        site="palma",
        jackpot="carrousel-1",
        title={"es": "Carrousel"},
        decree="ARA02",
        currency="EUR",
        boot="7c02aa19",
        time=format_utc(now),
        until=format_utc(now + seconds),
        in_play=True,
        why=None,
        value=10_000,
        seq=1,
        awards=(),
        tables={"b1": JackpotTable(in_play=True, since=format_utc(now))},
        authorisation=None,
        simulated=True,
    )
    found: dict[str, Any] = msgspec.to_builtins(said)
    return {**found, **fields}


class Table:
    """A table of poker with slots that are written by hand; its session is open."""

    def __init__(self, subscriber: Subscriber, slots: Written, run: Daemon) -> None:
        self.subscriber, self.slots, self.run, self.coins = subscriber, slots, run, 0

    def state(self, body: Any, *, retain: bool = True) -> None:
        self.subscriber.publish(TOPIC, body, retain=retain)

    def standings(self) -> list[Standing]:
        """The table's jackpot statuses, oldest first."""
        events = self.subscriber.events("jackpot.in_play")
        return [(event["in_play"], event.get("why")) for event in events]

    def until_standing(self, *wanted: Standing) -> None:
        """Wait until these are the last."""

        def there() -> bool:
            return self.standings()[-len(wanted) :] == list(wanted)

        until(f"{wanted}", there, lambda: f"{self.standings()}\n{self.run.log()[-3000:]}")

    def until_in_play(self, seconds: float) -> None:
        """State that it is in play for that time, until the table has read it in time: a starved
        daemon reads a statement after it has expired.
        """
        while True:
            self.state(statement(seconds))
            if self._until_one_of(IN_PLAY, LATE) == IN_PLAY:
                return
            self.state(b"")
            self.until_standing(NO_STATEMENT)

    def until_ended(self, seconds: float) -> None:
        """State that it is in play for that time, and wait for its end. Likewise."""
        while True:
            self.state(statement(seconds))
            if self._until_one_of(NO_STATEMENT, LATE) == NO_STATEMENT:
                return
            self.state(statement())
            self.until_standing(IN_PLAY)

    def _until_one_of(self, *wanted: Standing) -> Standing:
        def last() -> Standing | None:
            return self.standings()[-1] if self.standings()[-1] in wanted else None

        found: Standing = until(f"one of {wanted}", last, self.run.log)
        return found

    def bet(self, box: int) -> dict[str, Any]:
        """The reply to a bet, once its event is there too."""
        known = len(self.placed())
        bet = {"who": f"box:{box}", "bet": "jackpot", "amount": 100}
        reply = command(self.subscriber, "bet.place", TABLE, **bet)
        if reply["ok"]:
            self.next_placed(known)
        return reply

    def coin(self, box: int) -> dict[str, Any]:
        """The table's reply to a coin."""
        known = len(self.placed())
        self.coins += 1
        self.slots.say("coin", self.coins, box, 100)
        return self.next_placed(known)

    def next_placed(self, known: int) -> dict[str, Any]:
        """The event after that number of events."""
        found: list[dict[str, Any]] = until(
            "the event", lambda: self.placed()[known:], self.subscriber.transcript
        )
        return found[0]

    def placed(self) -> list[dict[str, Any]]:
        kinds = ("bet.placed", "irregularity")
        return [event for event in self.subscriber.events() if event["type"] in kinds]

    def shown(self) -> Any:
        return self.subscriber.latest(f"{TABLE}/state")["shown"]["jackpot_standing"]

    def prove(self) -> None:
        """End the daemon, and derive its messages from its input again."""
        assert self.run.stop() == 0
        proved = audit(
            self.run.folder / "journal.sqlite3", lambda body: bytes(open_sealed(body, KEY).body)
        )
        assert proved.differences == []
        assert proved.proved_readings == proved.readings > 0
        assert proved.proved_events == proved.events > 0


@pytest.fixture
def table(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> Callable[..., Table]:
    """``table(setting...)``"""

    def begin(
        jackpot: str = 'jackpot = "carrousel-1"',
        settings: str = "{}",
        broker: Mosquitto = mosquitto,
    ) -> Table:
        link = tmp_path / "slots"
        slots = Written(link, "slot")
        ending.callback(slots.close)
        subscriber = subscribe(broker.port)
        run = daemon(configuration(broker.port, setup(link, jackpot, settings)))
        run.start()
        until("the table", lambda: subscriber.latest("/status"), run.log)
        until_open(subscriber, run, "b1", "slot")
        made = Table(subscriber, slots, run)
        assert made.coin(1)["what"] == "bet_late"  # the first one may follow a silence
        time.sleep(0.2)  # of the board, seconds
        for name, fields in (
            ("session.open", {"minimum": 500, "currency": "EUR"}),
            ("bets.open", {}),
            ("boxes.set", {"boxes": [1, 2, 3]}),
        ):
            assert command(subscriber, name, TABLE, **fields)["ok"]
        return made

    return begin


def setup(link: Path, jackpot: str, settings: str = "{}") -> str:
    return f"""
[surveillance]
public_key = "{bytes(KEY.public_key).hex()}"

[[table]]
id = "b1"
game = "poker-no-draw"
decree = "ARA02"
simulated = true
speed = 20
{jackpot}
settings = {settings}

[[table.device]]
id = "slot"
driver = "slot-board"
link = "serial://{link}?baud=115200"
stale_after = 1000.0
options = {{ late_after = 1000.0 }}
"""


def test_bets_are_accepted_while_the_controller_states_so(table: Callable[..., Table]) -> None:
    play = table()
    assert play.standings() == [NO_STATEMENT]
    refused = play.bet(1)
    assert (refused["ok"], refused["refusal"]["key"]) == (False, "jackpot_not_in_play")
    assert refused["refusal"]["fields"] == {"why": "unheard"}
    coin = play.coin(1)
    assert (coin["what"], coin["law"]) == ("jackpot_not_in_play", "ARA02-140")
    play.state(statement())
    play.until_standing(NO_STATEMENT, IN_PLAY)
    assert play.bet(1)["ok"]
    assert play.coin(2)["amount"] == 100
    until("it is shown", lambda: play.shown() == {"jackpot": "carrousel-1", "in_play": True})
    play.until_ended(5.0)  # no statement: it has expired
    play.until_standing(IN_PLAY, NO_STATEMENT)
    assert play.coin(3)["what"] == "jackpot_not_in_play"
    assert play.subscriber.latest(f"{TABLE}/info")["about"]["jackpot"] == "carrousel-1"
    play.prove()


FOREIGN: list[tuple[str, Any, str]] = [
    ("junk", b"\x00\xff{", "unreadable"),
    ("no object", b"[]", "unreadable"),
    ("deep", b"[" * 10_000, "unreadable"),
    ("no time", {"until": "tomorrow"}, "unreadable"),
    ("ends before it begins", {"until": "1970-01-01T00:00:00Z"}, "unreadable"),
    ("another site", {"site": "ibiza"}, "unreadable"),
    ("another jackpot", {"jackpot": "carrousel-2"}, "unreadable"),
    ("of real tables", {"simulated": False}, "unreadable"),
    ("another decree", {"decree": "EUS96"}, "foreign"),
    ("not this table", {"tables": {}}, "not_authorised"),
    ("nothing in play", {"in_play": False, "why": "store"}, "store"),
    (
        "this table not in play",
        {"tables": {"b1": {"in_play": False, "why": "gap", "since": "2026-03-20T02:10:13Z"}}},
        "gap",
    ),
    ("cleared", b"", "unheard"),
]


def test_what_counts_for_the_table(table: Callable[..., Table]) -> None:
    """Any other message than a statement for this table ends it, and the next statement begins it
    again.
    """
    play = table()
    for what, said, why in FOREIGN:
        play.state(statement())
        play.until_standing(IN_PLAY)
        play.state(said if isinstance(said, bytes) else statement(**said))
        play.until_standing(IN_PLAY, (False, why))
        assert play.bet(1)["refusal"]["fields"] == {"why": why}, what
    play.state(statement())
    play.until_standing(IN_PLAY)
    now = time.time()
    play.state(statement(time=format_utc(now - 60), until=format_utc(now - 45)), retain=False)
    play.until_standing(IN_PLAY, (False, "clock"))
    play.prove()


def test_a_flood_of_statements_costs_little_and_the_last_one_holds(
    table: Callable[..., Table], tmp_path: Path, ending: ExitStack
) -> None:
    roomy = Mosquitto(tmp_path / "roomy", "allow_anonymous true", "max_queued_messages 0")
    ending.callback(roomy.kill)
    roomy.start()
    play = table(broker=roomy)
    yes, no = (
        msgspec.json.encode(said) for said in (statement(), statement(in_play=False, why="store"))
    )
    for _ in range(1500):
        play.subscriber.publish_nowait(TOPIC, yes)
        play.subscriber.publish_nowait(TOPIC, no)
    play.state(statement(in_play=False, why="suspended"))
    play.until_standing((False, "suspended"))
    assert len(play.standings()) < 1000
    assert play.bet(1)["refusal"]["fields"] == {"why": "suspended"}
    play.state(statement())
    play.until_standing((False, "suspended"), IN_PLAY)
    assert play.bet(1)["ok"]
    play.prove()


def test_without_the_broker_it_ends_when_its_time_is_over(
    table: Callable[..., Table], mosquitto: Mosquitto
) -> None:
    play = table()
    play.until_in_play(3.0)
    mosquitto.kill()
    until("the end", lambda: play.run.logged("jackpot not in play"), play.run.log)
    play.subscriber.subscribed.clear()
    play.run.signal(signal.SIGSTOP)  # the broker has forgotten who listens: we are back first
    mosquitto.start()
    assert play.subscriber.subscribed.wait(TIMEOUT_SECONDS)
    play.run.signal(signal.SIGCONT)
    play.until_standing(IN_PLAY, NO_STATEMENT)
    assert play.bet(1)["refusal"]["fields"] == {"why": "unheard"}
    play.state(statement())
    play.until_standing(IN_PLAY, NO_STATEMENT, IN_PLAY)
    play.prove()


def test_a_restart_reads_the_statement_again_and_a_table_may_be_unlinked(
    table: Callable[..., Table], mosquitto: Mosquitto, tmp_path: Path
) -> None:
    play = table()
    play.state(statement(600.0))
    play.until_standing(NO_STATEMENT, IN_PLAY)
    assert play.bet(1)["ok"]
    play.run.kill()
    play.run.start()
    play.until_standing(
        IN_PLAY, NO_STATEMENT, IN_PLAY
    )  # the broker held it, and its time is to come
    play.until_ended(5.0)
    play.until_standing(IN_PLAY, NO_STATEMENT)
    play.run.kill()
    play.run.start()
    until_open(play.subscriber, play.run, "b1", "slot")
    assert play.bet(2)["refusal"]["fields"] == {
        "why": "unheard"
    }  # the broker's retained statement is old
    assert play.run.stop() == 0
    file = play.run.folder / "novamas.toml"
    assert 'jackpot = "carrousel-1"' in file.read_text()
    file.write_text(configuration(mosquitto.port, setup(tmp_path / "slots", "")))
    play.run.start()
    play.until_standing(NO_STATEMENT, (None, None))
    until_open(play.subscriber, play.run, "b1", "slot")
    assert play.bet(2)["ok"]
    assert play.shown() is None
    play.prove()


def test_a_site_may_have_bets_accepted_and_marked(table: Callable[..., Table]) -> None:
    play = table(settings='{ out_of_play = "mark" }')
    assert play.coin(1)["out_of_play"] is True
    known = len(play.placed())
    assert play.bet(2)["ok"]
    assert play.next_placed(known)["out_of_play"] is True
    play.state(statement())
    play.until_standing(IN_PLAY)
    assert play.bet(3)["ok"]
    assert "out_of_play" not in play.next_placed(known + 1)
    play.prove()


def test_a_controller_that_is_killed_ends_it(
    table: Callable[..., Table], mosquitto: Mosquitto, tmp_path: Path, ending: ExitStack
) -> None:
    """The real one: ``novamas carrousel`` with the table of this daemon."""
    play = table()
    authorised = terms("b1", jackpot="carrousel-1", decree="ARA02", stake=None, seed=0)
    authorised["authorisation"]["percentage"] = [1, 1]
    # its statements are valid for fifteen seconds: a controller that is starved for three is in
    # play
    controller = Controller(tmp_path / "carrousel", mosquitto.port, authorised, keepalive=5.0)
    controller.given["site"] = "palma"
    controller.given["jackpots"][0]["simulated"] = True
    ending.callback(controller.kill)
    controller.start()
    play.until_standing(IN_PLAY)  # after it has checked itself, which it may say meanwhile
    first, *between, _ = play.standings()
    assert first == NO_STATEMENT
    assert {*between} <= {NO_STATEMENT, CHECKING}
    assert play.coin(1)["amount"] == 100
    until("the meter", lambda: play.subscriber.latest(TOPIC)["value"] == 100, controller.log)
    controller.kill()
    play.until_standing(IN_PLAY, NO_STATEMENT)
    assert play.coin(2)["what"] == "jackpot_not_in_play"
    controller.start()
    play.until_standing(IN_PLAY)  # after it has checked itself, which it says meanwhile
    assert play.coin(3)["amount"] == 100
    until("the meter", lambda: play.subscriber.latest(TOPIC)["value"] == 200, controller.log)
    play.prove()
