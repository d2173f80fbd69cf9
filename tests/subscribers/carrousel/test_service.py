"""The controller, from coins at the broker to the meter, the hit and its payment."""

from __future__ import annotations

import re
import signal
import time
from functools import partial
from operator import ne
from pathlib import Path

import pytest

from common import clock
from common.people.private_key import make_private_key
from common.people.register import to_base64url
from subscribers.carrousel.announcer import MAX_IDLE_SECONDS
from subscribers.carrousel.service import JackpotController
from subscribers.carrousel.settings import CarrouselSettings, JackpotSettings
from subscribers.carrousel.terms import Terms
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.tables import BrokerLogin
from tests.common.people.test_private_key import LEAST, PASSPHRASE
from tests.subscribers.carrousel.conftest import Make
from tests.support.carrousel.floor import (
    SEED,
    STAKE,
    TOPICS,
    Dealer,
    Floor,
    accounts,
    enrolled_now,
    last_entry,
    people,
)
from tests.support.waiting import TIMEOUT_SECONDS, until

RISE = STAKE * 9 // 10


@pytest.fixture
def idle() -> JackpotController:
    """A controller that does not run."""
    terms = Terms(jackpot="a", decree="ARA02", games=(), currency="EUR")
    return JackpotController(
        CarrouselSettings(
            site="palma",
            broker=BrokerLogin(url="mqtt://127.0.0.1:1"),
            node="carrousel",
            ledger="none",
            jackpots=(JackpotSettings(terms=terms),),
        )
    )


def test_without_a_broker_nothing_is_due(idle: JackpotController) -> None:
    """A long backlog of unpublished states does not keep the processor busy."""
    assert [jackpot.published_at for jackpot in idle.jackpots.values()] == [0.0]
    assert idle.announcer.until_due() == MAX_IDLE_SECONDS


def test_an_alert_that_two_controllers_replace_floods_no_broker(
    idle: JackpotController, monkeypatch: pytest.MonkeyPatch
) -> None:
    published: list[str] = []
    monkeypatch.setattr(
        ServiceConnection, "retain", lambda _, topic, *__, **___: published.append(topic)
    )
    with clock.use(clock.Source(monotonic=lambda: 100.0)):
        for _ in range(1000):
            idle.announcer.on_alert(idle.jackpots["a"], "not-verified", b"{}", retained=False)
    assert published == ["novamas/v1/palma/jackpot/a/alert/not-verified"]
    idle.announcer.correct(101.0)
    assert len(published) == 2, "the last one is replaced too"
    idle.announcer.correct(102.0)
    assert len(published) == 2


def test_a_coin_raises_the_meter(floor: Floor) -> None:
    assert floor.in_play("poker-1")["value"] == SEED
    floor.dealer.coin("poker-1")
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    floor.dealer.coin("poker-2", box=3)
    state = floor.until("the meter", lambda state: state["value"] == SEED + 2 * RISE)
    assert state["authorisation"]["number"] == "7/2026"
    assert state["title"] == {"es": "carrusel"}
    assert state["until"] > state["time"]
    assert accounts(floor.controller.ledger)["stakes", "poker-2"] == -STAKE


