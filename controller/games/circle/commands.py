"""Handlers of commands about sessions, seats, the button, the deck and results at a table of circle
poker.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import (
    BetsClose,
    BetsOpen,
    BoxesSet,
    ButtonSet,
    DeckCheck,
    LimitAnnounce,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
)
from common.contract.events import (
    LastRounds,
    LimitChanged,
    RoundUnresolved,
    SessionClosed,
)
from common.contract.refusals import RejectedError
from controller.games.circle import moves
from controller.games.circle.readings import record_deck_check
from controller.games.circle.showdown import TIE, CircleShown, compare, open_boards, open_hands
from controller.games.circle.state import CircleRound
from controller.games.circle.streets import needed, pack
from controller.games.circle.turn import CircleTurn
from controller.games.dealt.state import DealtEntry
from controller.games.guards import Refused, has_unresolved
from controller.games.poker.readings import counted
from controller.games.session import confirmer, round_to_void, undecided, void_law

# Sessions


def open_session(turn: CircleTurn, command: SessionOpen) -> None:
    """Begin a match, with no seat taken."""
    turn.open_table(command)
    turn.change(
        played=(),
        seated=(),
        resting={},
        rested={},
        button=None,
        fresh=False,
        unchecked=None,
        anew=False,
        raised=None,
        last=None,
        blanks=0,
    )
    _limits(turn)


def close_session(turn: CircleTurn, command: SessionClose) -> None:
    """End the match. A round in progress is left unresolved."""
    hand = turn.state.current
    if hand is not None and hand.closed:
        turn.record(DealtEntry(round=hand.round, kind="unresolved", hands=open_hands(hand)))
        turn.emit(RoundUnresolved(round=hand.round, why="undecided", candidate=None))
        moves.expect(turn)
    moves.leave(turn)
    turn.change(open=False, anew=False)
    turn.clear_alert("card_out_of_round")
    moves.expect(turn)
    turn.emit(SessionClosed(by=command.by, role=command.role, locked=command.locked))


def announce_limit(turn: CircleTurn, command: LimitAnnounce) -> None:
    """Announce a minimum that applies from the next round on."""
    turn.change(raised=command.minimum)
    turn.emit(LastRounds(purpose="limit", left=1 if turn.state.current else 0, by=command.by))


def _limits(turn: CircleTurn) -> None:
    """Report known limits that break the decree's ratios of lowest bet, highest bet and ante."""
    low, high, ante = turn.state.minimum, turn.settings.maximum, turn.settings.ante
    wrong = []
    if low is not None and high is not None and turn.book.minimum is not None:
        least, most = turn.book.minimum
        if not least * high <= 100 * low <= most * high:
            wrong.append(f"minimum {low}: it is {least} to {most} % of the maximum {high}")
    if (
        low is not None
        and ante is not None
        and turn.book.ante is not None
        and 100 * ante > turn.book.ante * low
    ):
        wrong.append(f"ante {ante}: it is at most {turn.book.ante} % of the minimum {low}")
    if wrong:
        turn.irregular("limits", detail="; ".join(wrong))


# Places, the hand, the pack


def set_seats(turn: CircleTurn, command: BoxesSet) -> None:
    """Set the taken seats, from the next round on. A player who leaves is no longer sitting out."""
    seats = tuple(sorted({*command.boxes}))
    if not seats or seats[0] < 1 or len(seats) < len(command.boxes):
        raise RejectedError("boxes_not_seats")
    most = turn.book.most
    law = turn.book.laws["players_too_many"]
    if most is not None and len(seats) > most:
        raise RejectedError("players_too_many", players=len(seats), most=most, law=law.cited)
    resting = {name: rounds for name, rounds in turn.state.resting.items() if int(name) in seats}
    rested = {name: rounds for name, rounds in turn.state.rested.items() if int(name) in seats}
    turn.change(seated=seats, resting=resting, rested=rested)


def set_button(turn: CircleTurn, command: ButtonSet) -> None:
    """Place the button; without a seat, move it on."""
    if command.seat is None:
        moves.move_button(turn, command.by)
    else:
        moves.set_button(turn, command.seat, command.by)
    turn.change(fresh=True)


def check_deck(turn: CircleTurn, command: DeckCheck) -> None:
    """Record a person's check of the deck."""
    record_deck_check(turn, counted(command, len(turn.pack)))


# Rounds


def open_bets(turn: CircleTurn, command: BetsOpen) -> None:
    """Begin a round: move the button on and ask for the antes."""
    state = turn.state
    _miss_deck_check(turn)
    stays = state.fresh or (state.anew and turn.settings.after_misdeal == "stays")
    if not stays or state.button not in state.seated:
        moves.move_button(turn)
    if state.raised is not None:
        turn.change(minimum=state.raised, raised=None)
        turn.emit(LimitChanged(minimum=state.raised, was=state.minimum, currency=state.currency))
        _limits(turn)
    _rest(turn)
    turn.open_bets(command.by, relaunch=state.anew)
    turn.change(anew=False, fresh=False)


def close_bets(turn: CircleTurn, command: BetsClose) -> None:
    """Close the antes."""
    moves.close_bets(turn, command.by)


