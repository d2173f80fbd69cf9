"""The commands of a table whose boxes play one deck: their moves, and the table of all of them."""

from __future__ import annotations

from common.contract.commands import (
    BetsClose,
    BetsOpen,
    BoxesSet,
    CardDecide,
    CardsDeal,
    CardsShow,
    CardsTurn,
    Command,
    DealError,
    DeckCheck,
    LastRoundsAnnounce,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
)
from common.contract.events import CardRemoved, DeckChecked, SessionClosed
from common.contract.refusals import RejectedError
from controller.games.banked import moves
from controller.games.banked.guards import (
    CONTINUABLE_STOPS,
    SHOWN_CARDS_NEED_DECISION,
    any_to_show,
    any_to_turn,
    bets_not_closed,
    card_waits,
    cards_due,
    dealt_by_hand,
    deck_whole,
    has_boxes,
    is_known,
    is_showable,
    names_hand,
    not_too_early,
    playable,
    result,
    round_to_confirm,
    round_to_void,
    shows,
    unconfirmed,
)
from controller.games.banked.moves import Turn
from controller.games.banked.readings import deal_waiting
from controller.games.dealt import cards as on_table
from controller.games.dealt.guards import (
    bets_open,
    between_rounds,
    cards_as_seen,
    nothing_to_decide,
)
from controller.games.dealt.state import DealtEntry, Held
from controller.games.guards import (
    DEALING,
    FieldCheck,
    Row,
    Rows,
    above_zero,
    has_result,
    is_closed,
    is_open,
    rounds_left,
    voidable,
)
from controller.games.poker import moves as poker
from controller.games.poker.correction import (
    correct_settled,
    replace_result,
    right_cards,
)
from controller.games.poker.guards import not_withdrawn, shuffler_ready
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, VOIDERS
from controller.games.session import LAST_ROUNDS, sent, void_law

# Sessions


def open_session(turn: Turn, command: SessionOpen) -> None:
    """Open the table, with no boxes yet."""
    turn.open_table(command)
    turn.change(boxes=(), played=(), last=None, held=(), doubt=None, about=None, shown=None)


def close_session(turn: Turn, command: SessionClose) -> None:
    """Close the table. A round whose bets are closed is left unresolved."""
    if turn.state.current is not None and turn.state.current.closed:
        poker.unresolved(turn)
    turn.change(open=False, current=None, held=(), doubt=None, about=None, shown=None)
    turn.course.expect(turn)
    turn.emit(SessionClosed(by=command.by, role=command.role, locked=command.locked))


# Bets


def set_boxes(turn: Turn, command: BoxesSet) -> None:
    """Set the boxes in play, from the next round on; also of a round whose bets are open."""
    deal, most = turn.state.current, turn.book.boxes
    if (
        not command.boxes
        or len(set(command.boxes)) < len(command.boxes)
        or not set(command.boxes) <= set(range(1, most + 1))
    ):
        raise RejectedError("boxes_out_of_range", most=most, law=turn.book.article)
    turn.change(boxes=tuple(sorted(command.boxes)))
    if deal is not None:
        turn.change_current(boxes=turn.state.boxes)


def open_bets(turn: Turn, command: BetsOpen) -> None:
    """Open bets for a new round."""
    state = turn.state
    if not state.checked and "deck_unchecked" in turn.book.laws:
        turn.irregular("deck_unchecked")
    moves.open_bets(turn, command.by)


def close_bets(turn: Turn, command: BetsClose) -> None:
    """Close the bets."""
    moves.close_bets(turn, command.by)


# Cards


def deal_cards(turn: Turn, command: CardsDeal) -> None:
    """Record cards that were dealt by hand, or came unseen in a silence."""
    deal = turn.current
    to = command.who if command.who is not None else deal.due[0]
    if command.count < 1 or command.count > deal.due.count(to):
        raise RejectedError("cards_due_to", due=deal.due.count(to), who=to, count=command.count)
    if len(command.cards) > command.count or on_table.trouble(deal.cards, command.cards, turn.deck):
        raise RejectedError("dealt_cards_wrong", count=command.count)
    for card in command.cards:
        moves.place_card(turn, to, card, up=True)
        if turn.state.current is None:
            return
    if command.count > len(command.cards):
        moves.place_card(turn, to, count=command.count - len(command.cards))
    turn.course.advance(turn)