def test_a_hit_is_pending_then_payable_and_two_persons_pay(floor: Floor) -> None:
    dealer = floor.dealer
    dealer.coin("poker-1")
    dealer.award("poker-1")
    pending = floor.until("the hit", lambda state: state["awards"])
    [award] = pending["awards"]
    assert (award["status"], award["table"], award["box"]) == ("pending", "poker-1", "box:1")
    dealer.staked("poker-1", STAKE)
    payable = floor.until("it is final", lambda state: state["awards"][0]["status"] == "payable")
    value = (SEED + RISE) // 10
    assert payable["awards"][0]["value"] == value
    assert payable["value"] == SEED + RISE - value
    assert payable["won"]["award"] == 1
    assert "award.pay" in payable["asks"]

    refused = floor.order("j-croupier", "award.pay", award=1, amount=value)
    assert not refused["ok"]
    assert "not allowed" in refused["error"]
    first = floor.order("m-lasa", "award.pay", award=1, amount=1000)
    assert not first["ok"]
    again = floor.order("m-lasa", "award.pay", award=1, amount=1000)
    assert not again["ok"]
    assert accounts(floor.controller.ledger).get(("paid", "1")) is None
    part = floor.order("a-riera", "award.pay", award=1, amount=1000)
    assert part == {"id": part["id"], "ok": True, "receipt": 1}
    too_much = floor.two("award.pay", award=1, amount=value, paid=1000)
    assert not too_much["ok"]
    rest = floor.two("award.pay", award=1, amount=value - 1000, paid=1000)
    assert rest["receipt"] == 2
    paid = floor.until("it is paid", lambda state: not state["awards"])
    assert paid["last"][0]["status"] == "paid"
    assert accounts(floor.controller.ledger)["paid", "1"] == value


def test_a_correction_before_a_payment_revokes_the_award(floor: Floor) -> None:
    dealer = floor.dealer
    dealer.coin("poker-1")
    dealer.award("poker-1")
    dealer.staked("poker-1", STAKE)
    floor.until("the award", lambda state: state["awards"])
    dealer.award("poker-1", valid=False)
    state = floor.until("it is taken back", lambda state: not state["awards"])
    assert state["last"][0]["status"] == "withdrawn"
    assert state["value"] == SEED + RISE


def test_a_correction_after_a_payment_is_a_claim(floor: Floor) -> None:
    dealer = floor.dealer
    dealer.coin("poker-1")
    dealer.award("poker-1")
    dealer.staked("poker-1", STAKE)
    floor.until("payable", lambda state: state["awards"] and "award.pay" in state["asks"])
    assert floor.two("award.pay", award=1, amount=100)["ok"]
    before = floor.state()["value"]
    dealer.award("poker-1", valid=False)
    claimed = floor.until("a claim", lambda state: state["awards"][0]["status"] == "claimed")
    assert claimed["value"] == before
    assert "claim.settle" in claimed["asks"]
    assert floor.two("claim.settle", award=1, how="recovered")["ok"]
    floor.until("the money is back", lambda state: state["value"] == SEED + RISE)


def test_lost_events_are_recalled(floor: Floor) -> None:
    dealer = floor.dealer
    dealer.coin("poker-1", box=1, lost=True)
    dealer.happens("poker-1", "card.expected", to=None, lost=True)
    dealer.coin("poker-1", box=2)
    floor.until("both coins", lambda state: state["value"] == SEED + 2 * RISE)
    dealer.coin("poker-1", box=3, lost=True)
    dealer.retain("poker-1")
    floor.until("the last one too", lambda state: state["value"] == SEED + 3 * RISE)
    dealer.coin("poker-2", box=1, lost=True)
    dealer.restart("b2")
    dealer.coin("poker-2", box=2)
    floor.until("of both runs", lambda state: state["value"] == SEED + 5 * RISE)
    floor.in_play("poker-1", "poker-2")


def test_recalls_are_signed_where_commands_must_be(floor: Floor, tmp_path: Path) -> None:
    floor.controller.stop()
    words = tmp_path / "words"
    words.touch(mode=0o600)
    words.write_bytes(PASSPHRASE + b"\n")
    key = make_private_key(tmp_path / "reader", PASSPHRASE, *LEAST)
    public = to_base64url(key.verify_key.encode())
    floor.dealer.people = enrolled_now(public)
    Path(str(floor.controller.given["people_file"])).write_bytes(people(public, number=2))
    floor.controller.given |= {
        "recall_key": str(tmp_path / "reader"),
        "recall_passphrase": str(words),
    }
    floor.dealer.coin("poker-1", lost=True)
    floor.controller.start()
    floor.until("the coin", lambda state: state["value"] == SEED + RISE)
    floor.in_play("poker-1", "poker-2")


