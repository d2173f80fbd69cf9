"""Tables with cards in the simulated world: what must hold of cards holds, whatever goes wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from common.chain.schema import Entry
from tests.world.__main__ import main
from tests.world.broker.packets import Publish
from tests.world.cards.checkers import Hidden
from tests.world.cards.defects import damaged_card_is_dropped
from tests.world.cards.shoes import HandShoe, Shoe
from tests.world.cards.tabletop import Tabletop
from tests.world.errors import PropertyViolatedError
from tests.world.loop import WorldLoop
from tests.world.run import Plan, plan, plan_of, run

PARTS = ("cards",)


@pytest.mark.parametrize("seed", range(1, 5))
def test_cards_stay_what_and_where_they_are_under_the_faults_of_a_seed(seed: int) -> None:
    outcome = run(plan(seed, hours=0.05, tables=0, faults=6, parts=PARTS))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert outcome.events > 50, "hardly anything happened"


def test_a_seed_gives_the_same_run_again() -> None:
    first, second = (run(plan(5, hours=0.03, tables=0, faults=3, parts=PARTS)) for _ in range(2))
    assert first.trace == second.trace


def test_tables_with_cards_beside_those_of_jackpots() -> None:
    outcome = run(plan(1, 0.02, 0, 4, parts=("cards", "carrousel")))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


@pytest.mark.parametrize("seed", [1, 2])
def test_recalls_of_rounds_before_show_no_card_that_is_hidden_now(seed: int) -> None:
    outcome = run(plan(seed, 0.1, 0, 10, 4.0, parts=("cards", "recorder", "floor")))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


def test_a_reply_may_name_a_hidden_card_only_in_an_event_from_before_it_was_drawn() -> None:
    loop = WorldLoop(lambda: 0.0)
    top = Tabletop(Shoe(loop, "cards-1", "bee-tek", HandShoe(1, 0), 1))
    checker = Hidden({"cards-1": top}, frozenset)
    name = top.shoe.model._cards[-1]

    def event(seq: int) -> dict[str, Any]:
        return {"type": "card.turned", "table": "cards-1", "boot": "b", "seq": seq, "card": name}

    def reply(**fields: Any) -> Publish:
        body = {"id": "1", "ok": True, **fields}
        return Publish("novamas/v1/palma/cards-1/reply/cctv", json.dumps(body).encode())

    def store(seq: int) -> None:
        body = json.dumps(event(seq)).encode()
        checker.on_stored(
            [Entry(seq, "cards-1", "b", "event", seq, "", 0, body, b"", b"")], "north"
        )

    loop.close()
    store(1)
    loop.now = 10.0
    name = top.draw("player").name
    store(2)
    checker.on_published(reply(events=[event(1)]))
    for wrong in ({"events": [event(2)]}, {"error": f"the card is {name}"}):
        with pytest.raises(PropertyViolatedError, match="a face-down card in a reply"):
            checker.on_published(reply(**wrong))


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ("cards,recorder,audit", "'cards' does not go with audit"),
        ("people,dice", "'dice' does not go with people"),
        ("card", "there is no part 'card'"),
    ],
)
def test_parts_that_make_no_world_are_refused(
    parts: str, why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["make world", "--parts", parts])
    with pytest.raises(SystemExit):
        main()
    assert why in capsys.readouterr().err


def damaged_lines(seed: int) -> Plan:
    """A plan in which the lines of shoes are damaged, and one shoe is described by a profile."""
    return plan_of(plan(seed, hours=0.2, tables=0, faults=40, parts=PARTS), ("line damaged",))


def test_no_damaged_card_of_a_shoe_by_a_profile_is_lost_without_a_question() -> None:
    outcome = run(damaged_lines(2))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


def test_a_damaged_card_that_is_dropped_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    damaged_card_is_dropped(monkeypatch)
    findings = (run(damaged_lines(seed)).finding for seed in range(2, 40, 2))
    assert any(finding and "a card was lost without a question" in finding for finding in findings)
