"""``novamas run`` and ``novamas carrousel`` with one configuration at a real broker: coins in
slots, packets out of a shuffler, a straight flush, its payment by ``novamas send``, its correction.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from nacl.public import PrivateKey
from nacl.signing import SigningKey

from common.money import EURO, format_amount
from common.people.private_key import make_private_key
from common.people.register import (
    Key,
    PeopleHeader,
    Person,
    checked_people,
    to_base64url,
    write_people,
)
from controller.cli import main
from tests.common.people.test_private_key import LEAST, PASSPHRASE
from tests.daemon.test_boards import Written
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open
from tests.support.daemon.process import Daemon, configuration
from tests.support.programs import running
from tests.support.waiting import until

TABLE = "novamas-sim/v1/palma/b1"
STATE = "novamas-sim/v1/palma/jackpot/linked/state"
SITE_KEY = SigningKey(b"the key of the site of this test")
KEY = PrivateKey.generate()
STAKE, SEED = 250, 250_000
RISE = STAKE * 9 // 10
TEXT = f"""
[surveillance]
public_key = "{bytes(KEY.public_key).hex()}"

[carrousel]
keepalive = 20.0

[[table]]
id = "b1"
game = "poker-no-draw"
decree = "EUS96"
simulated = true
speed = 20
jackpot = "linked"
settings = {{ dealt = "packets", jackpot_stake = {format_amount(STAKE, EURO)} }}

