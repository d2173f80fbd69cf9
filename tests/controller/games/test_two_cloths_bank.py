"""Baccarat at two cloths: the bank's duty: none in an ordinary round, in a restored play what the
table says.
"""

from __future__ import annotations

from common.contract.events import HandDecided, Irregularity
from controller.games.chemin.hands import bank_duty
from controller.games.chemin.state import CheminCoup, Word
from controller.games.dealt.cards import TableCard
from tests.controller.games.test_two_cloths import table
from tests.support.games.chemin_play import points, rules
from tests.support.games.play import of_kind, only, whats

SMALL = ["Kh", "Ah", "2h", "3h", "4h", "5h", "6h", "7h"]


def duty(decree: str, bank: int, thirds: tuple[int | None, int | None], *facts: str) -> str:
    """The bank's duty with this total against third cards of these values."""
    book = table(decree).book
    cards = [TableCard(card=SMALL[bank], to="bank"), TableCard(card="Kd", to="bank")]
    words: dict[str, Word] = {}
    for who, third in zip(book.hands, thirds, strict=True):
        cards += [TableCard(card=f"{third}c", to=who)] if third is not None else []
        words[who] = "draw" if third is not None else "stand"
    coup = CheminCoup(
        round=1,
        closed=True,
        cards=tuple(cards),
        third=tuple(range(2, len(cards))),
        words=words,
        table="table" in facts,
        restored="restored" in facts,
        bank_fault="bank_fault" in facts,
    )
    return bank_duty(book, coup, table=False)


@rules("ARA02-118", "BAL05-115 BAL05-123", "EUS96-140", "GAL07-121")
def test_what_the_bank_must_do_against_two_hands(decree: str) -> None:
    assert duty(decree, 5, (6, 7)) == "O"  # the table was not asked for
    assert duty(decree, 5, (6, 7), "table") == "T"
    assert duty(decree, 6, (5, None), "table") == "P"
    assert duty(decree, 5, (6, 2), "table") == "O"  # draw against one, stand against the other
    assert duty(decree, 5, (6, 2), "restored") == "O"
    assert duty(decree, 5, (6, 2), "restored", "bank_fault") == "T"
    assert duty(decree, 6, (6, 2), "restored", "bank_fault") == "P"
    assert duty(decree, 0, (6, 2)) == "T"


LIES_DOWN = ("ARA02-118", "BAL05-115", "EUS96-140", "GAL07-121")


@rules(*LIES_DOWN)
def test_in_an_ordinary_round_the_bank_is_free_against_the_other_hand_when_one_lies_down(
    decree: str,
) -> None:
    for third in (
        "9c",
        "8c",
        "2c",
    ):  # three against nine is optional, against eight and two it would be stand and draw
        for bank in ("stand", "draw"):
            play = table(decree, "4h 2c Kh 4d Kd 3s")
            play.turn("cloth:1")
            play.draw("cloth:2")
            play.cards(third)
            play.send(f"hand.{bank}", role="croupier", who="bank")
            if bank == "draw":
                play.cards("5d")
            events = play.turn()
            assert not of_kind(events, Irregularity)
            assert points(events)["bank"][0] == (3 if bank == "stand" else 8)


@rules(*LIES_DOWN)
def test_in_an_ordinary_round_a_banker_who_asked_for_the_table_is_free_in_its_optional_cells(
    decree: str,
) -> None:
    for third, must in (("9c", False), ("8c", False), ("2c", True)):
        play = table(decree, "4h 2c Kh 4d Kd 3s")
        play.send("table.follow", role="croupier")
        play.turn("cloth:1")
        play.draw("cloth:2")
        play.cards(third)
        play.stand("bank")
        assert ("bank_word" in whats(play.turn())) == must


@rules(*LIES_DOWN)
def test_in_a_restored_play_the_bank_follows_the_table_against_one_and_may_draw_to_the_other(
    decree: str,
) -> None:
    for third, must in (("9c", True), ("8c", False), ("2c", True)):
        play = table(decree, "4h 2c Kh 4d 2d 3s")
        play.turn("cloth:1")
        play.stand("cloth:2")  # with four
        play.stand("bank")
        assert only(play.turn("cloth:2"), HandDecided).decision == "draw"
        play.cards(third)
        play.stand("bank")
        assert ("bank_word" in whats(play.turn())) == must


@rules(*LIES_DOWN)
def test_a_cloth_that_is_null_has_not_lain_down(decree: str) -> None:
    play = table(decree, "2h 3c Kh 2d")
    play.decide("basket", who="cloth:1", fault="banker")
    play.cards("Ks 3s")
    play.stand("cloth:2")  # with three
    play.stand("bank")
    play.turn("cloth:2")
    play.cards("9c")  # three against nine: optional
    play.stand("bank")
    assert not of_kind(play.turn(), Irregularity)


@rules("ARA02-118 ARA02-E116", "BAL05-123", "EUS96-E141", "GAL07-121")
def test_both_cards_of_a_cloth_shown_in_the_deal(decree: str) -> None:
    for fault, must in (("banker", True), ("croupier", False)):
        play = table(decree, "2h 2c 5h 2d 5s Kd")
        play.decide("exposed", who="cloth:1", fault=fault)
        play.draw("cloth:1")
        play.cards("2s")  # five against two: stand; against who stood: draw
        play.stand("cloth:2")
        play.stand("bank")
        assert ("bank_word" in whats(play.turn())) == must


@rules("ARA02-118", "BAL05-123", "GAL07-121")
def test_of_a_round_with_shown_cards_only_the_paragraph_on_a_conflict_is_cited(
    decree: str,
) -> None:
    for fault in ("banker", "croupier"):
        play = table(decree, "2h 2c 5h 3d 5s Kd")
        play.decide("exposed", who="cloth:1", fault=fault)
        play.stand("cloth:1")
        play.stand("cloth:2")
        play.stand("bank")  # with five, where the table says draw against both
        assert not of_kind(play.turn(), Irregularity)
