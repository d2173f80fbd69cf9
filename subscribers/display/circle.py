"""What a table of circle poker shows: the seats, the common cards, and who takes what pot."""

from __future__ import annotations

import msgspec

from controller.contract import card_events
from controller.contract.messages.messages import text
from controller.contract.shown import CircleDrawShown, CirclePokerShown
from subscribers import words
from subscribers.display.hands import (
    Finish,
    Hand,
    bet_name,
    finish,
    in_progress,
    place,
    result_of,
    said_by,
    settled_hand,
    shown_hand,
)
from subscribers.display.seen import Seen

STATUSES = {
    "all_in": "decision.all_in",
    "side": "mark.side_pot",
    "folded": "decision.fold",
    "mucked": "decision.muck",
    "annulled": "display.void",
    "away": "decision.out",
}
"""What a seat does, and the text for it; ``in`` goes without saying."""


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """One seat that is taken."""

    number: int
    hand: Hand
    status: str | None
    out: bool
    """It plays no more in this round."""
    button: bool


class Pot(msgspec.Struct, frozen=True):
    """One pot, and who takes it."""

    name: str
    winners: tuple[str, ...]


class CircleBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the picture."""

    seats: tuple[Seat, ...]
    boards: tuple[Hand, ...]
    button: str
    """The word on the button."""
    pots: tuple[Pot, ...]
    """Of the last result. Nobody tells what lies in a pot before it."""
    finish: Finish
    notes: tuple[str, ...]


def body(seen: Seen, shown: CirclePokerShown) -> CircleBody:
    """What the table shows now."""
    language = seen.language
    cards = [*shown.counts.values(), *shown.boards.values()]
    playing = in_progress(shown, cards)
    over = finish(seen, shown, playing, shown.unresolved)
    result = {hand.who: hand for hand in result_of(over, seen, shown)}
    boards = (
        [
            shown_hand(who, row, language, expected=shown.expected)
            for who, row in shown.boards.items()
        ]
        if playing
        else [settled_hand(hand, language) for who, hand in result.items() if _is_board(who)]
    )
    taken = {*shown.statuses, *(f"seat:{number}" for number in shown.seated), *result}
    seats = sorted((who for who in taken if not _is_board(who)), key=place)
    return CircleBody(
        seats=tuple(_seat(seen, shown, who, result.get(who), playing) for who in seats),
        boards=tuple(boards),
        button=text("display.button", language),
        pots=pots(tuple(result.values()), language),
        finish=over,
        notes=tuple(_notes(shown, playing, language)),
    )


def pots(hands: tuple[card_events.Hand, ...], language: str) -> tuple[Pot, ...]:
    """Who takes each pot, by what became of the bets of the hands that were shown."""
    won = {
        pot: tuple(
            words.who(hand.who, language)
            for hand in hands
            for each in hand.settled
            if each.bet == pot and each.outcome in ("win", "tie")
        )
        for pot in dict.fromkeys(each.bet for hand in hands for each in hand.settled)
    }
    return tuple(Pot(bet_name(pot, language), who) for pot, who in won.items() if who)


def _seat(
    seen: Seen,
    shown: CirclePokerShown,
    who: str,
    settled: card_events.Hand | None,
    playing: bool,
) -> Seat:
    language, number = seen.language, place(who)[1]
    status = shown.statuses.get(who, "in") if playing else "in"
    rests = not playing and who in shown.resting
    key = "decision.out" if rests else STATUSES.get(status)
    if settled is not None:
        hand = settled_hand(settled, language)
    else:
        up = shown.hands.get(who, ()) if playing else ()
        down = max(0, shown.counts.get(who, 0) - len(up)) if playing else 0
        first = seen.known.progress.first if not seen.known.progress.spoken else None
        hand = shown_hand(
            who,
            (*((None,) * down), *up),
            language,
            said=said_by(seen, shown, who) if playing and key is None else None,
            acts=playing
            and (
                (shown.phase == "betting" and first == who)
                or (shown.phase == "showdown" and who == _shows(shown))
            ),
            expected=shown.expected if playing else None,
        )
    return Seat(
        number=number,
        hand=hand,
        status=None if key is None else text(key, language),
        out=rests or status in ("folded", "mucked", "annulled", "away"),
        button=shown.button == number,
    )


def _notes(shown: CirclePokerShown, playing: bool, language: str) -> list[str]:
    found: list[str] = []
    if playing and shown.interval:
        found.append(text("display.interval", language, number=shown.interval))
    if isinstance(shown, CircleDrawShown):
        if shown.opener is not None:
            opener = words.who(f"seat:{shown.opener}", language)
            found.append(f"{opener}: {words.decision('open', None, language)}")
        found += [
            f"{words.who(who, language)}: {words.decision('discard', count, language)}"
            for who, count in shown.discards.items()
            if count and playing
        ]
    return found


def _shows(shown: CirclePokerShown) -> str | None:
    """Who shows next: the first whose cards do not all lie open."""
    return next(
        (who for who in shown.shows if len(shown.hands.get(who, ())) < shown.counts.get(who, 0)),
        None,
    )


def _is_board(who: str) -> bool:
    return who.startswith("board")
