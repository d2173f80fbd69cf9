"""The moves of a table of chemin de fer or two-cloth baccarat. ``chemin.course`` has the rules that
make them.

No card is revealed before it is face up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Literal

from msgspec.structs import replace

from common.contract.commands import Command, VoidReason
from common.contract.events import (
    BaccaratOutcome,
    CardDealt,
    CardRemoved,
    Hand,
    HandDecided,
    RoundResult,
    RoundUnresolved,
)
from common.readings import CardDrawn
from controller.games import shoe
from controller.games.baccarat import WINNERS
from controller.games.chemin.hands import hands_of, next_dealt
from controller.games.chemin.settings import CheminSettings
from controller.games.chemin.state import QUESTIONS, CheminCoup, CheminState, Word
from controller.games.dealt import cards as on_table
from controller.games.dealt.cards import TableCard, dealt, place_card, readings
from controller.games.dealt.state import DealtEntry, Held
from controller.games.dealt.turn import DealtTurn
from controller.games.session import count_down
from controller.games.stakes import Bounds
from controller.rulebooks.chemin import Chemin
from controller.rulebooks.law import Law


def begun(turn: CheminMoves) -> bool:
    """Whether the bets of the round in progress are closed, or a card of it came."""
    coup = turn.state.current
    return coup is not None and (coup.begun or bool(turn.state.held))


def offered(turn: CheminMoves) -> Mapping[str, Bounds]:
    """The hands on which bets are accepted. They may win as much as the bank holds, which is
    not reported. Bets on the bank are limited by the sum that it may begin with.
    """
    minimum, book = turn.state.minimum, turn.book
    hands = dict.fromkeys(book.hands, Bounds(minimum))
    if not book.bank_bets:
        return hands
    limited = turn.settings.modality == "limited" and book.bank_maximum
    most = minimum * book.bank_maximum if minimum is not None and limited else None
    return {**hands, book.bank: Bounds(minimum, most)}


# The cards


def place(turn: CheminMoves, drawn: CardDrawn, to: str, **_how: bool | int) -> None:
    """Deal the card: one of the deal face down, a third one face up."""
    coup, third = turn.current, next_dealt(turn.book, turn.current) is None
    if third:
        turn.change_current(third=(*coup.third, len(coup.cards)))
    turn.put(place_card(coup.cards, to, drawn.card, up=third, reading=drawn.reading))


def move(turn: CheminMoves, at: int, to: str, *, third: bool = True) -> None:
    """Deal a card of the table to another hand: face up, if it is a third one."""
    coup = turn.current
    card, previous_holder = coup.cards[at], coup.cards[at].to or coup.left.get(at)
    others = tuple(place for place in coup.third if place != at)
    turn.change_current(
        third=tuple(sorted((*others, at))) if third else others,
        left={place: who for place, who in coup.left.items() if place != at},
    )
    _lay(turn, at, replace(card, to=to, up=card.up or third))
    if to != previous_holder:
        now = turn.current.cards
        turn.emit(
            CardDealt(
                round=turn.number,
                to=to,
                index=len(dealt(now[: at + 1], to)),
                card=now[at].card if now[at].up else None,
                was=previous_holder,
            )
        )


def free(turn: CheminMoves, but: Collection[str] = ()) -> None:
    """Take the third cards from all hands except these, to be dealt again."""
    for at in turn.current.third:
        card = turn.current.cards[at]
        if card.to and card.to not in but:
            turn.change_current(left={**turn.current.left, at: card.to})
            _lay(turn, at, replace(card, to=""))


def turn_up(turn: CheminMoves, who: str, index: int | None = None) -> None:
    """Turn the cards of a hand face up, or one of them."""
    turn.put(on_table.turn(turn.current.cards, who, index))


def show(turn: CheminMoves, at: int) -> None:
    """Mark a card as seen when it was dealt; the event of its removal names it."""
    _lay(turn, at, replace(turn.current.cards[at], up=True))


def remove(turn: CheminMoves, at: int, why: str, law: str | None = None) -> None:
    """Remove a card from the table; it never goes back into the shoe."""
    coup, card = turn.current, turn.current.cards[at]
    others = {place: who for place, who in coup.left.items() if place != at}
    turn.change_current(left={**others, at: card.to} if card.to else others)
    _lay(turn, at, replace(card, to="", gone=True))
    emit_removed(turn, why, card, card.to or coup.left[at], law)


def discard(
    turn: CheminMoves, drawn: CardDrawn, why: str, *, up: bool = False, law: str | None = None
) -> None:
    """Remove a card that was never dealt to a hand."""
    card = TableCard(to="", card=drawn.card, up=up, gone=True, reading=drawn.reading)
    if turn.state.current is not None:
        turn.change_current(cards=(*turn.current.cards, card))
    emit_removed(turn, why, card, law=law)


def emit_removed(
    turn: CheminMoves, why: str, card: TableCard, to: str | None = None, law: str | None = None
) -> None:
    """Emit the removal of a card. ``to``: the hand that had it."""
    cause, shown = turn.book.laws[law or why], card.card if card.up else None
    turn.emit(
        CardRemoved(
            round=turn.number, why=why, card=shown, to=to, law=cause.rule, article=cause.article
        )
    )


def pop_held(turn: CheminMoves, at: int) -> Held:
    """Remove and return a waiting card, whose fate is decided next."""
    held = turn.state.held
    turn.change(held=(*held[:at], *held[at + 1 :]))
    return held[at]


def replace_held(turn: CheminMoves, at: int, now: Held) -> None:
    """Replace a waiting card."""
    held = turn.state.held
    turn.change(held=(*held[:at], now, *held[at + 1 :]))


def _lay(turn: CheminMoves, at: int, card: TableCard) -> None:
    cards = turn.current.cards
    turn.change_current(cards=(*cards[:at], card, *cards[at + 1 :]))


# The hands' decisions


def decide(turn: CheminMoves, who: str, word: Word, by: str | None = None) -> None:
    """Record a hand's decision, its own or the rules'."""
    turn.change_current(words={**turn.current.words, who: word})
    call = {"draw": "card", "stand": "no"}.get(word, "")
    announcement = turn.call(call) if who in turn.book.hands else None
    turn.emit(
        HandDecided(round=turn.number, who=who, decision=word, by=by, announcement=announcement)
    )


def withdraw_word(turn: CheminMoves, who: str) -> None:
    """Cancel the hand's decision: it decides again."""
    turn.change_current(
        words={hand: word for hand, word in turn.current.words.items() if hand != who}
    )


