"""The displays of games in which boxes play against the house or the bank: blackjack, poker against
the house, trijoker, texas against the house, pai gow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from common.contract import card_events
from common.contract.messages.messages import text, word
from common.contract.shown import (
    BankedShown,
    BlackjackHand,
    BlackjackShown,
    Cards,
    HousePokerShown,
    PaiGowShown,
    Shown,
    TexasHouseShown,
    TrijokerShown,
)
from subscribers import words
from subscribers.display.baccarat import shoe_lines
from subscribers.display.context import PictureContext
from subscribers.display.hands import (
    FinishedRounds,
    HandPicture,
    bets_of,
    finished_rounds,
    hand_order,
    in_progress,
    last_action,
    result_of,
    settled_hand,
    shown_hand,
)

COMMON_HANDS = ("board", "common")


class BoxesBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the picture."""

    common: tuple[HandPicture, ...]
    """Common cards."""
    boxes: tuple[HandPicture, ...]
    """The hands of the boxes in order, without the bank's."""
    bank: HandPicture | None
    """The hand that the others play against."""
    finish: FinishedRounds
    notes: tuple[str, ...]
    shoe: tuple[str, ...]


def blackjack(context: PictureContext, shown: BlackjackShown) -> BoxesBody:
    """Return the body for blackjack."""
    language = context.language
    dealer = shown.dealer
    all_cards = [
        *(hand.cards for hand in shown.hands.values()),
        *([dealer.cards] if dealer else []),
    ]
    playing = in_progress(shown, all_cards)
    hands = [
        shown_hand(
            hand_id,
            hand.cards,
            language,
            points=blackjack_points(hand),
            decision=last_action(context, shown, hand_id),
            bets=bets_of(shown.bets, hand_id, language),
            makes=(word("hand", "even_money", language),) if hand_id in shown.even_money else (),
            is_acting=shown.turn == hand_id,
            expected=shown.expected,
        )
        for hand_id, hand in shown.hands.items()
    ]
    bank = shown_hand(
        "dealer",
        dealer.cards if dealer else (),
        language,
        points=blackjack_points(dealer) if dealer else None,
        expected=shown.expected,
        is_acting=shown.phase == "dealer",
    )
    notes = (
        *((text("display.insurance", language),) if shown.insurance else ()),
        *((text("mark.play", language, number=shown.play),) if (shown.play or 0) > 1 else ()),
        *((text("display.last_of_shoe", language),) if shown.last_round else ()),
    )
    return _body(
        context,
        shown,
        playing,
        [*hands, bank],
        notes,
        "dealer",
        shoe=shoe_lines(shown.shoe, language),
    )


def blackjack_points(hand: BlackjackHand) -> str | None:
    """Return the points of a hand as text; both values if an ace may count 1 or 11."""
    if not hand.cards:
        return None
    hard = sum(
        1 if card[0] == "A" else 10 if card[0] in "TJQK" else int(card[0]) for card in hand.cards
    )
    soft = hand.points == hard + 10 and hand.points < 21
    return f"{hard}/{hand.points}" if soft else str(hand.points)


def house_poker(context: PictureContext, shown: HousePokerShown) -> BoxesBody:
    """Return the body for poker against the house."""
    language = context.language
    playing = in_progress(shown, [*(box.cards for box in shown.hands.values()), shown.dealer])
    hands = [
        shown_hand(
            hand_id,
            box.cards,
            language,
            decision=_decision_text(box.decision, box.bought, box.discards, language),
            bets=tuple(word("bet", bet, language) for bet in box.bets),
            is_acting=hand_id in shown.undecided,
            expected=shown.expected,
        )
        for hand_id, box in sorted(shown.hands.items(), key=lambda entry: hand_order(entry[0]))
    ]
    bank = shown_hand("dealer", shown.dealer, language, expected=shown.expected)
    return _body(context, shown, playing, [*hands, bank], (), "dealer", shown.unresolved)


def _decision_text(
    decision: str | None, bought: bool, discards: int | None, language: str
) -> str | None:
    decisions = [
        *([words.decision(decision, None, language)] if decision else []),
        *([words.decision("buy", None, language)] if bought else []),
        *([words.decision("discard", discards, language)] if discards is not None else []),
    ]
    return " · ".join(decisions) or None


