"""The shoe by itself: its cards, those that leave it, its faults. No game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.commands import ShoeStart
from common.readings import ShoeFault
from controller.games import shoe
from controller.games.cards import DECK
from controller.games.shoe import Shoe, ShoeSettings
from controller.rulebooks.cards import ShoeRules
from tests.support.for_each import for_each

RULES = ShoeRules(decks=6, behind=7, burn="shown", backs=(3, 3), index=True, new=False)


def start(**fields: Any) -> ShoeStart:
    return ShoeStart(at=1.0, by="M. Lasa", role="croupier", shoe=fields.pop("shoe", "S1"), **fields)


def full(settings: ShoeSettings = ShoeSettings(), **fields: Any) -> Shoe:  # noqa: B008 - frozen
    return shoe.put_in(RULES, settings, start(**fields))


def drawn(cards: Sequence[str | None], of: Shoe) -> tuple[Shoe, list[str]]:
    troubles: list[str] = []
    for card in cards:
        of, trouble = shoe.draw(of, card)
        troubles += [trouble] if trouble else []
    return of, troubles


@pytest.mark.rule(
    "BAL05-002",
    "BAL05-008",
    "BAL05-009",
    "BAL05-010",
    "EUS96-050",
    "EUS96-055",
    "GAL07-041",
    "GAL07-043",
)
@for_each(
    ("said", "rules", "wrong"),
    [
        ({}, RULES, ()),
        ({"model": "Ace"}, RULES, ()),
        ({"model": "Other"}, RULES, ("shoe_model",)),
        (
            {"model": "Ace", "cards": 312, "backs": (3, 3), "index": True, "new": False, "cut": 7},
            RULES,
            (),
        ),
        ({"model": "Ace", "cards": 311}, RULES, ("shoe_count",)),
        ({"model": "Ace", "backs": (6,)}, RULES, ("cards_backs",)),
        ({"model": "Ace", "backs": (6,)}, msgspec.structs.replace(RULES, backs=(6,)), ()),
        ({"model": "Ace", "index": False}, RULES, ("cards_index",)),
        (
            {"model": "Ace", "index": True},
            msgspec.structs.replace(RULES, index=False),
            ("cards_index",),
        ),
        ({"model": "Ace", "index": True}, msgspec.structs.replace(RULES, index=None), ()),
        ({"model": "Ace", "new": False}, msgspec.structs.replace(RULES, new=True), ("cards_new",)),
        ({"model": "Ace", "new": False}, msgspec.structs.replace(RULES, new=None), ()),
        ({"model": "Ace", "cut": 6}, RULES, ("cut_card",)),
        (
            {"model": "Ace", "cut": 60},
            msgspec.structs.replace(RULES, behind=52, behind_exact=False),
            (),
        ),
        (
            {"model": "Ace", "cut": 51},
            msgspec.structs.replace(RULES, behind=52, behind_exact=False),
            ("cut_card",),
        ),
    ],
)
def test_the_stated_cards_are_checked_against_the_rules(
    said: dict[str, Any], rules: ShoeRules, wrong: tuple[str, ...]
) -> None:
    models = ("Ace",) if said else ()
    assert shoe.objections(rules, ShoeSettings(models=models), start(**said)) == wrong


def test_objections_and_troubles_have_their_laws() -> None:
    said = start(model="x", cards=1, backs=(1,), index=False, new=False, cut=1)
    rules = msgspec.structs.replace(RULES, new=True)
    assert {*shoe.objections(rules, ShoeSettings(models=("Ace",)), said)} <= {*shoe.LAWS}
    assert {"card_unread", "card_foreign", "card_too_many"} <= {*shoe.LAWS}


@pytest.mark.rule("BAL05-007", "EUS96-054", "GAL07-040")
def test_a_card_seen_too_often_or_of_another_game_is_a_fault() -> None:
    of, troubles = drawn(["7h"] * 6 + ["Xx", "joker", None], full())
    assert troubles == ["card_foreign", "card_foreign", "card_unread"]
    of, trouble = shoe.draw(of, "7h")
    assert trouble == "card_too_many"
    assert (of.drawn, of.unread, of.left) == (10, 1, 302)


def test_a_whole_shoe_matches_its_composition() -> None:
    of, troubles = drawn([*DECK] * 6, full())
    event = shoe.ended(of, "person", left=0)
    assert troubles == []
    assert (event.drawn, event.unread, event.left, event.missing, event.extra) == (
        312,
        0,
        0,
        (),
        (),
    )


@pytest.mark.rule("BAL05-007")
def test_missing_and_extra_cards_are_named_when_all_were_drawn() -> None:
    cards = [*DECK] * 6
    cards[cards.index("7h")] = "8h"
    event = shoe.ended(drawn([*cards], full())[0], "person")
    assert (event.missing, event.extra) == (("7h",), ("8h",))


@pytest.mark.parametrize("left", [1, 7])
def test_cards_that_are_still_in_the_shoe_are_never_named(left: int) -> None:
    of, _ = drawn([*([*DECK] * 6)[left:]], full())
    event = shoe.ended(of, "cut")
    assert (event.left, event.missing, event.extra) == (left, (), ())


def test_stating_an_empty_shoe_does_not_reveal_the_drawn_cards() -> None:
    """The cards that are missing by that statement are all but those that were drawn, the burned
    and covered ones among them.
    """
    of, _ = drawn(["7h", "8h"], full())
    event = shoe.ended(of, "person", left=0)
    assert shoe.miscounted(of, 0)
    assert (event.left, event.missing, event.extra) == (0, (), ())


@for_each("word", ["E12", "14, error mode", "mode Manual Burn Cards", "W0x1C", "door", "312", None])
def test_a_devices_own_text_of_a_fault_is_published(word: str | None) -> None:
    assert shoe.own_word(ShoeFault(at=1.0, fault="alarm", active=True, detail=word)) == word


@for_each(
    "word",
    ["7h misread", "Card:10H", "S4", "H-10 twice", "ace", "Queen of Hearts", "7\u2665", "\\x17"],
)
def test_text_that_may_name_a_card_is_not_published(word: str) -> None:
    assert shoe.own_word(ShoeFault(at=1.0, fault="alarm", active=True, detail=word)) is None


def test_a_count_at_the_end_is_checked_against_the_cards_drawn() -> None:
    of, _ = drawn([*DECK], full())
    assert not shoe.miscounted(of, None)
    assert not shoe.miscounted(of, 260)
    assert shoe.miscounted(of, 259)
    assert shoe.ended(of, "person", left=259).left == 259


def test_after_a_silence_nothing_is_counted() -> None:
    of = shoe.lose_count(drawn([*DECK], full())[0])
    assert of.left is None
    assert not shoe.miscounted(of, 3)
    assert not shoe.cut_misplaced(RULES, shoe.cut(of))
    assert shoe.ended(of, "cut").left is None


@pytest.mark.parametrize(
    ("drawn_", "exact", "wrong"),
    [(305, True, False), (304, True, True), (305, False, False), (306, False, True)],
)
def test_the_cut_card_must_have_enough_cards_behind_it(
    drawn_: int, exact: bool, wrong: bool
) -> None:
    rules = msgspec.structs.replace(RULES, behind_exact=exact)
    of = shoe.cut(drawn([*([*DECK] * 6)[:drawn_]], full())[0])
    assert of.cut_at == drawn_
    assert shoe.cut(shoe.draw(of, "7h")[0]).cut_at == drawn_
    assert shoe.cut_misplaced(rules, of) is wrong


@pytest.mark.rule("BAL05-005")
def test_a_continuous_shoe_has_no_count_and_no_cut_card() -> None:
    settings = ShoeSettings(continuous=True)
    of, troubles = drawn(["7h"] * 50, full(settings))
    assert troubles == []
    assert of.left is None
    assert shoe.started(of, start()).cut == 0
    assert shoe.objections(RULES, settings, start(cut=0)) == ()


def test_a_persons_reading_replaces_the_counted_card() -> None:
    of, _ = shoe.draw(full(), None)
    of, trouble = shoe.read(of, "7h")
    assert (trouble, of.drawn, of.unread, of.seen) == (None, 1, 0, {"7h": 1})
    of, trouble = shoe.reread(of, "7h", "8h")
    assert (trouble, of.drawn, of.seen) == (None, 1, {"8h": 1})
    of, _ = shoe.draw(of, None)
    of, trouble = shoe.reread(of, None, "9h")
    assert (trouble, of.drawn, of.unread, of.seen) == (None, 2, 0, {"8h": 1, "9h": 1})


@pytest.mark.rule("BAL05-003", "EUS96-049", "GAL07-045")
def test_the_same_shoe_session_after_session_is_systematic() -> None:
    past: shoe.Past = ()
    told = []
    for numbers in (["S1"], ["S2", "S1"], ["S1", "S1"], [], ["S1"]):
        past = shoe.new_session(past)
        for number in numbers:
            past = shoe.assign(past, number)
            told.append(shoe.systematic(past, number, 3))
    assert told == [False, False, False, True, True, False]
    assert past == (("S1",), ("S2", "S1"), ("S1",), (), ("S1",))
    assert shoe.assign((), "S1") == (("S1",),)


def test_only_the_last_sessions_are_remembered() -> None:
    past: shoe.Past = ()
    for number in range(50):
        past = shoe.assign(shoe.new_session(past), f"S{number}")
    assert len(past) == shoe.MAX_REMEMBERED_SESSIONS
    assert past[-1] == ("S49",)


@given(st.lists(st.sampled_from([*DECK, "Zz", None]), max_size=400))
def test_cards_drawn_and_left_always_add_up(cards: list[str | None]) -> None:
    of, troubles = drawn(cards, full())
    assert of.drawn == len(cards)
    assert of.left == 312 - len(cards)
    assert sum(of.seen.values()) + of.unread + troubles.count("card_foreign") == len(cards)
    assert troubles.count("card_too_many") == sum(max(0, n - 6) for n in of.seen.values())
    assert msgspec.json.decode(msgspec.json.encode(of), type=Shoe) == of
    shown = msgspec.json.encode(shoe.show(of)).decode()
    assert not any(f'"{card}"' in shown for card in DECK)
    assert shoe.show(None) is None