# The outcome of a round


def result(turn: CheminMoves) -> None:
    """Publish the result: all cards that count are face up."""
    coup = turn.current
    hands = hands_of(turn.book, coup, nine_beats=turn.settings.natural_nine == "beats")
    if all(fate == "void" for fate in map(coup.fates.get, turn.book.hands)):
        void(turn, coup.round, "misdeal", turn.book.laws["card_in_basket"])
        return
    single = len(turn.book.hands) == 1
    won = next((hand.who for hand in hands if single and hand.outcome == "win"), None)
    winner = "tie" if single and hands[0].outcome == "tie" else won
    entry = DealtEntry(round=coup.round, kind="result", winner=winner, hands=hands)
    _publish(turn, entry, evidence(turn, coup.round), coup.confirmed_by)


def stated_result(turn: CheminMoves, number: int, winners: tuple[str, ...], by: str) -> None:
    """Publish a result given by a person, where not all cards are known."""
    seen, entry = evidence(turn, number), DealtEntry(round=number, kind="result")
    if len(winners) == 1:
        entry = replace(entry, winner=winners[0])
    else:
        entry = replace(entry, hands=tuple(map(_stated_hand, turn.book.hands, winners)))
    _publish(turn, entry, seen, by)


def evidence(turn: CheminMoves, number: int) -> tuple[int, ...]:
    """The readings behind the cards of the round in progress, waiting ones too, oldest first;
    empty for any other round.
    """
    coup = turn.state.current
    if coup is None or coup.round != number:
        return ()
    waiting = [held.given.reading for held in turn.state.held]
    return tuple(
        sorted({*readings(coup.cards), *(reading for reading in waiting if reading is not None)})
    )