def trijoker(context: PictureContext, shown: TrijokerShown) -> BoxesBody:
    """Return the body for trijoker."""
    language = context.language
    withdrawn = {
        hand_id: tuple(
            f"{word('bet', bet, language)}: {word('decision', 'withdraw', language)}"
            for bet in bets
        )
        for hand_id, bets in shown.withdrawn.items()
    }
    return _banked(context, shown, "", bets=withdrawn)


def texas_house(context: PictureContext, shown: TexasHouseShown) -> BoxesBody:
    """Return the body for texas against the house."""
    language = context.language
    decisions = {
        hand_id: words.decision(decision_, None, language)
        for hand_id, decision_ in shown.spoke.items()
    }
    bonus = {hand_id: (word("bet", "bonus", language),) for hand_id in shown.bonus}
    return _banked(
        context, shown, "dealer", decisions=decisions, bets=bonus, asking_phase="players"
    )


def pai_gow(context: PictureContext, shown: PaiGowShown) -> BoxesBody:
    """Return the body for pai gow."""
    language = context.language
    decisions = {hand_id: words.decision("set", None, language) for hand_id in shown.set}
    dice = " ".join(map(str, shown.dice))
    notes = (
        text("display.has_bank", language, who=words.who(shown.bank, language)),
        *((text("display.dice", language, dice=dice),) if dice else ()),
    )
    return _banked(context, shown, shown.bank, decisions=decisions, low=shown.low, notes=notes)


def _banked(
    context: PictureContext,
    shown: BankedShown,
    bank: str,
    *,
    decisions: Mapping[str, str] = {},
    bets: Mapping[str, tuple[str, ...]] = {},
    low: Mapping[str, tuple[str, ...]] = {},
    notes: tuple[str, ...] = (),
    asking_phase: str = "",
) -> BoxesBody:
    """Return the body of a game with a bank. ``bank``: the hand that the others play against, or
    empty. ``asking_phase``: the phase in which each box must decide.
    """
    playing = in_progress(shown, shown.hands.values())
    hands: dict[str, Cards] = {f"box:{box}": () for box in shown.boxes} | shown.hands
    return _body(
        context,
        shown,
        playing,
        [
            shown_hand(
                hand_id,
                cards,
                context.language,
                decision=decisions.get(hand_id),
                bets=bets.get(hand_id, ()),
                low=low.get(hand_id, ()),
                is_acting=bool(asking_phase)
                and shown.phase == asking_phase
                and hand_id.startswith("box")
                and hand_id not in decisions
                and hand_id in shown.hands,
                expected=shown.expected,
            )
            for hand_id, cards in hands.items()
        ],
        notes,
        bank,
        shown.unresolved,
    )


def _body(
    context: PictureContext,
    shown: Shown,
    playing: bool,
    hands: Iterable[HandPicture],
    notes: tuple[str, ...],
    bank: str,
    unresolved: tuple[int, ...] = (),
    shoe: tuple[str, ...] = (),
) -> BoxesBody:
    """Build the body from the hands of the round in progress, or else of the last result."""
    finished = finished_rounds(context, shown, playing, unresolved)
    all_hands = (
        tuple(hands) if playing else _settled(result_of(finished, context, shown), context.language)
    )
    names = {hand.id for hand in all_hands}
    bank = bank if bank in names else "dealer"
    common = [hand for hand in all_hands if hand.id.partition(":")[0] in COMMON_HANDS]
    return BoxesBody(
        common=tuple(common),
        boxes=tuple(
            sorted(
                (hand for hand in all_hands if hand not in common and hand.id != bank),
                key=lambda hand: hand_order(hand.id),
            )
        ),
        bank=next((hand for hand in all_hands if hand.id == bank), None),
        finish=finished,
        notes=notes,
        shoe=shoe,
    )


def _settled(hands: tuple[card_events.Hand, ...], language: str) -> tuple[HandPicture, ...]:
    return tuple(settled_hand(hand, language) for hand in hands)
