"""Handlers of commands at a table whose boxes play one deck. A refused command raises
``RejectedError``.
"""

from __future__ import annotations

from controller.contract.commands import (
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
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
)
from controller.contract.events import CardRemoved, DeckChecked, SessionClosed
from controller.contract.refusals import RejectedError
from controller.games.banked.readings import Turn, deal_waiting
from controller.games.banked.state import BankedDeal
from controller.games.dealt import cards as on_table
from controller.games.dealt.state import Held
from controller.games.poker.correction import (
    correct_settled,
    published,
    replace_result,
    right_cards,
)
from controller.games.session import another_round, sent, session, void_law

CONTINUABLE_STOPS = (
    "card_exposed",
    "deal_error",
    "packet_wrong",
    "shuffler_unready",
    "dealer_early",
    "deck_wrong",
    "leftover_wrong",
)
"""Doubts that a person may overrule, so that the round continues."""


# Sessions


def open_session(turn: Turn, command: SessionOpen) -> None:
    """Open the table, with no boxes yet."""
    turn.open_session(command)
    turn.change(boxes=(), played=(), last=None, held=(), doubt=None, about=None, shown=None)


def close_session(turn: Turn, command: SessionClose) -> None:
    """Close the table. A round whose bets are closed is left unresolved."""
    session(turn)
    if turn.state.current is not None and turn.state.current.closed:
        turn.unresolved()
    turn.change(open=False, current=None, held=(), doubt=None, about=None, shown=None)
    turn.expect()
    turn.emit(SessionClosed(by=command.by, role=command.role, locked=command.locked))


# Bets


def set_boxes(turn: Turn, command: BoxesSet) -> None:
    """Set the boxes in play, from the next round on; also of a round whose bets are open."""
    session(turn)
    deal, most = turn.state.current, turn.book.boxes
    if deal is not None and deal.closed:
        raise RejectedError("boxes_after_close", round=deal.round)
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
    another_round(turn, turn.state.last)
    state = turn.state
    if not state.boxes:
        raise RejectedError("no_boxes")
    if state.defective:
        raise RejectedError("deck_not_whole", law=turn.book.laws["deck_wrong"].cited)
    turn.require_playable()
    if not state.checked and "deck_unchecked" in turn.book.laws:
        turn.irregular("deck_unchecked")
    turn.open_bets(command.by)


def close_bets(turn: Turn, command: BetsClose) -> None:
    """Close the bets."""
    if turn.state.shuffler is not None:
        raise RejectedError("shuffler_not_ready", state=turn.state.shuffler)
    turn.require_playable()
    turn.close_bets(command.by)


# Cards


def deal_cards(turn: Turn, command: CardsDeal) -> None:
    """Record cards that were dealt by hand, or came unseen in a silence."""
    deal = dealing(turn)
    held = turn.state.held
    after_silence = (
        deal.gap and bool(held) and held[0].trouble is None
    )  # the waiting cards came after those of this command
    if turn.state.doubt is not None or (held and not after_silence):
        raise RejectedError(
            "table_waits_for", commands=sent(("card.decide",) if held else turn.state.asks)
        )
    if why := turn.too_early():
        raise RejectedError("card_too_early", law=turn.book.laws[why].cited)
    if not deal.due:
        raise RejectedError("no_more_cards_due")
    to = command.who if command.who is not None else deal.due[0]
    if command.count < 1 or command.count > deal.due.count(to):
        raise RejectedError("cards_due_to", due=deal.due.count(to), who=to, count=command.count)
    if len(command.cards) > command.count or on_table.trouble(deal.cards, command.cards, turn.deck):
        raise RejectedError("dealt_cards_wrong", count=command.count)
    for card in command.cards:
        turn.place_card(to, card, up=True)
        if turn.state.current is None:
            return
    if command.count > len(command.cards):
        turn.place_card(to, count=command.count - len(command.cards))
    turn.advance()


def show_cards(turn: Turn, command: CardsShow) -> None:
    """Turn a hand face up: these are its cards."""
    before = turn.state
    _showing(turn, command.who)
    turn.show(command)
    deal_waiting(turn)
    if turn.state == before:
        raise RejectedError("cards_unchanged", who=command.who)


def turn_cards(turn: Turn, command: CardsTurn) -> None:
    """Turn a hand face up whose cards were read."""
    deal, before = dealing(turn), turn.state
    if command.who is None:
        raise RejectedError("who_required")
    _showing(turn, command.who)
    own = on_table.dealt(deal.cards, command.who)
    if command.index is not None and not (
        0 < command.index <= len(own) and own[command.index - 1].card
    ):
        raise RejectedError("card_unknown", who=command.who, index=command.index)
    if command.index is None and not on_table.is_known(deal.cards, command.who):
        raise RejectedError("hand_cards_unknown", who=command.who)
    turn.put(on_table.turn(deal.cards, command.who, command.index))
    turn.faced(command.who)
    deal_waiting(turn)
    if turn.state == before:
        raise RejectedError("cards_already_up", who=command.who)


def _showing(turn: Turn, who: str) -> None:
    deal = dealing(turn)
    if turn.state.stop is not None and "cards.show" not in turn.state.asks:
        raise RejectedError("table_waits_for", commands=sent(turn.state.asks))
    if not on_table.hand(deal.cards, who):
        raise RejectedError("no_cards", who=who)
    state = turn.state
    reshown = state.doubt == "shown_differs" and on_table.is_up(
        deal.cards, who
    )  # the other one may be wrong
    if state.doubt is None or (reshown and who != state.about):
        turn.require_showable(who)
    elif state.about not in (None, who):
        raise RejectedError("table_waits_for_cards", who=turn.state.about)


