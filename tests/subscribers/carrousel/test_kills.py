"""Kills of the controller and of the broker, losses and a full disk: the ledger is the one that a
separate calculation gives without them.
"""

from __future__ import annotations

import json
import random
import resource
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec
import pytest

from common.contract.times import format_utc, parse_utc
from subscribers.carrousel.verification import verify
from tests.support.carrousel.floor import SEED, STAKE, Dealer, Floor, accounts
from tests.support.waiting import until

RISE = STAKE * 9 // 10


def reckoned(journals: Mapping[str, list[bytes]]) -> dict[tuple[str, str], int]:
    """Return the expected balances: each coin adds 90 % to the meter, and each straight flush takes
    10 % of the meter at that time.
    """
    events = sorted(
        (msgspec.json.decode(body) for journal in journals.values() for body in journal),
        key=lambda event: (event["time"], event["table"]),
    )
    meter, award, sums = SEED, 0, {("seed", ""): -SEED}
    for event in events:
        if event["type"] == "bet.placed":
            table = event["table"]
            meter += RISE
            sums["stakes", table] = sums.get(("stakes", table), 0) - STAKE
            sums["house", table] = sums.get(("house", table), 0) + STAKE - RISE
        elif event["type"] == "award.qualified":
            award += 1
            value = meter // 10
            meter -= value
            sums["award", str(award)] = value
    return sums | {("meter", ""): meter}


def awarded(journals: Mapping[str, list[bytes]]) -> dict[str, int]:
    """Return the value of each award, by its time. Their numbers follow the order of arrival at the
    controller.
    """
    sums = reckoned(journals)
    times = sorted(
        event["time"]
        for journal in journals.values()
        for event in map(msgspec.json.decode, journal)
        if event["type"] == "award.qualified"
    )
    return {time: sums["award", str(number)] for number, time in enumerate(times, 1)}


def held(ledger: Path) -> dict[tuple[str, str], int]:
    """Return the balances of a ledger; the meter as the sum of its parts."""
    found = accounts(ledger)
    meter = sum(amount for (account, _), amount in found.items() if account == "meter")
    rest = {key: amount for key, amount in found.items() if key[0] != "meter"}
    return rest | {("meter", ""): meter}


def _without_awards(sums: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    return {key: amount for key, amount in sums.items() if key[0] != "award"}


class Play:
    """Rounds at both tables, one event after the other."""

    def __init__(self, dealer: Dealer, seed: int) -> None:
        self._dealer, self._random = dealer, random.Random(seed)
        self._rounds = {"poker-1": 0, "poker-2": 0}
        self.coins = self.awards = 0

    def round(self) -> None:
        table = self._random.choice(["poker-1", "poker-2"])
        self._rounds[table] += 1
        number = self._rounds[table]
        boxes = self._random.sample(range(1, 7), self._random.randint(1, 4))
        for box in boxes:
            lost = self._random.random() < 0.2
            told = self._dealer.coin(table, box=box, round=number, lost=lost)
            if self._random.random() < 0.2:
                self._dealer.tell(table, told)
            time.sleep(0.002)
        self.coins += len(boxes)
        if self._random.random() < 0.1:
            self._dealer.award(table, box=boxes[0], round=number)
            self.awards += 1
            time.sleep(0.3)  # the order of two hits is not the question here
        self._dealer.staked(table, STAKE * len(boxes), round=number)
        time.sleep(0.002)


def settled(floor: Floor) -> None:
    """Wait until no event is missing and no hit is pending."""
    for table in floor.dealer.journals:
        floor.dealer.retain(table)

    def all_there() -> bool:
        state = floor.state()
        return (
            state["in_play"]
            and all(each["in_play"] for each in state["tables"].values())
            and all(award["status"] == "payable" for award in state["awards"])
            and _without_awards(held(floor.controller.ledger))
            == _without_awards(reckoned(floor.dealer.journals))
            and {each["time"]: each["value"] for each in state["awards"]}
            == awarded(floor.dealer.journals)
        )

    until(
        "the ledger is whole",
        all_there,
        lambda: (
            f"{held(floor.controller.ledger)}\n{reckoned(floor.dealer.journals)}\n"
            f"{floor.state()}\n{floor.controller.log()[-3000:]}"
        ),
    )


@pytest.mark.essential
def test_kills_change_nothing(floor: Floor) -> None:
    play, chance = Play(floor.dealer, 1), random.Random(1)
    for turn in range(40):
        play.round()
        if turn % 10 == 4:
            time.sleep(chance.random() * 0.3)
            floor.controller.kill()
            play.round()
            floor.controller.start()
        if turn % 20 == 9:
            floor.broker.kill()
            play.round()
            floor.broker.start()
        if turn % 20 == 15:
            floor.dealer.restart(f"run-{turn}")
    settled(floor)
    assert play.coins > 40
    assert floor.controller.stop() == 0
    assert verify(floor.controller.ledger).status == 0


def test_a_state_that_is_changed_while_the_disk_is_full_is_not_gone_on_from(floor: Floor) -> None:
    floor.dealer.coin("poker-1")
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    assert floor.controller.process is not None
    pid = floor.controller.process.pid
    _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, most))
    floor.dealer.coin("poker-1", box=2)
    floor.until("out of play", lambda state: state["why"] == "store" and not state["in_play"])
    assert "free some disk space" in floor.alert("store")["detail"].lower()
    assert not floor.order("m-lasa", "jackpot.suspend")["ok"]
    with closing(sqlite3.connect(floor.controller.ledger)) as direct:
        (state,) = direct.execute("SELECT state FROM saved").fetchone()
        better = {**msgspec.json.decode(state), "receipt_count": 7}
        direct.execute("UPDATE saved SET state = ?", (msgspec.json.encode(better),))
        direct.commit()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
        found = "the saved state of linked"
        until("it is told", lambda: found in floor.alert("store")["detail"], floor.controller.log)
        assert floor.state()["why"] == "store"
        direct.execute("UPDATE saved SET state = ?", (state,))
        direct.commit()
    floor.until("the meter", lambda state: state["value"] == SEED + 2 * RISE)
    floor.in_play("poker-1", "poker-2")
    gone = partial(floor.subscriber.is_cleared, "jackpot/linked/alert/store")
    until("its alert is gone", gone, floor.controller.log)


def test_an_older_ledger_in_its_place_is_noticed(floor: Floor) -> None:
    floor.dealer.coin("poker-1")
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    assert floor.controller.stop() == 0
    old = floor.controller.ledger.read_bytes()
    floor.controller.start()
    floor.dealer.coin("poker-1", box=2)
    floor.until("the meter", lambda state: state["value"] == SEED + 2 * RISE)
    assert floor.controller.stop() == 0
    floor.controller.ledger.write_bytes(old)
    floor.controller.start()
    floor.until("not verified", lambda state: state["why"] == "not_verified")
    assert "Restore the last file" in floor.alert("not-verified")["detail"]


def test_an_untrue_clock_of_a_node_puts_its_tables_out_of_play(floor: Floor) -> None:
    topic = "novamas/v1/casino-mayor/node/node-1/health"
    for _ in range(2):
        floor.subscriber.publish(topic, {"boot": "b1", "time": format_utc(time.time() + 5)})
    floor.until("its clock", lambda state: state["tables"]["poker-1"]["why"] == "clock")
    body = json.dumps(floor.alert("poker-1-clock"))
    assert "s" in body
    now = format_utc(time.time())
    assert parse_utc(now) > 0
    floor.subscriber.publish(topic, {"boot": "b1", "time": now})
    floor.in_play("poker-1", "poker-2")
