"""What tables show whose boxes play against the house or whoever has the bank: black jack, poker
against the house, trijoker, texas against the house, pai gow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from controller.contract import card_events
from controller.contract.messages.messages import text, word
from controller.contract.shown import (
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
from subscribers.display.hands import (
    Finish,
    Hand,
    finish,
    in_progress,
    place,
    result_of,
    said_by,
    settled_hand,
    shown_hand,
    stakes,
)
from subscribers.display.seen import Seen

COMMON = ("board", "common")


class BoxesBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the picture."""

    common: tuple[Hand, ...]
    """Common cards."""
    boxes: tuple[Hand, ...]
    """The hands of the boxes in their order, without that of the bank."""
    bank: Hand | None
    """The hand that the others play against."""
    finish: Finish
    notes: tuple[str, ...]
    shoe: tuple[str, ...]


def blackjack(seen: Seen, shown: BlackjackShown) -> BoxesBody:
    """What a table of black jack shows now."""
    language = seen.language
    dealer = shown.dealer
    dealt = [*(hand.cards for hand in shown.hands.values()), *([dealer.cards] if dealer else [])]
    playing = in_progress(shown, dealt)
    hands = [
        shown_hand(
            who,
            hand.cards,
            language,
            points=count(hand),
            said=said_by(seen, shown, who),
            bets=stakes(shown.bets, who, language),
            makes=(word("hand", "even_money", language),) if who in shown.even_money else (),
            acts=shown.turn == who,
            expected=shown.expected,
        )
        for who, hand in shown.hands.items()
    ]
    bank = shown_hand(
        "dealer",
        dealer.cards if dealer else (),
        language,
        points=count(dealer) if dealer else None,
        expected=shown.expected,
        acts=shown.phase == "dealer",
    )
    notes = (
        *((text("display.insurance", language),) if shown.insurance else ()),
        *((text("mark.play", language, number=shown.play),) if (shown.play or 0) > 1 else ()),
        *((text("display.last_of_shoe", language),) if shown.last_round else ()),
    )
    return _body(
        seen, shown, playing, [*hands, bank], notes, "dealer", shoe=shoe_lines(shown.shoe, language)
    )


def count(hand: BlackjackHand) -> str | None:
    """What a hand counts; where an ace may still count 1 or 11, both."""
    if not hand.cards:
        return None
    hard = sum(
        1 if card[0] == "A" else 10 if card[0] in "TJQK" else int(card[0]) for card in hand.cards
    )
    soft = hand.points == hard + 10 and hand.points < 21
    return f"{hard}/{hand.points}" if soft else str(hand.points)


def house_poker(seen: Seen, shown: HousePokerShown) -> BoxesBody:
    """What a table of poker against the house shows now."""
    language = seen.language
    playing = in_progress(shown, [*(box.cards for box in shown.hands.values()), shown.dealer])
    hands = [
        shown_hand(
            who,
            box.cards,
            language,
            said=_said(box.decision, box.bought, box.discards, language),
            bets=tuple(word("bet", bet, language) for bet in box.bets),
            acts=who in shown.undecided,
            expected=shown.expected,
        )
        for who, box in sorted(shown.hands.items(), key=lambda each: place(each[0]))
    ]
    bank = shown_hand("dealer", shown.dealer, language, expected=shown.expected)
    return _body(seen, shown, playing, [*hands, bank], (), "dealer", shown.unresolved)


def _said(decision: str | None, bought: bool, discards: int | None, language: str) -> str | None:
    told = [
        *([words.decision(decision, None, language)] if decision else []),
        *([words.decision("buy", None, language)] if bought else []),
        *([words.decision("discard", discards, language)] if discards is not None else []),
    ]
    return " · ".join(told) or None


def trijoker(seen: Seen, shown: TrijokerShown) -> BoxesBody:
    """What a table of trijoker shows now."""
    language = seen.language
    withdrawn = {
        who: tuple(
            f"{word('bet', bet, language)}: {word('decision', 'withdraw', language)}"
            for bet in bets
        )
        for who, bets in shown.withdrawn.items()
    }
    return _banked(seen, shown, "", bets=withdrawn)


def texas_house(seen: Seen, shown: TexasHouseShown) -> BoxesBody:
    """What a table of texas against the house shows now."""
    language = seen.language
    said = {who: words.decision(told, None, language) for who, told in shown.spoke.items()}
    bonus = {who: (word("bet", "bonus", language),) for who in shown.bonus}
    return _banked(seen, shown, "dealer", said=said, bets=bonus, asks="players")


def pai_gow(seen: Seen, shown: PaiGowShown) -> BoxesBody:
    """What a table of pai gow shows now."""
    language = seen.language
    said = {who: words.decision("set", None, language) for who in shown.set}
    dice = " ".join(map(str, shown.dice))
    notes = (
        text("display.has_bank", language, who=words.who(shown.bank, language)),
        *((text("display.dice", language, dice=dice),) if dice else ()),
    )
    return _banked(seen, shown, shown.bank, said=said, low=shown.low, notes=notes)


def _banked(
    seen: Seen,
    shown: BankedShown,
    bank: str,
    *,
    said: Mapping[str, str] = {},
    bets: Mapping[str, tuple[str, ...]] = {},
    low: Mapping[str, tuple[str, ...]] = {},
    notes: tuple[str, ...] = (),
    asks: str = "",
) -> BoxesBody:
    """``bank``: the hand that the others play against; empty where there is none. ``asks``: the
    phase in which a box must speak that has not.
    """
    playing = in_progress(shown, shown.hands.values())
    hands: dict[str, Cards] = {f"box:{box}": () for box in shown.boxes} | shown.hands
    return _body(
        seen,
        shown,
        playing,
        [
            shown_hand(
                who,
                cards,
                seen.language,
                said=said.get(who),
                bets=bets.get(who, ()),
                low=low.get(who, ()),
                acts=bool(asks)
                and shown.phase == asks
                and who.startswith("box")
                and who not in said
                and who in shown.hands,
                expected=shown.expected,
            )
            for who, cards in hands.items()
        ],
        notes,
        bank,
        shown.unresolved,
    )


def _body(
    seen: Seen,
    shown: Shown,
    playing: bool,
    hands: Iterable[Hand],
    notes: tuple[str, ...],
    bank: str,
    unresolved: tuple[int, ...] = (),
    shoe: tuple[str, ...] = (),
) -> BoxesBody:
    """The hands of the round in progress, or else of the last result."""
    over = finish(seen, shown, playing, unresolved)
    laid = tuple(hands) if playing else _settled(result_of(over, seen, shown), seen.language)
    names = {hand.id for hand in laid}
    bank = bank if bank in names else "dealer"
    common = [hand for hand in laid if hand.id.partition(":")[0] in COMMON]
    return BoxesBody(
        common=tuple(common),
        boxes=tuple(
            sorted(
                (hand for hand in laid if hand not in common and hand.id != bank),
                key=lambda hand: place(hand.id),
            )
        ),
        bank=next((hand for hand in laid if hand.id == bank), None),
        finish=over,
        notes=notes,
        shoe=shoe,
    )


def _settled(hands: tuple[card_events.Hand, ...], language: str) -> tuple[Hand, ...]:
    return tuple(settled_hand(hand, language) for hand in hands)