def check_deck(turn: Turn, command: DeckCheck) -> None:
    """Record a person's check of the deck. If it is right, it may be dealt regardless of the
    shuffler.
    """
    session(turn)
    count_right = command.cards == turn.counted()
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
    turn.judge(right)
    turn.change(shuffler=None if right else turn.state.shuffler)
    deal_waiting(turn)


# Decisions


def report_error(turn: Turn, command: DealError) -> None:
    """Handle an error of dealing: the rules void the round, let it continue, or leave it to a
    person.
    """
    if not command.valid:
        raise RejectedError("deal_error_not_withdrawn")
    deal = dealing(turn)
    kind = command.who.split(":")[0] if command.who else ""
    reason = turn.book.errors.get(f"{command.error} {kind}", turn.book.errors.get(command.error))
    put_right = command.recoverable and reason == "wrong_count" and turn.correctable()
    if reason is not None and not put_right:
        turn.void(deal.round, reason, turn.book.void[reason], command)
    elif turn.state.doubt is not None:
        raise RejectedError("table_waits_for", commands=sent(turn.state.asks))
    else:
        turn.error(command)
    deal_waiting(turn)


def void(turn: Turn, command: RoundVoid) -> None:
    """Void the round by decision of the person in charge."""
    law = void_law(turn, command)
    deal, waiting = turn.state.current, turn.state.unresolved()
    number = command.round
    if number is None:
        if deal is None and not waiting:
            raise RejectedError("no_round_to_decide")
        if deal is None and len(waiting) > 1:
            raise RejectedError("say_round", rounds=tuple(str(entry.round) for entry in waiting))
        number = deal.round if deal is not None else waiting[0].round
    if (deal is None or deal.round != number) and number not in [entry.round for entry in waiting]:
        raise RejectedError("round_not_open", round=number)
    turn.void(number, command.reason, law, command)


def confirm(turn: Turn, command: RoundConfirm) -> None:
    """Let a suspended round continue, or confirm that an unresolved one was settled at the
    table.
    """
    if command.winner is not None or command.number is not None or command.dice is not None:
        raise RejectedError("result_from_cards")
    state, waiting = turn.state, turn.state.unresolved()
    alone = waiting[0].round if state.current is None and len(waiting) == 1 else None
    left = next((entry for entry in waiting if entry.round == (command.round or alone)), None)
    if left is not None:
        turn.confirmed(left, f"{command.by} ({command.role})")
        return
    deal = dealing(turn)
    if command.round not in (None, deal.round):
        raise RejectedError("round_not_in_progress", round=command.round)
    if turn.state.doubt not in CONTINUABLE_STOPS:
        raise RejectedError("nothing_to_confirm", round=deal.round)
    turn.continue_despite()
    turn.resolve(*CONTINUABLE_STOPS)
    record_confirmer(turn, command)
    deal_waiting(turn)


def correct(turn: Turn, command: ResultCorrect) -> None:
    """Correct wrong cards or decisions of a published result: every bet is settled again."""
    entry = published(turn.state, command, decisions=turn.decides)
    deal = turn.state.round_of(entry.round)
    if deal is None:  # a person's word settled it
        correct_settled(turn, entry, command, turn.deck)
        return
    amended, there, names = turn.amended(deal, entry, command)
    right = right_cards(there, names, turn.deck, [card.card for card in deal.cards])
    before = turn.outcome(deal, {hand.who: hand.cards for hand in entry.hands})
    replace_result(turn, entry, before, turn.outcome(amended, right), command)
    turn.change(played=tuple(amended if result is deal else result for result in turn.state.played))


DECISIONS = ("accept", "read", "for", "exposed", "remove")
"""What ``card.decide`` may do with a card that waits."""


def decide(turn: Turn, command: CardDecide) -> None:
    """Decide about what waits: contradictory cards, cards hidden by a silence, a held card."""
    session(turn)
    state = turn.state
    if state.doubt == "shown_differs":
        if command.action != "accept" or state.shown is None:
            raise RejectedError(
                "shown_cards_need_decision", commands=sent(("cards.show", "round.void"))
            )
        turn.show(state.shown, trust=True)
    elif state.doubt is not None:
        raise RejectedError("table_waits_for", commands=sent(state.asks))
    elif state.current is not None and state.current.gap:
        if command.action != "accept":
            raise RejectedError(
                "accept_nothing_missing", commands=sent(("cards.deal", "round.void"))
            )
        turn.change_current(gap=False)
    elif state.held:
        together = (
            len(state.held) if state.current is None else 1
        )  # those outside a round leave together
        turn.change(held=state.held[together:])
        for held in state.held[:together]:
            _waiting(turn, command, held)
    else:
        raise RejectedError("nothing_to_decide")
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
    if deal is None or not deal.closed or turn.too_early() or not deal.due:
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
    turn.place_card(to, card, up=up and count == 1, reading=reading, count=count)


# Preconditions of commands


def dealing(turn: Turn) -> BankedDeal:
    """The round in progress, with bets closed. Raises ``RejectedError`` without one."""
    session(turn)
    deal: BankedDeal | None = turn.state.current
    if deal is None:
        raise RejectedError("no_round_in_progress")
    if not deal.closed:
        raise RejectedError("bets_still_open")
    return deal


def record_confirmer(turn: Turn, command: Command) -> None:
    """Record the person who decided."""
    if turn.state.current is not None:
        turn.change_current(confirmed_by=f"{command.by} ({command.role})")