def test_a_table_that_answers_no_recall_is_out_of_play(floor: Floor) -> None:
    floor.controller.stop()
    floor.dealer.answers = False
    floor.controller.start()
    floor.until(
        "it waits",
        lambda state: state["in_play"] and state["tables"]["poker-1"]["why"] == "unheard",
    )
    floor.dealer.answers = True
    floor.in_play("poker-1", "poker-2")


def test_an_unreachable_table_is_out_of_play(floor: Floor) -> None:
    floor.dealer.offline()
    state = floor.until("unheard", lambda state: state["tables"]["poker-1"]["why"] == "unheard")
    assert state["in_play"]
    assert not state["tables"]["poker-1"]["in_play"]
    floor.dealer.online()
    floor.in_play("poker-1", "poker-2")


def test_a_table_that_is_linked_with_another_jackpot_is_foreign(floor: Floor) -> None:
    floor.dealer.retain("poker-2", jackpot="other")
    floor.until("foreign", lambda state: state["tables"]["poker-2"]["why"] == "foreign")
    assert "links it with other" in floor.alert("poker-2-foreign")["detail"]
    floor.dealer.retain("poker-2")
    floor.in_play("poker-2")


def test_bad_input_is_refused_with_words_and_changes_nothing(floor: Floor) -> None:
    dealer = floor.dealer
    dealer.coin("poker-1", amount=0)
    assert "a stake of no amount" in floor.alert("poker-1-refused")["detail"]
    dealer.coin("poker-1", amount=STAKE + 1)
    assert "has €5.01 on the jackpot: €5.00 is" in floor.alert("poker-1-amount-wrong")["detail"]
    dealer.award("poker-2")
    floor.alert("poker-2-award-without-bet")
    dealer.coin("poker-2", simulated=True)
    assert "simulated" in floor.alert("poker-2-refused")["detail"]
    dealer.tell("poker-2", b"no event")
    floor.until("the meter is as it was", lambda state: state["value"] == SEED)
    told = dealer.coin("poker-2", box=2)
    floor.until("a good one counts", lambda state: state["value"] == SEED + RISE)
    dealer.tell("poker-2", told)
    dealer.tell("poker-2", told.replace(b'"box:2"', b'"box:4"'))
    assert "differs" in floor.alert("poker-2-contradiction")["detail"]
    assert floor.state()["value"] == SEED + RISE


def test_orders_that_no_one_may_give(floor: Floor) -> None:
    floor.subscriber.publish(
        "novamas/v1/casino-mayor/jackpot/linked/command/meter-adjust", {"amount": 5}
    )
    assert not floor.order("m-lasa", "meter.adjust", amount=500)["ok"]
    assert not floor.order("a-riera", "no.such", amount=500)["ok"]
    wrong = floor.order("a-riera", "meter.adjust", amount="many")
    assert "amount" in wrong["error"]
    assert not floor.order("t-vidal", "meter.adjust", role="inspector", amount=5)["ok"]
    assert floor.state()["value"] == SEED
    assert floor.two("meter.adjust", amount=500, note="a coin was found")["ok"]
    floor.until("it is put right", lambda state: state["value"] == SEED + 500)


def test_a_suspended_jackpot_is_out_of_play_until_it_is_resumed(floor: Floor) -> None:
    assert floor.order("m-lasa", "jackpot.suspend")["ok"]
    floor.until("suspended", lambda state: state["why"] == "suspended" and not state["in_play"])
    assert floor.order("a-riera", "jackpot.resume")["ok"]
    floor.in_play("poker-1")


def test_a_restored_journal_is_a_gap_that_two_persons_settle(floor: Floor) -> None:
    dealer = floor.dealer
    dealer.coin("poker-1", box=1)
    dealer.coin("poker-1", box=2)
    floor.until("both", lambda state: state["value"] == SEED + 2 * RISE)
    del dealer.journals["poker-1"][1]
    dealer.restart("b9")
    dealer.coin("poker-1", box=3, round=2)
    state = floor.until("a gap", lambda state: state["tables"]["poker-1"]["why"] == "gap")
    assert state["asks"] == ["gap.settle"]
    assert state["value"] == SEED + 2 * RISE
    assert "restored" in floor.alert("poker-1-gap")["detail"]
    assert floor.two("gap.settle", table="poker-1", amount=2 * STAKE)["ok"]
    floor.until("and what came since", lambda state: state["value"] == SEED + 5 * RISE)
    floor.in_play("poker-1")