def _miss_deck_check(turn: CircleTurn) -> None:
    unchecked = turn.state.unchecked
    every = 1 if turn.book.deck_check == "each" else turn.settings.deck_check_rounds
    if unchecked is None or unchecked >= every:
        turn.irregular("deck_unchecked")
    turn.change(unchecked=1 if unchecked is None else unchecked + 1)


def _rest(turn: CircleTurn) -> None:
    """Count one more round for each player who sits out."""
    resting = {name: rounds + 1 for name, rounds in turn.state.resting.items()}
    rested = {**turn.state.rested, **{name: turn.state.rested.get(name, 0) + 1 for name in resting}}
    turn.change(resting=resting, rested=rested)
    for name, rounds in resting.items():
        over = (rested[name] if turn.book.rest_in == "match" else rounds) - turn.book.rest
        if over == 1 or (over > 1 and rounds == 1):
            turn.irregular(
                "rest_too_long", detail=f"seat:{name}, more than {turn.book.rest} rounds"
            )


# Outcomes


def void(turn: CircleTurn, command: RoundVoid) -> None:
    """Void the round by decision of the person in charge."""
    round_ = round_to_void(turn, command)
    moves.void(turn, round_.round, command.reason, void_law(turn, command), command)


def confirm(turn: CircleTurn, command: RoundConfirm) -> None:
    """Confirm a result that the table cannot know. It must not contradict face-up cards."""
    round_ = round_to_confirm(turn, command)
    if isinstance(round_, CircleRound):
        against_cards(turn, round_, command.winner)
    marks = ("split",) if command.winner == TIE else ()
    hands = (
        tuple(hand for hand in (*open_hands(round_), *open_boards(round_)) if hand.cards)
        if isinstance(round_, CircleRound)
        else ()
    )
    moves.result(turn, round_, CircleShown(hands, command.winner, marks), confirmer(command))


def against_cards(turn: CircleTurn, hand: CircleRound, winner: str | None) -> None:
    """Reject a winner who is beaten by an open hand, once all cards are dealt."""
    open_seats = tuple(seat for seat in hand.seats if seat.shown and seat in hand.live)
    if not open_seats or not (hand.showdown and hand.board_open):
        return
    shown = compare(turn.book, replace(hand, seats=open_seats)).hands
    if any(
        shown_hand.who == winner and {bet.outcome for bet in shown_hand.settled} == {"lose"}
        for shown_hand in shown
    ):  # on any row of common cards
        raise RejectedError(
            "winner_beaten", winner=winner or "", law=turn.book.laws["showdown"].cited
        )


# Guards


def has_place(turn: CircleTurn, command: ButtonSet) -> None:
    """Reject a button without a place."""
    if command.seat is None:
        if turn.state.button is None:
            raise RejectedError("no_button")
    elif command.seat not in turn.state.seated:
        raise RejectedError(
            "not_seated",
            who=f"seat:{command.seat}",
            seated=tuple(f"seat:{seat}" for seat in turn.state.seated),
        )


def any_place(turn: CircleTurn) -> bool:
    """The button may be placed, or moved on."""
    return bool(turn.state.seated) or turn.state.button is not None


def enough_seated(turn: CircleTurn) -> Refused | None:
    """As many are seated as the decree requires."""
    players, fewest = len(turn.state.seated), turn.book.fewest
    if players >= fewest:
        return None
    law = turn.book.laws["players_too_few"]
    return Refused("players_too_few", {"players": players, "fewest": fewest}, law=law)


def enough_play(turn: CircleTurn) -> Refused | None:
    """Not all but one sit out."""
    return Refused("players_sitting_out") if len(turn.state.playing) < 2 else None


def pack_suffices(turn: CircleTurn) -> Refused | None:
    """The deck has a card for each place."""
    players = len(turn.state.playing)
    need = needed(turn.book, turn.settings, players)
    cards = len(pack(turn.book, len(turn.state.seated)))
    if need <= cards:
        return None
    return Refused("deck_too_small", {"players": players, "need": need, "cards": cards})


def deck_whole(turn: CircleTurn) -> Refused | None:
    """The last check of the deck found nothing wrong."""
    if turn.state.deck is False:
        return Refused("deck_not_whole", law=turn.book.laws["deck_defective"])
    return None


def has_button(turn: CircleTurn) -> Refused | None:
    """The button is placed."""
    return Refused("no_button") if turn.state.button is None else None


def round_to_confirm(turn: CircleTurn, command: RoundConfirm) -> CircleRound | DealtEntry:
    """The round that a person gives a winner. Raises ``RejectedError`` unless exactly one matches,
    and for a winner who is not in it.
    """
    round_: CircleRound | DealtEntry = undecided(turn.state, turn.state.current, command.round)
    allowed = [
        seat.who for seat in (round_.live if isinstance(round_, CircleRound) else round_.hands)
    ]
    if command.winner not in (*allowed, TIE):
        raise RejectedError("winner_one_of", winners=(*allowed, TIE))
    if isinstance(round_, CircleRound) and not round_.showdown:
        raise RejectedError("round_being_played")
    return round_


def unconfirmed(turn: CircleTurn) -> bool:
    """A round is unresolved, or its hands are shown."""
    hand = turn.state.current
    return has_unresolved(turn) or (hand is not None and hand.showdown)
