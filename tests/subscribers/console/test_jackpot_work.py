"""What waits at a jackpot and what may be ordered there, made of its statement."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from common.contract.jackpot import JACKPOT_ORDERS
from common.contract.jackpot_authority import ORDERS
from common.contract.messages.messages import LANGUAGES
from common.contract.retained import Alert
from common.people.register import Person
from subscribers.console.forms import PIN_COMMANDS, STOPPING_ORDERS, is_readable
from subscribers.console.jackpot_context import JackpotContext, role_for
from subscribers.console.jackpot_work import jackpot_outcome, jackpot_view
from subscribers.console.sending import SecondPersonWait, Touch
from subscribers.console.view import ConsoleView, WorkItem
from subscribers.feed.meter import Meter, MeterSilence
from tests.support.jackpot import award, statement, table
from tests.support.people.staff import LASA, RIERA, VIDAL

BOTH = LASA  # table head and inspector
"""m-lasa, who has two roles."""


def at(person: Person = VIDAL, language: str = "en", **told: Any) -> ConsoleView:
    """A person's view of a jackpot in this state."""
    return jackpot_view(seen(person, language, **told))


def seen(
    person: Person = VIDAL,
    language: str = "en",
    touches: tuple[Touch, ...] = (),
    waits: tuple[SecondPersonWait, ...] = (),
    silent: MeterSilence | None = None,
    here: bool = True,
    alerts: dict[str, Alert] | None = None,
    **told: Any,
) -> JackpotContext:
    return JackpotContext(
        name="jackpot/gran",
        meter=Meter(jackpot="gran", state=statement(**told), alerts=alerts or {}),
        silent=silent,
        here=here,
        others=("petit",),
        person=person,
        language=language,
        touches=touches,
        waits=waits,
    )


def said(item: WorkItem) -> list[tuple[str, dict[str, Any], bool]]:
    """The buttons of an item: command, what it says already, whether more is filled in."""
    return [(answer.command, answer.fields, answer.open) for answer in item.answers]


def touch(**fields: Any) -> Touch:
    given: dict[str, Any] = {
        "number": "n" * 16,
        "person": VIDAL,
        "table": "jackpot/gran",
        "command": "award.pay",
        "fields": {"award": 1, "amount": 1_250_000, "paid": 0},
        "role": "director",
        "how": "waiting",
        "at": 0.0,
    }
    return Touch(**{**given, **fields})


def test_an_award_is_paid_whole_or_in_part_and_shows_earlier_payments() -> None:
    (item,) = at(awards=(award(paid=50_000),)).items
    assert item.title == "Award 1: to be paid"
    assert item.detail == "royal flush · table poker-2, box 3, round 41"
    assert [each.text for each in item.says] == [
        "A♥ K♥ Q♥ J♥ 10♥",
        "€12,500.00",
        "€500.00",
        "€12,000.00",
    ]
    assert said(item) == [
        ("award.pay", {"award": 1, "paid": 50_000, "amount": 1_200_000}, False),
        ("award.pay", {"award": 1, "paid": 50_000}, True),
        ("award.dispute", {"award": 1}, True),
    ]
    assert [answer.two for answer in item.answers] == [True, True, False]
    assert [answer.grave for answer in item.answers] == [True, True, False]
    assert all(is_readable(command, fields) for command, fields, open_ in said(item) if not open_)


@pytest.mark.parametrize(
    ("told", "commands"),
    [
        ({"status": "disputed"}, ["award.uphold", "award.withdraw"]),
        ({"status": "disputed", "paid": 1}, ["award.uphold"]),
        ({"status": "claimed", "paid": 1}, ["claim.settle"] * 3),
        ({"status": "pending", "why": "amount", "value": None, "share": None}, ["award.decide"]),
    ],
)
def test_an_awards_actions_follow_its_status(told: dict[str, Any], commands: list[str]) -> None:
    (item,) = at(awards=(award(**told),)).items
    assert [name for name, *_ in said(item) if name != "award.dispute"] == commands
    (alone,) = at(RIERA, awards=(award(**told),)).items  # a croupier may nothing
    assert (alone.answers, alone.others) == ((), "gaming inspector, gaming director")


def test_an_award_that_waits_for_tables_is_shown_without_actions_until_it_is_overdue() -> None:
    pending = award(status="pending", why="tables", time="2026-03-20T02:10:16.215319Z")
    soon = at(awards=(pending,), now=1_773_972_620.0)
    assert soon.items == ()
    (shown,) = soon.awards
    assert shown.title == "Award 1: pending: a linked table has not answered yet"
    late = at(awards=(pending,), now=1_773_972_700.0)
    assert [said(item) for item in late.items] == [[("hit.fix", {"hit": 1}, False)]]


def test_hits_of_unknown_order_have_a_button_for_each_order() -> None:
    pair = tuple(
        award(number, table=f"poker-{number}", status="pending", why="order") for number in (1, 2)
    )
    (item,) = at(awards=pair, unordered=((2, 1),)).items
    assert said(item) == [
        ("hits.order", {"hits": [2, 1]}, False),
        ("hits.order", {"hits": [1, 2]}, False),
    ]
    assert item.answers[0].text == "Hit 2 first: poker-2"
    three = (*pair, award(3, status="pending", why="order"))
    (item,) = at(awards=three, unordered=((1, 2, 3),)).items
    assert said(item) == [("hits.order", {"hits": [1, 2, 3]}, True)]


def test_a_table_whose_events_are_missing_is_settled_by_name() -> None:
    (item,) = at(tables={"poker-1": table(), "poker-2": table(False, "gap")}).items
    assert item.title == "Table poker-2: events are missing"
    named = {"table": "poker-2", "gap": table().since}
    assert said(item) == [("gap.settle", named, True)]
    assert item.answers[0].fixed == ("table", "gap")