def test_a_stopping_controller_reports_it(floor: Floor) -> None:
    floor.dealer.coin("poker-1")
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    assert floor.controller.stop() == 0
    state = floor.until("it stops", lambda state: not state["in_play"])
    assert state["value"] == SEED + RISE
    until(
        "offline", lambda: floor.subscriber.latest("node/carrousel/status")["status"] == "offline"
    )
    until(
        "the checkpoint",
        lambda: floor.subscriber.latest("node/carrousel/checkpoint")["position"] == state["seq"],
    )
    floor.dealer.coin("poker-1", box=2)
    floor.controller.start()
    floor.until("what it missed", lambda state: state["value"] == SEED + 2 * RISE)
    floor.in_play("poker-1", "poker-2")


def test_a_controller_stops_without_its_broker_too(floor: Floor) -> None:
    assert floor.controller.process is not None
    floor.controller.process.send_signal(signal.SIGTERM)
    floor.broker.kill()
    assert floor.controller.process.wait(TIMEOUT_SECONDS) == 0


def test_a_broker_that_answers_late_is_not_left(floor: Floor) -> None:
    """After an outage its replies are queued behind its backlog: disconnecting would start that
    again.
    """
    floor.in_play("poker-1")
    floor.broker.signal(signal.SIGSTOP)
    time.sleep(7.0)  # longer than most clients wait for an answer, shorter than the keep-alive
    floor.broker.signal(signal.SIGCONT)
    floor.dealer.coin("poker-1")
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    assert "no connection to the broker" not in floor.controller.log()


def test_a_killed_controller_is_announced_and_resumes(floor: Floor) -> None:
    floor.dealer.coin("poker-1")
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    assert floor.controller.process is not None
    floor.controller.process.send_signal(signal.SIGKILL)
    floor.controller.kill()
    until(
        "its last will",
        lambda: floor.subscriber.latest("node/carrousel/status")["status"] == "offline",
    )
    floor.controller.start()
    floor.dealer.coin("poker-1", box=2)
    floor.until("the ledger continues", lambda state: state["value"] == SEED + 2 * RISE)


def test_parameters_wait_until_the_jackpot_is_won(floor: Floor) -> None:
    floor.dealer.coin("poker-1")
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    floor.controller.stop()
    floor.controller.given["jackpots"][0]["terms"]["seed"] = 2 * SEED
    floor.controller.start()
    floor.until("they wait", lambda state: state.get("terms_wait") and state["in_play"])
    assert floor.state()["value"] == SEED + RISE


def test_an_altered_ledger_is_out_of_play(make: Make) -> None:
    floor = make()
    floor.dealer.coin("poker-1")
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    floor.controller.stop()
    written = floor.controller.ledger.read_bytes()
    changed = written.replace(b'"box":"box:1"', b'"box":"box:7"')
    assert changed != written
    floor.controller.ledger.write_bytes(changed)
    floor.controller.start()
    floor.until("not verified", lambda state: state["why"] == "not_verified")
    assert str(floor.controller.ledger) in floor.alert("not-verified")["detail"]
    assert not floor.state()["in_play"]
    floor.controller.kill()
    assert floor.controller.ledger.read_bytes() == changed, "it never repairs by itself"