[[jackpot]]
id = "linked"
decree = "EUS96"
games = ["poker-no-draw"]
currency = "EUR"
simulated = true
stake = {format_amount(STAKE, EURO)}
seed = {format_amount(SEED, EURO)}
[jackpot.authorisation]
number = "7/2026"
date = "2026-01-15"
authority = "Juego"
percentage = [9, 10]
tables = ["b1"]
"""
DEVICE = """
[[table.device]]
id = "{0}"
driver = "{0}-board"
link = "serial://{1}?baud=115200"
stale_after = 1000.0
options = {{ late_after = 1000.0 }}
"""


class Floor:
    """A table, its slots and shuffler, the controller of its jackpot, and a subscriber to both."""

    def __init__(
        self, folder: Path, subscriber: Subscriber, slots: Written, shuffler: Written
    ) -> None:
        self.folder, self.subscriber, self.slots, self.shuffler = (
            folder,
            subscriber,
            slots,
            shuffler,
        )
        self.file = folder / "novamas.toml"
        self.coins = self.packets = 0

    def say(self, name: str, **fields: Any) -> None:
        reply = command(self.subscriber, name, TABLE, **fields)
        assert reply["ok"], reply

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] | None = self.subscriber.latest(STATE)
        return found or {}

    def until(self, what: str, condition: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        state: dict[str, Any] = until(
            what,
            lambda: (found := self.state()) and condition(found) and found,
            lambda: f"{self.state()}\n{(self.folder / 'carrousel.log').read_text()[-3000:]}",
        )
        return state

    def coin(self, box: int) -> None:
        """A coin, and wait until the table says something to it."""
        count = len(self.told())
        self.coins += 1
        self.slots.say("coin", self.coins, box, STAKE)
        until("the coin", lambda: len(self.told()) > count, self.subscriber.transcript)

    def told(self) -> list[dict[str, Any]]:
        kinds = ("bet.placed", "irregularity")
        return [event for event in self.subscriber.events() if event["type"] in kinds]

    def packet(self, to: str) -> None:
        self.packets += 1
        self.shuffler.say("packet", self.packets, 5, to)

    def send(self, who: str, *words: str) -> int:
        keys = ("--key", str(self.folder / who), "--passphrase-file", str(self.folder / "words"))
        return main(["send", "jackpot/linked", *words, "--config", str(self.file), *keys])


@pytest.fixture
def floor(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> Floor:
    words = tmp_path / "words"
    words.touch(mode=0o600)
    words.write_bytes(PASSPHRASE)
    persons = []
    for name, role in (("a-riera", "inspector"), ("t-vidal", "director")):
        key = make_private_key(tmp_path / name, PASSPHRASE, *LEAST)
        persons.append(
            Person(
                id=name,
                name=name,
                roles=(role,),  # type: ignore[arg-type]
                tables=("b1",),
                keys=(Key(x=to_base64url(key.verify_key.encode())),),
            )
        )
    head = PeopleHeader(site="palma", number=1, time="2026-03-20T02:10:13Z")
    (tmp_path / "people.jsonl").write_bytes(write_people(checked_people(head, persons), SITE_KEY))
    people = (
        f'[people]\nrequired = false\nfile = "people.jsonl"\n'
        f'key = "{to_base64url(SITE_KEY.verify_key.encode())}"\n'
    )
    boards = {name: Written(tmp_path / name, name) for name in ("slot", "shuffler")}
    for board in boards.values():
        ending.callback(board.close)
    table, jackpot = TEXT.split("[[jackpot]]")
    text = table + "".join(DEVICE.format(name, tmp_path / name) for name in boards)
    subscriber = subscribe(mosquitto.port)
    run = daemon(configuration(mosquitto.port, text + "[[jackpot]]" + jackpot, people=people))
    run.start()
    with (tmp_path / "carrousel.log").open("wb") as log:
        main = [sys.executable, "-c", "import sys; from controller.cli import main; main()"]
        ending.enter_context(running([*main, "carrousel", str(run.file)], stderr=log))
    made = Floor(tmp_path, subscriber, boards["slot"], boards["shuffler"])
    for name in boards:
        until_open(subscriber, run, "b1", name)
    made.until("in play", lambda state: state["in_play"] and state["tables"]["b1"]["in_play"])
    made.shuffler.say("boot", 1, "by hand")
    made.shuffler.say("state", "shuffling", 0)
    made.shuffler.say("verdict", 1, 52, 1, 1, "-", "-")
    made.coin(1)  # the first one may follow a silence
    time.sleep(0.2)
    made.say("session.open", minimum=500, currency="EUR")
    return made


@pytest.mark.essential
def test_from_the_coin_to_the_payment_and_the_claim(floor: Floor) -> None:
    before = floor.until("in play", lambda state: state["in_play"])["value"]
    assert before == SEED
    floor.say("bets.open")
    floor.say("boxes.set", boxes=[1, 2])
    for box in (1, 2):
        floor.coin(box)
    floor.until("the meter", lambda state: state["value"] == SEED + 2 * RISE)
    floor.say("bets.close")
    for hand in ("box:1", "box:2", "dealer"):
        floor.packet(hand)
    until(
        "the deal",
        lambda: len(floor.subscriber.events("card.dealt")) == 15,
        floor.subscriber.transcript,
    )
    for who in ("box:1", "box:2"):
        floor.say("hand.act", who=who, action="go")
    floor.say("cards.show", who="dealer", cards=["Ah", "Kh", "3c", "4h", "9h"])
    floor.say("cards.show", who="box:1", cards=["2c", "2d", "2h", "8s", "Kd"])
    floor.say("cards.show", who="box:2", cards=["9s", "Ts", "7s", "6s", "Js"])
    floor.say("result.correct", round=1, hands={"box:2": ["9s", "8c", "7s", "6s", "5s"]})
    floor.say("result.correct", round=1, hands={"box:2": ["9s", "8c", "7c", "6s", "5s"]})
    assert floor.state()["awards"] == []
    floor.say(
        "result.correct",
        round=1,
        hands={"box:1": ["2c", "2d", "2h", "8h", "Kd"], "box:2": ["9s", "8s", "7s", "6s", "5s"]},
    )
    payable = floor.until("payable", lambda state: "award.pay" in state.get("asks", ()))
    [award] = payable["awards"]
    value = (SEED + 2 * RISE) // 10
    assert (award["hand"], award["value"], award["share"]) == ("straight_flush", value, [1, 10])
    assert payable["value"] == SEED + 2 * RISE - value
    pay = ("award.pay", "award=1", f"amount={format_amount(value, EURO)}", "paid=0")
    assert floor.send("a-riera", *pay) == 3, "it takes another person"
    assert floor.send("t-vidal", *pay) == 0
    floor.until("it is paid", lambda state: state["awards"] == [])
    floor.say("result.correct", round=1, hands={"box:2": ["9s", "8s", "7s", "6s", "5c"]})
    claimed = floor.until("a claim", lambda state: state["awards"])
    assert claimed["awards"][0]["status"] == "claimed"
    assert claimed["value"] == SEED + 2 * RISE - value


def test_send_prints_the_refusal(floor: Floor, capsys: pytest.CaptureFixture[str]) -> None:
    assert floor.send("a-riera", "award.pay", "award=1", "amount=0.05", "paid=0.00") == 3
    assert floor.send("t-vidal", "award.pay", "award=1", "amount=0.05", "paid=0.00") == 3
    output = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert output[0]["refusal"]["key"] == "second_person_wanted"
    assert "award 1" in output[1]["error"]