def show_cards(turn: Turn, command: CardsShow) -> None:
    """Turn a hand face up: these are its cards."""
    before = turn.state
    turn.banked.show(turn, command)
    deal_waiting(turn)
    if turn.state == before:
        raise RejectedError("cards_unchanged", who=command.who)


def turn_cards(turn: Turn, command: CardsTurn) -> None:
    """Turn a hand face up whose cards were read."""
    deal, before = turn.current, turn.state
    assert command.who is not None
    turn.put(on_table.turn(deal.cards, command.who, command.index))
    turn.banked.faced(turn, command.who)
    deal_waiting(turn)
    if turn.state == before:
        raise RejectedError("cards_already_up", who=command.who)


def check_deck(turn: Turn, command: DeckCheck) -> None:
    """Record a person's check of the deck. If it is right, it may be dealt regardless of the
    shuffler.
    """
    count_right = command.cards == turn.banked.counted(turn)
    number = turn.state.current.round if turn.state.current else 0
    right = command.right and count_right
    turn.emit(
        DeckChecked(
            round=number,
            right=right,
            count=command.cards,
            count_right=count_right,
            set_right=command.right,
            by=command.by,
        )
    )
    turn.banked.judge(turn, right)
    turn.change(shuffler=None if right else turn.state.shuffler)
    deal_waiting(turn)


# Decisions


def report_error(turn: Turn, command: DealError) -> None:
    """Handle an error of dealing: the rules void the round, let it continue, or leave it to a
    person.
    """
    deal = turn.current
    kind = command.who.split(":")[0] if command.who else ""
    reason = turn.book.errors.get(f"{command.error} {kind}", turn.book.errors.get(command.error))
    put_right = command.recoverable and reason == "wrong_count" and turn.banked.correctable(turn)
    if reason is not None and not put_right:
        moves.void(turn, deal.round, reason, turn.book.void[reason], command)
    elif turn.state.doubt is not None:
        raise RejectedError("table_waits_for", commands=sent(turn.state.asks))
    else:
        turn.banked.error(turn, command)
    deal_waiting(turn)


def void(turn: Turn, command: RoundVoid) -> None:
    """Void the round by decision of the person in charge."""
    law = void_law(turn, command)
    moves.void(turn, round_to_void(turn, command), command.reason, law, command)


def confirm(turn: Turn, command: RoundConfirm) -> None:
    """Let a suspended round continue, or confirm that an unresolved one was settled at the
    table.
    """
    round_ = round_to_confirm(turn, command)
    if isinstance(round_, DealtEntry):
        poker.confirmed(turn, round_, f"{command.by} ({command.role})")
        return
    turn.banked.continue_despite(turn)
    moves.resolve(turn, *CONTINUABLE_STOPS)
    record_confirmer(turn, command)
    deal_waiting(turn)


def correct(turn: Turn, command: ResultCorrect) -> None:
    """Correct wrong cards or decisions of a published result: every bet is settled again."""
    entry = result(turn, command)
    deal = turn.state.round_of(entry.round)
    if deal is None:  # a person's word settled it
        correct_settled(turn, entry, command, turn.deck)
        return
    amended, there, names = turn.banked.amended(turn, deal, entry, command)
    right = right_cards(there, names, turn.deck, [card.card for card in deal.cards])
    before = turn.banked.outcome(turn, deal, {hand.who: hand.cards for hand in entry.hands})
    replace_result(turn, entry, before, turn.banked.outcome(turn, amended, right), command)
    turn.change(played=tuple(amended if result is deal else result for result in turn.state.played))


DECISIONS = ("accept", "read", "for", "exposed", "remove")
"""What ``card.decide`` may do with a card that waits."""