def test_a_table_without_an_authorisation_is_reported_and_never_accepted(floor: Floor) -> None:
    stranger = Dealer(floor.broker.port, node="node-2", boot="s1")
    try:
        stranger.serve("poker-8")
        alert = floor.alert("poker-8-not-authorised")
        assert alert["what"] == "jackpot.not_authorised"
        assert "poker-8 plays for this jackpot" in alert["detail"]
        entries = last_entry(floor.controller.ledger)

        def refused(event: str) -> bool:
            stranger.coin("poker-8", round=2)
            stranger.happens("poker-8", event, amount=STAKE, award="jackpot")
            body = floor.subscriber.latest("jackpot/linked/alert/poker-8-refused")
            return body is not None and event in body["detail"]

        for event in ("award.qualified", "jackpot.staked"):  # raised until it is handled
            until(f"{event} is refused", partial(refused, event), floor.controller.log)
        assert "the table is not authorised" in floor.alert("poker-8-refused")["detail"]
        floor.dealer.coin("poker-1")
        state = floor.until("an authorised one", lambda state: state["value"] != SEED)
        assert (state["value"], state["seq"]) == (SEED + RISE, entries + 2), "the alert, the coin"
        assert set(state["tables"]) == {"poker-1", "poker-2"}
        stranger.retain("poker-8", jackpot="other")
        gone = "jackpot/linked/alert/poker-8-not-authorised"
        until("it is over", lambda: floor.subscriber.is_cleared(gone), floor.controller.log)
    finally:
        stranger.close()


def test_a_forged_statement_is_replaced_and_reported_once(floor: Floor) -> None:
    topic = TOPICS.jackpot("linked", "state")
    floor.dealer.coin("poker-1")
    true = floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    for forged in ({**true, "value": 9_999_999}, {**true, "seq": true["seq"] + 1}):
        floor.subscriber.publish(topic, forged, retain=True)
        until("it is heard", partial(_said, floor, forged))
        floor.until("it is put right", lambda state: state["value"] == SEED + RISE)
        floor.until("by ours", partial(ne, forged))
    alert = floor.alert("state-foreign")
    assert (alert["what"], alert["severity"]) == ("jackpot.state_foreign", "fault")
    raised = [
        message
        for message in floor.subscriber.on("jackpot/linked/alert/state-foreign")
        if message.body
    ]
    assert len(raised) == 1
    floor.in_play("poker-1", "poker-2")


def test_own_statements_are_no_forged_ones(floor: Floor) -> None:
    for box in range(1, 7):
        floor.dealer.coin("poker-1", box=box)
    floor.broker.kill()
    floor.broker.start()
    floor.dealer.coin("poker-2")
    floor.until("all of it", lambda state: state["value"] == SEED + 7 * RISE)
    floor.in_play("poker-1", "poker-2")
    assert floor.subscriber.latest("jackpot/linked/alert/state-foreign") is None


def _said(floor: Floor, state: object) -> bool:
    return any(message.body == state for message in floor.subscriber.on("jackpot/linked/state"))


def test_a_flood_of_orders_delays_nothing_and_is_counted(floor: Floor) -> None:
    topic = TOPICS.jackpot("linked", "command/jackpot-suspend")
    for _ in range(500):
        floor.subscriber.publish(topic, {"no": "signature"})
    sent = 0

    def counted() -> tuple[int, int, int]:
        told = floor.subscriber.latest("jackpot/linked/alert/orders-discarded")
        detail = "" if told is None else told["detail"]
        found = re.search(r"(\d+) orders without a signature, and (\d+) that", detail)
        answered = {
            message.body["id"] for message in floor.subscriber.on("jackpot/linked/reply/console-1")
        }
        return (int(found[1]), int(found[2]), len(answered)) if found else (0, 0, 0)

    def too_many() -> bool:
        nonlocal sent
        for _, body in [floor.signed("j-croupier", "jackpot.suspend") for _ in range(500)]:
            floor.subscriber.publish_nowait(topic, body)
        sent += 500
        return counted()[1] > 0

    until("too many at a time", too_many, floor.controller.log)
    floor.dealer.coin("poker-1")
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)

    def all_counted() -> bool:
        unsigned, beyond, answered = counted()
        return (unsigned, beyond + answered) == (500, sent)

    until("all are counted", all_counted, floor.controller.log)
    assert floor.order("a-riera", "jackpot.suspend")["ok"]
