"""Published results of house poker that a person corrects: everything is settled again, and no
hidden card is requested.
"""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec
import pytest

from common.contract.events import AwardQualified, ResultCorrected, RoundResult
from common.contract.refusals import RejectedError
from controller.games.dealt.state import HISTORY_ROUNDS
from controller.games.games import make_game
from controller.games.poker.state import MAX_REMEMBERED_ROUNDS
from controller.tables.table import Table
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import confidential, make_command, of_kind
from tests.support.games.poker_play import Play, dealt, go, result, table
from tests.support.games.scripts import read

PUBLISHED, BANK, POOR = "9s 8s 7s 6s 5s", "Ah Kh 3c 4h 9h", "Qh Jd 3c 4h 9h"
THREE, THREE_BANK = "9s 9d 9c", "Ah Kh 3c"


def correct(play: Play, **fields: Any) -> list[Any]:
    """Correct hands to these cards: ``box1`` for ``box:1``."""
    number, role = fields.pop("round", 1), fields.pop("role", "table_head")
    named = {who.replace("box", "box:"): cards.split() for who, cards in fields.items()}
    return [*play.send("result.correct", role, round=number, hands=named)]


def corrected(events: list[Any]) -> ResultCorrected:
    [event] = of_kind(events, ResultCorrected)
    return event


@pytest.mark.parametrize(
    ("game", "decree", "bets", "told", "right"),
    [
        ("poker-no-draw", "BAL05", ["insurance"], (PUBLISHED, BANK), ("9s 8s 7s 6s 5c", BANK)),
        ("poker-no-draw", "BAL05", ["insurance"], (PUBLISHED, BANK), (PUBLISHED, POOR)),
        (
            "poker-no-draw",
            "ARA02",
            ["jackpot"],
            (PUBLISHED, BANK),
            ("9s 9d 7s 6s 5s", "9h 9c 7h 6h 5h"),
        ),
        ("poker-no-draw", "EUS96", ["jackpot"], ("2c 2d 8s 7c 6h", BANK), ("As Ks Qs Js Ts", BANK)),
        ("three-card-poker", "BAL09", ["pair_plus"], (THREE, THREE_BANK), ("9s 9d 2c", "Ah As 3c")),
        ("three-card-poker", "EUS96", [], ("Ks Kd 4c", THREE_BANK), ("Ks Qd 4c", "4h 5c 7s")),
    ],
)
def test_a_corrected_result_is_what_the_right_cards_would_have_made(
    game: str, decree: str, bets: list[str], told: tuple[str, str], right: tuple[str, str]
) -> None:
    lie = [(1, bet) for bet in bets]
    play, other = table(game, decree), table(game, decree)
    first, true = go(play, *told, bets=lie), go(other, *right, bets=lie)
    wrong = {
        who: cards
        for who, cards, was in zip(("box1", "dealer"), right, told, strict=True)
        if cards != was
    }
    events = correct(play, **wrong)
    now, then = corrected(events), result(true)
    assert outcome_of(now) == outcome_of(then)
    withdrawn = [each for each in of_kind(events, AwardQualified) if not each.valid]
    stands = [each for each in of_kind(first + events, AwardQualified) if each.valid]
    for each in withdrawn:
        stands.remove(msgspec.structs.replace(each, valid=True))
    assert stands == of_kind(true, AwardQualified)
    assert history(play)[-1] == {
        **history(other)[-1],
        "corrected": True,
    }


def test_invalid_corrections_are_refused() -> None:
    play = table("poker-no-draw", "EUS96")
    dealt(play, PUBLISHED, "2c 2d 8c 7c 6h", BANK)
    for box, action in ((1, "go"), (2, "pass")):
        play.act(box, action)
    play.turn("dealer")
    play.turn()
    refusals: dict[str, dict[str, Any]] = {
        "role croupier is not allowed to do this; allowed: table_head,": {
            "role": "croupier",
            "box1": "9s 8s 7s 6s 5c",
        },
        "round 2 is not among the remembered rounds of this session": {
            "round": 2,
            "box1": "9s 8s 7s 6s 5c",
        },
        "hands is required; name each wrong hand with its right cards": {},
        "box:2 was not face up in round 1; face up were: box:1, dealer": {"box2": "2c 2d 8c 7c 6d"},
        "box:3 was not face up in round 1; face up were: box:1, dealer": {"box3": "2c 2d 8c 7c 6d"},
        "box:1 has 5 cards, not 4; name as many": {"box1": "9s 8s 7s 6s"},
        "not in this deck: Xx": {"box1": "9s 8s 7s 6s Xx"},
        "a card would be in the round twice; name each once": {"box1": "9s 8s 7s 6s Ah"},
        "the hands of round 1 are already as sent": {"box1": "5s 6s 7s 8s 9s", "dealer": BANK},
    }
    for why, fields in refusals.items():
        state = play.state
        with pytest.raises(RejectedError, match=why):
            correct(play, **fields)
        assert play.state is state
    for fields in ({"winner": "box:1"}, {"number": 3}, {"dice": [1, 2]}):
        with pytest.raises(RejectedError, match="the result follows from the cards"):
            play.send("result.correct", round=1, **fields)
    correct(play, box1="9s 8s 7s 6s 5c")
    play.bets(1)
    play.send("round.void", reason="misdeal")
    play.bets(1)
    play.send("session.close")
    for number in (2, 3):
        with pytest.raises(RejectedError, match=f"round {number} has no result to correct"):
            correct(play, round=number, box1=PUBLISHED)