def _publish(
    turn: CheminMoves, entry: DealtEntry, evidence: tuple[int, ...], by: str | None
) -> None:
    turn.record(entry)
    turn.emit(
        RoundResult(
            round=entry.round,
            outcome=outcome_of(turn, entry),
            frames=(),
            readings=evidence,
            confirmed_by=by,
        )
    )
    count_down(turn, entry.round)
    _close_shoe(turn)


def outcome_of(_turn: CheminMoves, entry: DealtEntry) -> BaccaratOutcome:
    """The outcome of a round that has a result."""
    natural = ("natural",) if any(hand.kind == "natural" for hand in entry.hands) else ()
    tie = ("tie",) if entry.winner == "tie" else ()
    winner = WINNERS[entry.winner] if entry.winner else None
    return BaccaratOutcome(winner=winner, hands=entry.hands, marks=natural + tie)


def void(
    turn: CheminMoves, number: int, reason: VoidReason, law: Law, by: Command | None = None
) -> None:
    """Void the round."""
    turn.void(number, reason, law, by)
    _close_shoe(turn)


def unresolved(turn: CheminMoves, coup: CheminCoup, why: Literal["silence", "undecided"]) -> None:
    """The result is uncertain and is not invented."""
    seen = evidence(turn, coup.round)
    turn.record(DealtEntry(round=coup.round, kind="unresolved"))
    turn.emit(RoundUnresolved(round=coup.round, why=why, candidate=None, readings=seen))
    _close_shoe(turn)


def leave(turn: CheminMoves) -> None:
    """The round in progress is over. Only cards that a person kept for the next one stay."""
    turn.change(current=None, held=turn.state.carried, carried=())


# The shoe


def clear_shoe(turn: CheminMoves, left: int | None = None) -> None:
    """End the shoe; its cards leave the table. ``left``: the number that a person counted."""
    now = turn.state.shoe
    if now is None:
        return
    if shoe.miscounted(now, left):
        turn.irregular("shoe_count", detail=f"{left} cards are left, by the count {now.left}")
    if not now.over:
        turn.emit(shoe.ended(now, "person", left))
    turn.change(shoe=None, held=(), carried=())


def end_shoe(turn: CheminMoves, why: Literal["cut", "reset"]) -> None:
    """No further round may begin with these cards."""
    now = turn.state.shoe
    assert now is not None
    turn.change(shoe=replace(now, over=True))
    turn.emit(shoe.ended(now, why))


def _close_shoe(turn: CheminMoves) -> None:
    """End the shoe after the round in which the cut card came."""
    now = turn.state.shoe
    cut = now is not None and now.cut_at is not None and not now.over
    if cut and turn.state.current is None:
        end_shoe(turn, "cut")


# Irregularities


def ask(turn: CheminMoves, what: str, law: Law | None = None, *, detail: str | None = None) -> None:
    """Report an irregularity of the round and wait for a person."""
    turn.change_current(question=what)
    turn.irregular(what, law, asks=QUESTIONS[what], detail=detail)


def once(turn: CheminMoves, key: str, act: Callable[[], None]) -> None:
    """Call ``act`` once in a round for each key."""
    if key not in turn.current.said:
        turn.change_current(said=(*turn.current.said, key))
        act()


def _stated_hand(who: str, winner: str) -> Hand:
    """A hand of which only the outcome is known."""
    return Hand(
        who=who,
        cards=(),
        outcome="tie" if winner == "tie" else "win" if winner == who else "lose",
    )


class CheminMoves(DealtTurn[Chemin, CheminSettings, CheminState]):
    """One step of such a table."""

    @property
    def current(self) -> CheminCoup:
        """The round in progress; there is one."""
        assert self.state.current is not None
        return self.state.current
