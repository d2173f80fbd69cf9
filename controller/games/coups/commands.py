"""The commands of a table of coups: their moves, their guards, and the table of both."""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import (
    BetPlace,
    BetsClose,
    BetsOpen,
    BetWithdraw,
    CardDecide,
    LastRoundsAnnounce,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
    ShoeEnd,
    ShoeStart,
)
from common.contract.events import CardRemoved
from common.contract.refusals import RejectedError
from controller.games import shoe, stakes, talla
from controller.games.cards import is_card
from controller.games.coups import moves
from controller.games.coups.moves import Turn
from controller.games.dealt.arrivals import follow_all
from controller.games.dealt.guards import (
    bets_open,
    between_rounds,
    has_shoe,
    is_burned,
    nothing_to_decide,
    shoe_lasts,
)
from controller.games.dealt.state import DealtEntry, DealtRound, Held
from controller.games.guards import (
    FieldCheck,
    Refused,
    Row,
    Rows,
    has_result,
    has_unresolved,
    is_closed,
    is_open,
    lawful_minimum,
    rounds_left,
    voidable,
)
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, VOIDERS
from controller.games.session import (
    LAST_ROUNDS,
    confirmer,
    result_to_correct,
    round_to_void,
    undecided,
    void_law,
)

# Sessions and shoes


def open_session(turn: Turn, command: SessionOpen) -> None:
    """Open the table, without a shoe."""
    turn.open_table(command)
    turn.change(past=shoe.new_session(turn.state.past), last=None)


def close_session(turn: Turn, command: SessionClose) -> None:
    """Close the table. A round that has begun is left unresolved."""
    coup = turn.state.current
    if coup is not None and coup.begun:
        moves.unresolved(turn, coup, "undecided")
    turn.change(current=None)
    moves.clear_shoe(turn)
    talla.close_session(turn, command)


def start_shoe(turn: Turn, command: ShoeStart) -> None:
    """Start a shoe."""
    moves.clear_shoe(turn)
    turn.coup.new_shoe(turn)
    talla.begin(turn, command, turn.call("shoe"))


def end_shoe(turn: Turn, command: ShoeEnd) -> None:
    """End the shoe; if the cards left in it were counted, check the count."""
    moves.clear_shoe(turn, command.left)


# Bets


def open_bets(turn: Turn, command: BetsOpen) -> None:
    """Open bets for a new round."""
    moves.open_bets(turn, command.by)


def close_bets(turn: Turn, command: BetsClose) -> None:
    """Close the bets. Cards carried over to this round are its first."""
    moves.close_bets(turn, command.by)
    carried = turn.state.carried
    turn.change(carried=())
    follow_all(turn, carried)


# The outcome of a round


def void(turn: Turn, command: RoundVoid) -> None:
    """Void the round by decision of the person in charge."""
    round_ = round_to_void(turn, command)
    moves.void(turn, round_.round, command.reason, void_law(turn, command), command)


def confirm(turn: Turn, command: RoundConfirm) -> None:
    """Confirm the result of an unresolved round, by the cards that were seen or by the person's
    statement.
    """
    before, stated = turn.state, command.winner
    round_ = round_to_confirm(turn, command)
    outcome = moves.whole(turn, round_.cards)
    if stated is not None and (outcome is None or stated != outcome[0]):
        outcome = (stated, (), turn.coup.stated_marks(stated))
    if outcome is None:
        raise RejectedError("round_cards_unknown", round=round_.round)
    moves.result(turn, round_, outcome, confirmer(command))
    turn.coup.revise(turn, before, round_.round, command)
    if isinstance(round_, DealtRound):
        turn.change(out_of_sync=True)  # its last cards may still come


def correct(turn: Turn, command: ResultCorrect) -> None:
    """Correct a published result to another winner. It is replaced, never erased. Its cards are not
    repeated, as they made another result.
    """
    before, entry = turn.state, result(turn, command)
    winner = moves.stated_winner(turn, command.winner)
    if winner == entry.winner:
        raise RejectedError("winner_unchanged", round=command.round, winner=winner)
    now = replace(
        entry, winner=winner, hands=(), marks=turn.coup.stated_marks(winner), corrected=True
    )
    turn.record(now)
    turn.emit_correction(now, entry.winner, command)
    turn.coup.revise(turn, before, entry.round, command)


