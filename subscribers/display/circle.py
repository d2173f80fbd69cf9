"""The display of circle poker: seats, common cards, and who wins each pot."""

from __future__ import annotations

import msgspec

from common.contract import card_events
from common.contract.messages.messages import text
from common.contract.shown import CircleDrawShown, CirclePokerShown
from subscribers import words
from subscribers.display.context import PictureContext
from subscribers.display.hands import (
    FinishedRounds,
    HandPicture,
    bet_name,
    finished_rounds,
    hand_order,
    in_progress,
    last_action,
    result_of,
    settled_hand,
    shown_hand,
)

STATUS_TEXTS = {
    "all_in": "decision.all_in",
    "side": "mark.side_pot",
    "folded": "decision.fold",
    "mucked": "decision.muck",
    "annulled": "display.void",
    "away": "decision.out",
}
"""Text keys of a seat's statuses; ``in`` has no text."""


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """A taken seat."""

    number: int
    hand: HandPicture
    status: str | None
    out: bool
    """It no longer plays in this round."""
    button: bool


class Pot(msgspec.Struct, frozen=True):
    """A pot and its winners."""

    name: str
    winners: tuple[str, ...]


class CircleBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the picture."""

    seats: tuple[Seat, ...]
    boards: tuple[HandPicture, ...]
    button: str
    """The text on the button."""
    pots: tuple[Pot, ...]
    """Those of the last result; before that their content is unknown."""
    finish: FinishedRounds
    notes: tuple[str, ...]


def body(context: PictureContext, shown: CirclePokerShown) -> CircleBody:
    """Return the body for the current state."""
    language = context.language
    cards = [*shown.counts.values(), *shown.boards.values()]
    playing = in_progress(shown, cards)
    finished = finished_rounds(context, shown, playing, shown.unresolved)
    result = {hand.who: hand for hand in result_of(finished, context, shown)}
    boards = (
        [
            shown_hand(hand_id, row, language, expected=shown.expected)
            for hand_id, row in shown.boards.items()
        ]
        if playing
        else [
            settled_hand(hand, language) for hand_id, hand in result.items() if _is_board(hand_id)
        ]
    )
    hand_ids = {*shown.statuses, *(f"seat:{number}" for number in shown.seated), *result}
    seats = sorted((hand_id for hand_id in hand_ids if not _is_board(hand_id)), key=hand_order)
    return CircleBody(
        seats=tuple(
            _seat(context, shown, hand_id, result.get(hand_id), playing) for hand_id in seats
        ),
        boards=tuple(boards),
        button=text("display.button", language),
        pots=pots(tuple(result.values()), language),
        finish=finished,
        notes=tuple(_notes(shown, playing, language)),
    )


def pots(hands: tuple[card_events.Hand, ...], language: str) -> tuple[Pot, ...]:
    """Return the winners of each pot, by the settled bets of the hands shown."""
    winners = {
        pot: tuple(
            words.who(hand.who, language)
            for hand in hands
            for settled in hand.settled
            if settled.bet == pot and settled.outcome in ("win", "tie")
        )
        for pot in dict.fromkeys(settled.bet for hand in hands for settled in hand.settled)
    }
    return tuple(
        Pot(bet_name(pot, language), hand_ids) for pot, hand_ids in winners.items() if hand_ids
    )


def _seat(
    context: PictureContext,
    shown: CirclePokerShown,
    hand_id: str,
    settled: card_events.Hand | None,
    playing: bool,
) -> Seat:
    language, number = context.language, hand_order(hand_id)[1]
    status = shown.statuses.get(hand_id, "in") if playing else "in"
    is_resting = not playing and hand_id in shown.resting
    text_key = "decision.out" if is_resting else STATUS_TEXTS.get(status)
    if settled is not None:
        hand = settled_hand(settled, language)
    else:
        open_cards = shown.hands.get(hand_id, ()) if playing else ()
        closed_cards = max(0, shown.counts.get(hand_id, 0) - len(open_cards)) if playing else 0
        first_to_act = context.known.progress.first if not context.known.progress.spoken else None
        hand = shown_hand(
            hand_id,
            (*((None,) * closed_cards), *open_cards),
            language,
            decision=last_action(context, shown, hand_id) if playing and text_key is None else None,
            is_acting=playing
            and (
                (shown.phase == "betting" and first_to_act == hand_id)
                or (shown.phase == "showdown" and hand_id == _next_to_show(shown))
            ),
            expected=shown.expected if playing else None,
        )
    return Seat(
        number=number,
        hand=hand,
        status=None if text_key is None else text(text_key, language),
        out=is_resting or status in ("folded", "mucked", "annulled", "away"),
        button=shown.button == number,
    )


def _notes(shown: CirclePokerShown, playing: bool, language: str) -> list[str]:
    notes: list[str] = []
    if playing and shown.interval:
        notes.append(text("display.interval", language, number=shown.interval))
    if isinstance(shown, CircleDrawShown):
        if shown.opener is not None:
            opener = words.who(f"seat:{shown.opener}", language)
            notes.append(f"{opener}: {words.decision('open', None, language)}")
        notes += [
            f"{words.who(hand_id, language)}: {words.decision('discard', count, language)}"
            for hand_id, count in shown.discards.items()
            if count and playing
        ]
    return notes


def _next_to_show(shown: CirclePokerShown) -> str | None:
    """Return the first hand in showdown order whose cards are not all face up."""
    return next(
        (
            hand_id
            for hand_id in shown.shows
            if len(shown.hands.get(hand_id, ())) < shown.counts.get(hand_id, 0)
        ),
        None,
    )


def _is_board(hand_id: str) -> bool:
    return hand_id.startswith("board")
