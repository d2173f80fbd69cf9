"""Handlers of commands at a table of coups. ``dealt.phases`` refuses those that a phase does not
accept.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.commands import (
    BetsClose,
    BetsOpen,
    CardDecide,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionOpen,
    ShoeEnd,
    ShoeStart,
)
from controller.contract.events import CardRemoved
from controller.contract.refusals import RejectedError
from controller.games import shoe, talla
from controller.games.cards import is_card
from controller.games.coups.turn import Turn
from controller.games.dealt.arrivals import follow_all
from controller.games.dealt.state import DealtEntry, DealtRound, Held
from controller.games.session import another_round, confirmer, corrects, undecided, void_law

# Sessions and shoes


def open_session(turn: Turn, command: SessionOpen) -> None:
    """Open the table, without a shoe."""
    turn.open_session(command)
    turn.change(past=shoe.new_session(turn.state.past), last=None)


def start_shoe(turn: Turn, command: ShoeStart) -> None:
    """Start a shoe."""
    law = turn.book.laws["shoe_unnumbered"]
    talla.numbered(command, f"{law.rule}, {law.article}")
    turn.clear_shoe()
    turn.new_shoe()
    talla.begin(turn, command, turn.call("shoe"))


def end_shoe(turn: Turn, command: ShoeEnd) -> None:
    """End the shoe; if the cards left in it were counted, check the count."""
    turn.clear_shoe(command.left)


# Bets


def open_bets(turn: Turn, command: BetsOpen) -> None:
    """Open bets for a new round."""
    another_round(turn, turn.state.last)
    turn.open_bets(command.by)


def close_bets(turn: Turn, command: BetsClose) -> None:
    """Close the bets. Cards carried over to this round are its first."""
    turn.close_bets(command.by)
    carried = turn.state.carried
    turn.change(carried=())
    follow_all(turn, carried)


# The outcome of a round


def void(turn: Turn, command: RoundVoid) -> None:
    """Void the round by decision of the person in charge."""
    round_ = undecided(turn.state, turn.state.current, command.round)
    turn.void(round_.round, command.reason, void_law(turn, command), command)


def confirm(turn: Turn, command: RoundConfirm) -> None:
    """Confirm the result of an unresolved round, by the cards that were seen or by the person's
    statement.
    """
    before, coup = turn.state, turn.state.current
    round_ = undecided(before, coup, command.round, first=coup is not None and coup.gap)
    stated = turn.stated_winner(command.winner) if command.winner is not None else None
    if isinstance(round_, DealtRound):
        turn.require_gap(round_)
    outcome = turn.whole(round_.cards)
    if stated is not None and (outcome is None or stated != outcome[0]):
        outcome = (stated, (), turn.stated_marks(stated))
    if outcome is None:
        raise RejectedError("round_cards_unknown", round=round_.round)
    turn.result(round_, outcome, confirmer(command))
    turn.revise(before, round_.round, command)
    if isinstance(round_, DealtRound):
        turn.change(out_of_sync=True)  # its last cards may still come


def correct(turn: Turn, command: ResultCorrect) -> None:
    """Correct a published result to another winner. It is replaced, never erased. Its cards are not
    repeated, as they made another result.
    """
    corrects(command, "winner")
    before = turn.state
    entry: DealtEntry | None = before.entry(command.round)
    if entry is None:
        raise RejectedError("round_not_remembered", round=command.round)
    if entry.kind != "result":
        raise RejectedError("no_result_to_correct", round=command.round)
    winner = turn.stated_winner(command.winner)
    if winner == entry.winner:
        raise RejectedError("winner_unchanged", round=command.round, winner=winner)
    now = replace(entry, winner=winner, hands=(), marks=turn.stated_marks(winner), corrected=True)
    turn.record(now)
    turn.emit_correction(now, entry.winner, command)
    turn.revise(before, entry.round, command)


# Cards that stop the table


def decide(turn: Turn, command: CardDecide) -> None:
    """Decide about the first open question: the shoe's contents, an unread card, the held card."""
    if turn.state.reset:
        if command.action != "accept":
            raise RejectedError("shoe_restarted")
        turn.change(reset=False)
    elif not turn.decide_unread(command):
        if not turn.state.held:
            raise RejectedError("no_card_to_decide")
        turn.decide_held(command, turn.state.held[0])
        release(turn)


def release(turn: Turn) -> None:
    """Deal the cards that waited behind the one that was decided."""
    held = turn.state.held
    turn.change(held=())
    follow_all(turn, held)
    if turn.state.held:
        return
    turn.advance()
    if turn.state.overflowed:
        turn.change(overflowed=False)
        turn.lose_place()


def of_the_game(held: Held) -> None:
    """Reject a card that is not of the game; an unread one may be read later."""
    card = held.given.card
    if card is not None and not is_card(card):
        raise RejectedError("card_of_another_game", card=card)


def read(turn: Turn, command: CardDecide, held: Held) -> Held:
    """The held card as read by the person."""
    card, was = talla.read_card(command), held.given
    assert turn.state.shoe is not None
    turn.change(shoe=shoe.reread(turn.state.shoe, was.card, card)[0])
    return Held(given=replace(was, card=card))


def remove(turn: Turn, command: CardDecide, why: str, card: str | None) -> None:
    """Remove the held card; the next one takes its place. ``card``: its value, if it is face up."""
    turn.emit(CardRemoved(round=turn.number, why=why, card=card))
    record_confirmer(turn, command)


def record_confirmer(turn: Turn, command: CardDecide) -> None:
    """Record the person who decided about a card of the round."""
    if turn.state.current is not None:
        turn.change_current(confirmed_by=confirmer(command))