def test_the_second_person_is_one_whose_role_the_first_one_lacks() -> None:
    roles = ("table_head", "inspector", "director")
    first = SecondPersonWait(touch=touch(role="table_head"), roles=roles, until=2e9)
    second = next(item for item in at(waits=(first,)).items if item.what == "second")
    assert not second.answers  # signed by one person
    head = Person(id="x", name="X. Head", roles=("table_head",), tables=("*",), keys=())
    second = next(item for item in at(head, waits=(first,)).items if item.what == "second")
    assert (second.answers, second.others) == ((), "gaming inspector, gaming director")
    second = next(item for item in at(BOTH, waits=(first,)).items if item.what == "second")
    (answer,) = second.answers
    assert answer.fields == first.touch.fields
    assert answer.about == "pay an award · number of the award: 1 · amount: €12,500.00"
    weighty = SecondPersonWait(touch=touch(role="inspector"), roles=roles, until=2e9)
    second = next(item for item in at(head, waits=(weighty,)).items if item.what == "second")
    assert second.answers


def test_a_person_orders_in_the_role_that_weighs_most() -> None:
    assert role_for(BOTH, "award.pay") == "inspector"
    assert role_for(RIERA, "award.pay") is None
    assert role_for(VIDAL, "round.void") is None


def test_what_is_not_current_or_not_theirs_offers_nothing() -> None:
    told: dict[str, Any] = {"awards": (award(),), "unordered": ((1, 2),)}
    silent = at(silent=MeterSilence("expired", None), **told)
    assert (silent.items, silent.offers, silent.awards) == ((), (), ())
    assert silent.trouble is not None
    foreign = at(here=False, **told)
    assert (foreign.items, foreign.offers, foreign.awards, foreign.meter) == ((), (), (), None)


def test_what_is_offered_is_what_can_be_now() -> None:
    assert [offer.command for offer in at().offers] == [
        "jackpot.suspend",
        "meter.adjust",
        "pool.transfer",
        "pool.close",
    ]
    held = at(in_play=False, why="suspended", awards=(award(),))
    assert [offer.command for offer in held.offers] == [
        "jackpot.resume",
        "meter.adjust",
        "pool.transfer",
    ]
    moving = at(awards=(award(status="pending", why="tables"),))
    assert [offer.command for offer in moving.offers] == ["jackpot.suspend", "meter.adjust"]
    transfer = next(offer for offer in at().offers if offer.command == "pool.transfer")
    assert [each.value for each in transfer.choices["to"]] == ["petit"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_payment_shows_its_receipt_and_one_without_an_answer_where_to_look(language: str) -> None:
    paid = jackpot_outcome(seen(language=language), touch(how="followed", receipt=7))
    assert paid.receipt is not None
    assert "--jackpot gran --number 7 --output gran-7.pdf" in paid.receipt
    here = msgspec.structs.replace(seen(language=language), has_ledger=True)
    paid_here = jackpot_outcome(here, touch(how="followed", receipt=7))
    assert paid_here.receipt_path == "/pit/receipt/gran/7"
    assert paid_here.receipt is not None
    assert "novamas" not in paid_here.receipt
    lost = jackpot_outcome(seen(language=language), touch(how="unknown"))
    assert lost.found
    assert lost.receipt is None


def test_every_order_has_its_roles_and_is_grave_unless_it_stops() -> None:
    assert set(ORDERS) == set(JACKPOT_ORDERS)
    for name in STOPPING_ORDERS:
        assert name not in PIN_COMMANDS
    for may in ORDERS.values():
        assert set(may.among) <= set(may.roles)


def test_what_the_controller_found_wrong_is_in_the_list_and_a_gap_only_once() -> None:
    found = {
        name: Alert(
            alert=name,
            what=what,
            severity="warning" if name.startswith("poker") else "fault",
            raised="2026-03-20T02:10:16.215319Z",
            detail="coins of 300 were counted, but the play says 200",
        )
        for name, what in (
            ("poker-2-stakes-differ", "jackpot.stakes_differ"),
            ("store", "jackpot.store"),
            ("poker-2-gap", "jackpot.gap"),
        )
    }
    assert [
        (item.what, item.title, item.detail, said(item)) for item in at(alerts=found).items
    ] == [
        ("fault", "the ledger cannot be written", found["store"].detail, []),
        (
            "warning",
            "coins and the play's sum differ",
            found["store"].detail,
            [
                ("alert.acknowledge", {"alert": "poker-2-stakes-differ"}, False),
                ("alert.clear", {"alert": "poker-2-stakes-differ"}, False),
            ],
        ),
    ]


def test_an_acknowledged_alert_shows_who_and_when_and_only_some_may_clear_it() -> None:
    alert = Alert(
        alert="poker-2-refused",
        what="jackpot.refused",
        severity="warning",
        raised="2026-03-20T02:10:16.215319Z",
        acknowledged_by="M. Lasa",
        acknowledged_role="table_head",
        acknowledged="2026-03-20T02:12:40.000319Z",
    )
    (item,) = at(alerts={alert.alert: alert}).items
    assert [each.text for each in item.says] == ["M. Lasa · 2026-03-20 02:12:40 UTC"]
    assert said(item) == [("alert.clear", {"alert": "poker-2-refused"}, False)]
    head = replace(LASA, roles=("table_head",))
    (item,) = at(head, alerts={alert.alert: alert}).items
    assert (item.answers, item.others) == ((), "gaming inspector, gaming director")
    new = replace(alert, acknowledged_by=None, acknowledged=None)
    (item,) = at(head, alerts={alert.alert: new}).items
    assert [name for name, *_ in said(item)] == ["alert.acknowledge"]