def test_cards_that_lay_face_down_are_neither_stored_nor_requested() -> None:
    play = table("poker-no-draw", "EUS96")
    dealt(play, PUBLISHED, "2c 2d 8c 7c 6h", POOR)
    play.act(1, "go")
    play.act(2, "pass")
    play.turn("dealer")  # it does not play: nothing else is shown
    kept = msgspec.json.encode([play.state.entries, play.state.played]).decode()
    assert not [card for card in f"{PUBLISHED} 2c 2d 8c 7c 6h".split() if f'"{card}"' in kept]
    now = corrected(
        correct(play, dealer="2c Jd 3c 4h 9h")
    )  # one of the folded hand's: it must not be published
    assert outcome_of(now).marks == ("dealer_not_qualified",)
    now = corrected(correct(play, dealer=BANK))
    box = next(hand for hand in outcome_of(now).hands if hand.who == "box:1")
    assert (box.cards, box.outcome, box.settled) == ((), None, ()), (
        "it had to be compared, and is unknown"
    )


def test_openly_discarded_cards_of_the_bank_count_as_present() -> None:
    play = table("poker-draw-house", "EUS96")
    play.bets(1)
    play.cards("9s Ah 8s Kh 7s 3c 6s 4h 5s 9h")
    play.act(1, "go")
    play.act(1, "discard", count=0)
    play.turn("dealer")
    assert play.shown["phase"] == "drawing"
    play.cards("As")
    play.turn()
    assert of_kind(play.events, RoundResult)
    with pytest.raises(RejectedError, match="a card would be in the round twice; name each once"):
        correct(play, box1="9s 8s 7s 6s 3c")
    assert outcome_of(corrected(correct(play, box1="9s 8s 7s 6s 5c"))).hands


def test_a_round_that_was_only_confirmed_is_not_settled() -> None:
    play = table()
    dealt(play, PUBLISHED, BANK)
    play.send("session.close")
    play.send("round.confirm", round=1)
    now = corrected(correct(play, dealer="8h"))
    assert [(hand.who, hand.cards, hand.settled) for hand in outcome_of(now).hands] == [
        ("dealer", ("8h",), ())
    ]


def test_a_round_of_long_ago_and_of_another_session() -> None:
    play = table()
    for _ in range(HISTORY_ROUNDS + 1):
        go(play, PUBLISHED, BANK)
    with pytest.raises(
        RejectedError,
        match="no face-up hand of round 1 is remembered; only the latest 20 rounds are",
    ):
        correct(play, box1="9s 8s 7s 6s 5c")
    assert corrected(correct(play, round=2, box1="9s 8s 7s 6s 5c"))
    assert len(play.state.played) == HISTORY_ROUNDS
    play.send("session.close")
    play.send("session.open")
    assert play.state.played == ()
    with pytest.raises(
        RejectedError, match="round 2 is not among the remembered rounds of this session"
    ):
        correct(play, round=2, box1=PUBLISHED)


def test_the_effects_of_a_correction_are_reported() -> None:
    play = table()
    for _ in range(MAX_REMEMBERED_ROUNDS + 1):
        go(play, PUBLISHED, BANK)
    with pytest.raises(
        RejectedError,
        match="round 1 is too old; only the latest 60 up to round 61 are remembered",
    ):
        correct(play, box1="9s 8s 7s 6s 5c")
    with pytest.raises(
        RejectedError,
        match=r"round 41 is remembered; only the latest 20 rounds are kept$",
    ):
        correct(play, round=41, box1="9s 8s 7s 6s 5c")
    assert corrected(correct(play, round=42, box1="9s 8s 7s 6s 5c"))
    with pytest.raises(
        RejectedError, match="round 62 is not among the remembered rounds of this session"
    ):
        correct(play, round=62, box1="9s 8s 7s 6s 5c")


def test_a_correction_publishes_the_cards_or_is_for_surveillance_alone() -> None:
    play = table()
    go(play, PUBLISHED, BANK)
    play.sealed.clear()
    wrong = make_command("result.correct", round=1, hands={"box:1": ["9s", "8s", "7s", "6s", "9h"]})
    assert confidential(play.game, play.state, wrong)
    events = correct(play, box1="9s 8s 7s 6s 5c")
    assert play.sealed == []
    assert outcome_of(corrected(events)).hands


def test_a_table_that_is_restored_at_every_step_retains_the_corrected_result() -> None:
    saved: bytes | None = None
    corrections: list[ResultCorrected] = []
    script = read("poker-no-draw/correction")
    for each in script.inputs:
        game = make_game(script.game, script.decree, script.settings)
        kept = Table("casino", "t1", script.game, script.decree, game, "b1", saved=saved)
        with contextlib.suppress(RejectedError):
            corrections += of_kind(kept.handle(each, "time", 0).events, ResultCorrected)
        saved = kept.saved()
    first, second = corrections
    assert (second.replaces, second.replaces_boot) == (first.seq, "b1")
    retained = kept.retained()
    assert msgspec.json.decode(retained["result"] or b"", type=ResultCorrected) == second
    assert b'"corrected":true' in (retained["history"] or b"")