def decide(turn: Turn, command: CardDecide) -> None:
    """Decide about what waits: contradictory cards, cards hidden by a silence, a held card."""
    state = turn.state
    if state.doubt is not None:
        if command.action != "accept":
            raise SHOWN_CARDS_NEED_DECISION.error()
        assert state.shown is not None
        turn.banked.show(turn, state.shown, trust=True)
    elif state.current is not None and state.current.gap:
        if command.action != "accept":
            raise RejectedError(
                "accept_nothing_missing", commands=sent(("cards.deal", "round.void"))
            )
        turn.change_current(gap=False)
    else:
        together = (
            len(state.held) if state.current is None else 1
        )  # those outside a round leave together
        turn.change(held=state.held[together:])
        for held in state.held[:together]:
            _waiting(turn, command, held)
    record_confirmer(turn, command)
    deal_waiting(turn)


def _waiting(turn: Turn, command: CardDecide, held: Held) -> None:
    """The waiting card leaves the game, or is dealt where it belongs, as read by the device or by
    the person.

    It is face up if the rules require it, or if the person states ``exposed``.
    """
    deal, card = turn.state.current, held.given.card
    if command.action == "remove":
        number, why = deal.round if deal else 0, held.trouble or "decided"
        for _ in range(held.packet or 1):
            turn.emit(CardRemoved(round=number, why=why, card=None))
        return
    if command.action not in DECISIONS:
        raise RejectedError("action_not_allowed", action=command.action, actions=DECISIONS)
    if deal is None or not deal.closed or turn.banked.too_early(turn) or not deal.due:
        raise RejectedError("waiting_card_not_due")
    if command.action == "read" or command.card is not None:
        card = command.card
    if card is not None and on_table.trouble(deal.cards, [card], turn.deck):
        raise RejectedError("card_impossible")
    to = command.who if command.action == "for" and command.who is not None else deal.due[0]
    if to not in deal.due:
        raise RejectedError("no_card_due_to", who=to)
    count = held.packet or 1
    if count > deal.due.count(to) or (count > 1 and card is not None):
        raise RejectedError("waiting_card_not_due")
    up, reading = command.action == "exposed", held.given.reading
    moves.place_card(turn, to, card, up=up and count == 1, reading=reading, count=count)


def record_confirmer(turn: Turn, command: Command) -> None:
    """Record the person who decided."""
    if turn.state.current is not None:
        turn.change_current(confirmed_by=f"{command.by} ({command.role})")


COMMANDS: Rows = {
    SessionOpen: Row(IN_CHARGE, (is_closed, FieldCheck(above_zero)), open_session),
    SessionClose: Row(IN_CHARGE, (is_open,), close_session),
    DealError: Row(VOIDERS, (FieldCheck(not_withdrawn), *DEALING), report_error),
    RoundVoid: Row(VOIDERS, (FieldCheck(round_to_void, voidable),), void),
    RoundConfirm: Row(IN_CHARGE, (FieldCheck(round_to_confirm, unconfirmed),), confirm),
    ResultCorrect: Row(IN_CHARGE, (FieldCheck(result, has_result),), correct),
    CardDecide: Row(IN_CHARGE, (is_open, card_waits), decide),
    BoxesSet: Row(AT_THE_TABLE, (is_open, bets_not_closed), set_boxes),
    BetsOpen: Row(
        AT_THE_TABLE,
        (
            is_open,
            between_rounds,
            nothing_to_decide,
            rounds_left,
            has_boxes,
            deck_whole,
            playable,
        ),
        open_bets,
    ),
    BetsClose: Row(AT_THE_TABLE, (is_open, bets_open, shuffler_ready, playable), close_bets),
    CardsDeal: Row(AT_THE_TABLE, (*DEALING, dealt_by_hand, not_too_early, cards_due), deal_cards),
    CardsShow: Row(
        AT_THE_TABLE, (*DEALING, shows, FieldCheck(is_showable, any_to_show)), show_cards
    ),
    CardsTurn: Row(
        AT_THE_TABLE,
        (
            *DEALING,
            FieldCheck(names_hand),
            FieldCheck(cards_as_seen),
            shows,
            FieldCheck(is_known, any_to_turn),
        ),
        turn_cards,
    ),
    DeckCheck: Row(AT_THE_TABLE, (is_open,), check_deck),
    LastRoundsAnnounce: LAST_ROUNDS,
}
"""The commands of every such table. Each game adds its own."""
