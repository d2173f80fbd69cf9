"""A pair of controllers: one serves, the other follows its ledger and takes over when it must."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from common.standby.fence import FENCED_EXIT_STATUS
from controller.configuration.settings import (
    CarrouselConfig,
    Configuration,
    SiteConfig,
    StandbyConfig,
)
from controller.doctor import ledger_log
from subscribers.carrousel.verification import verify
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.carrousel.floor import (
    SEED,
    SITE,
    STAKE,
    Controller,
    Dealer,
    Floor,
    accounts,
    people,
    terms,
)
from tests.support.daemon.pair import Nats
from tests.support.waiting import TIMEOUT_SECONDS, until

RISE = STAKE * 9 // 10
LEASE_SECONDS = 4.0


class PairFloor(Floor):
    """``controllers``: both; ``controller`` is the one that is expected to serve."""

    controllers: tuple[Controller, Controller]
    store: Nats

    def serves(self, index: int, term: int) -> None:
        """Wait until this controller serves in this term, and its tables are in play."""
        self.controller = self.controllers[index]
        until(
            "the lease is taken",
            lambda: f'"term":{term}' in self.controller.log().replace(" ", ""),
            lambda: "\n".join(each.log()[-3000:] for each in self.controllers),
        )
        self.until(
            "its statement", lambda state: (term, state["boot"]) == last_start(self.controller)
        )
        self.in_play("poker-1", "poker-2")


def started(controller: Controller) -> dict[str, Any]:
    """Return the last start in a ledger."""
    if not controller.ledger.exists():
        return {"boot": ""}
    with closing(sqlite3.connect(f"file:{controller.ledger}?mode=ro", uri=True)) as ledger:
        facts = [msgspec.json.decode(fact) for (fact,) in ledger.execute("SELECT fact FROM entry")]
    starts: list[dict[str, Any]] = [fact for fact in facts if fact["fact"] == "started"]
    return starts[-1] if starts else {"boot": ""}


def last_start(controller: Controller) -> tuple[int, str]:
    """Return the term and the id of the run that began last, by a ledger."""
    start = started(controller)
    return start.get("term", 0), start["boot"]


def rows(controller: Controller) -> list[tuple[Any, ...]]:
    """Return the entries of a ledger."""
    if not controller.ledger.exists():
        return []
    with closing(sqlite3.connect(f"file:{controller.ledger}?mode=ro", uri=True)) as ledger:
        return ledger.execute("SELECT * FROM entry ORDER BY position").fetchall()


def alike(floor: PairFloor) -> bool:
    """Return whether both ledgers have the same entries."""
    first, second = (rows(each) for each in floor.controllers)
    return first == second and bool(first)


@pytest.fixture
def floor(programs: None, tmp_path: Path) -> Iterator[PairFloor]:
    with ExitStack() as ending:
        store = Nats(tmp_path / "nats")
        ending.callback(store.kill)
        store.start()
        broker = Mosquitto(tmp_path / "mosquitto")
        ending.callback(broker.kill)
        broker.start()
        subscriber = Subscriber(broker.port, "#")
        ending.callback(subscriber.close)
        dealer = Dealer(broker.port)
        ending.callback(dealer.close)
        dealer.serve("poker-1", "poker-2")
        controllers = [
            Controller(
                tmp_path / name,
                broker.port,
                terms("poker-1", "poker-2"),
                standby={
                    "servers": [store.url],
                    "instance": name,
                    "lease": LEASE_SECONDS,
                    "replicas": 1,
                },
            )
            for name in ("north", "south")
        ]
        for each in controllers:
            ending.callback(each.kill)
        controllers[0].start()
        floor = PairFloor(broker, subscriber, dealer, controllers[0])
        floor.controllers, floor.store = (controllers[0], controllers[1]), store
        floor.serves(0, 1)
        controllers[1].start()
        until("the other follows", lambda: alike(floor), controllers[1].log)
        yield floor


@pytest.mark.essential
def test_the_other_takes_over_with_every_cent(floor: PairFloor) -> None:
    first, second = floor.controllers
    floor.dealer.coin("poker-1")
    floor.dealer.award("poker-1")
    floor.dealer.staked("poker-1", STAKE)
    state = floor.until(
        "payable", lambda state: [each["status"] for each in state["awards"]] == ["payable"]
    )
    due = state["awards"][0]["value"]
    fields = {"award": 1, "amount": due, "paid": 0}
    assert not floor.order("a-riera", "award.pay", **fields)["ok"]
    number, body = floor.signed("t-vidal", "award.pay", **fields)
    assert floor.reply_to("linked", "award.pay", body, number)["ok"]
    first.kill()
    floor.dealer.coin("poker-2")
    floor.serves(1, 2)
    floor.until("the meter", lambda state: state["value"] == SEED + 2 * RISE - due)
    again = floor.reply_to("linked", "award.pay", body, number)
    assert again["refusal"]["key"] == "signed_already"
    assert accounts(second.ledger)["paid", "1"] == due
    assert started(second)["instance"] == "south"
    first.start()
    until("the first follows", lambda: alike(floor), first.log)
    assert second.stop() == 0
    floor.serves(0, 3)
    floor.dealer.coin("poker-1", round=2)
    floor.until("the meter", lambda state: state["value"] == SEED + 3 * RISE - due)
    assert first.stop() == 0
    assert [verify(each.ledger).status for each in floor.controllers] == [0, 0]


def test_who_is_revoked_at_one_is_revoked_at_the_other(floor: PairFloor) -> None:
    """The file is replaced on one machine only, whichever serves, and no restart brings the older
    one back.
    """
    first, second = floor.controllers
    folder = first.ledger.parent
    (folder / "people").write_bytes(people(number=2, revoked="t-vidal"))
    memory = second.ledger.with_name(f"{second.ledger.name}.people")
    until("the other has it", lambda: b'"number":2' in memory.read_bytes(), second.log)
    first.kill()
    floor.serves(1, 2)
    order = partial(floor.order, command="jackpot.suspend")
    assert order("t-vidal")["refusal"]["key"] == "person_revoked"
    second.kill()
    second.start()
    floor.serves(1, 3)
    assert order("t-vidal")["refusal"]["key"] == "person_revoked"
    until("the older one is refused", lambda: "old copy" in second.log(), second.log)
    first.start()
    until("the first follows", lambda: alike(floor), first.log)
    (folder / "people").write_bytes(people(number=3))
    until("who serves has it", lambda: b'"number":3' in memory.read_bytes(), second.log)
    assert order("t-vidal")["ok"]


def test_an_alert_while_the_other_could_not_take_over(floor: PairFloor) -> None:
    _, second = floor.controllers
    broker = dict(second.given["broker"])
    assert second.stop() == 0
    second.given["broker"] = {"url": "mqtt://127.0.0.1:1"}
    second.given["keepalive"] = 2.0
    second.start()
    unready = floor.alert("standby-unready")
    assert (unready["what"], unready["severity"]) == ("jackpot.standby_unready", "warning")
    assert "south: the broker cannot be reached" in unready["detail"]
    assert "configuration: " in floor.alert("standby-different")["detail"]
    second.kill()
    second.given |= {"broker": broker, "keepalive": 1.0}
    second.start()
    topics = [f"jackpot/linked/alert/standby-{name}" for name in ("unready", "different")]
    until("both end", lambda: not any(map(floor.subscriber.latest, topics)), second.log)


def test_one_that_wakes_up_ends(floor: PairFloor) -> None:
    first, second = floor.controllers
    assert first.process is not None
    first.process.send_signal(signal.SIGSTOP)
    floor.dealer.coin("poker-1")
    floor.serves(1, 2)
    before = len(rows(second))
    first.process.send_signal(signal.SIGCONT)
    assert first.process.wait(TIMEOUT_SECONDS) == FENCED_EXIT_STATUS
    first.process = None
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    assert len(rows(second)) >= before
    first.start()
    until("the first follows", lambda: alike(floor), first.log)


def test_nothing_counts_that_the_store_has_not_acknowledged(floor: PairFloor) -> None:
    first, _ = floor.controllers
    floor.store.kill()
    floor.dealer.coin("poker-1")
    assert first.process is not None
    assert first.process.wait(TIMEOUT_SECONDS) == FENCED_EXIT_STATUS
    assert floor.state()["value"] == SEED
    first.process = None
    floor.store.start()
    floor.serves(1, 2)
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)


def examined(floor: PairFloor, controller: Controller) -> list[tuple[str, str, str]]:
    """Return what ``novamas doctor`` finds of the log on the machine of a controller."""
    pair = StandbyConfig(servers=(floor.store.url,), replicas=1)
    configuration = Configuration(
        site=SiteConfig(id=SITE),
        carrousel=CarrouselConfig(path=str(controller.ledger), standby=True),
        standby=pair,
    )
    found = asyncio.run(ledger_log.check(pair, configuration))
    return [(each.level, each.what, each.do) for each in found]


def promoted(controller: Controller, *options: str) -> subprocess.CompletedProcess[str]:
    """Begin the log again with the ledger of a controller."""
    module = (sys.executable, "-m", "subscribers.carrousel.promote", "--settings")
    words = [*module, msgspec.json.encode(controller.given).decode(), *options]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_a_store_that_lost_the_log_waits_for_a_person(floor: PairFloor) -> None:
    first, second = floor.controllers
    floor.dealer.coin("poker-1")
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    assert second.stop() == 0
    floor.dealer.coin("poker-2")
    floor.until("the meter", lambda state: state["value"] == SEED + 2 * RISE)
    assert first.stop() == 0
    log, ledger = examined(floor, first)
    assert (log[0], ledger[0]) == ("ok", "ok")
    [_, behind] = examined(floor, second)
    ends = [ledger_log.read_end(each.ledger) for each in (first, second)]
    entries = [end.position for end in ends if end is not None]
    assert entries[0] > entries[1]
    assert behind[:2] == (
        "warning",
        f"{second.ledger} lacks {entries[0] - entries[1]} entries of the log",
    )
    refused = promoted(first, "--yes")
    assert refused.returncode == 1
    assert "nothing is lost" in refused.stderr
    floor.store.kill()
    shutil.rmtree(floor.store.folder / "js")
    floor.store.start()
    for controller in floor.controllers:
        floor.controller = controller
        controller.start()
        until("it waits", lambda: "promote" in floor.controller.log(), controller.log)
        controller.kill()
    [lost] = examined(floor, first)
    assert lost[0] == "fault"
    assert "novamas carrousel promote" in lost[2]
    asked = promoted(first)
    assert asked.returncode == 3
    assert "add --yes" in asked.stdout
    assert promoted(first, "--yes").returncode == 0
    first.start()
    floor.serves(0, 2)
    second.start()
    until("it needs a copy", lambda: "copy the ledger" in second.log(), second.log)
    assert "copy the ledger" in examined(floor, second)[-1][2]
    floor.dealer.coin("poker-1", round=2)
    floor.until("the meter", lambda state: state["value"] == SEED + 3 * RISE)