# Cards that stop the table


def decide(turn: Turn, command: CardDecide) -> None:
    """Decide about the first open question: the shoe's contents, an unread card, the held card."""
    if turn.state.reset:
        if command.action != "accept":
            raise RejectedError("shoe_restarted")
        turn.change(reset=False)
    elif not turn.coup.decide_unread(turn, command):
        turn.coup.decide_held(turn, command, turn.state.held[0])
        release(turn)


def release(turn: Turn) -> None:
    """Deal the cards that waited behind the one that was decided."""
    held = turn.state.held
    turn.change(held=())
    follow_all(turn, held)
    if turn.state.held:
        return
    turn.course.advance(turn)
    if turn.state.overflowed:
        turn.change(overflowed=False)
        turn.course.lose_place(turn)


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


# Guards


def is_numbered(turn: Turn, command: ShoeStart) -> None:
    """Reject a shoe without a number."""
    talla.numbered(command, turn.book.laws["shoe_unnumbered"].cited)


def round_to_confirm(turn: Turn, command: RoundConfirm) -> DealtRound | DealtEntry:
    """The round whose result a person gives. Raises ``RejectedError`` unless exactly one matches,
    and for a winner that there is not.
    """
    coup = turn.state.current
    round_: DealtRound | DealtEntry = undecided(
        turn.state, coup, command.round, first=coup is not None and coup.gap
    )
    if command.winner is not None:
        moves.stated_winner(turn, command.winner)
    if isinstance(round_, DealtRound) and (refused := turn.coup.confirmation_refusal(turn, round_)):
        raise refused.error()
    return round_


def unconfirmed(turn: Turn) -> bool:
    """A round is unresolved, or a silence may hide a card of the one in progress."""
    coup = turn.state.current
    return has_unresolved(turn) or (
        coup is not None and turn.coup.confirmation_refusal(turn, coup) is None
    )


def result(turn: Turn, command: ResultCorrect) -> DealtEntry:
    """The result that is to be corrected."""
    entry: DealtEntry = result_to_correct(turn, command, "winner")
    return entry


def card_waits(turn: Turn) -> Refused | None:
    """A person must decide about a card or the shoe."""
    stop = turn.stop
    asked = stop is not None and "card.decide" in stop.asks
    return None if asked else Refused("no_card_to_decide")


COMMANDS: Rows = {
    SessionOpen: Row(IN_CHARGE, (is_closed, FieldCheck(lawful_minimum)), open_session),
    SessionClose: Row(IN_CHARGE, (is_open,), close_session),
    CardDecide: Row(IN_CHARGE, (card_waits,), decide),
    RoundVoid: Row(VOIDERS, (FieldCheck(round_to_void, voidable),), void),
    RoundConfirm: Row(IN_CHARGE, (FieldCheck(round_to_confirm, unconfirmed),), confirm),
    ResultCorrect: Row(IN_CHARGE, (FieldCheck(result, has_result),), correct),
    ShoeStart: Row(AT_THE_TABLE, (is_open, between_rounds, FieldCheck(is_numbered)), start_shoe),
    ShoeEnd: Row(AT_THE_TABLE, (is_open, has_shoe, between_rounds), end_shoe),
    BetsOpen: Row(
        AT_THE_TABLE,
        (is_open, has_shoe, is_burned, shoe_lasts, between_rounds, nothing_to_decide, rounds_left),
        open_bets,
    ),
    BetsClose: Row(AT_THE_TABLE, (is_open, bets_open), close_bets),
    BetPlace: stakes.PLACE,
    BetWithdraw: stakes.WITHDRAW,
    LastRoundsAnnounce: LAST_ROUNDS,
}
"""The commands of every table of coups. Each game adds its own."""
