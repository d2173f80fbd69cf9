"""What a person decides about a card that stopped the table: name it, accept it, remove it, or keep
it for the next round.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.commands import CardDecide
from controller.contract.events import CardRemoved, CardTurned
from controller.contract.refusals import RejectedError
from controller.games import shoe, talla
from controller.games.baccarat import SIDES
from controller.games.cards import is_card
from controller.games.punto_banca import coups
from controller.games.punto_banca.coup import count, next_place
from controller.games.punto_banca.coups import Waiting
from controller.games.punto_banca.readings import (
    burn,
    finish_burn,
    follow,
    follow_all,
    lose_place,
    ready,
)
from controller.games.punto_banca.turn import PuntoBancaTurn
from controller.games.session import confirmer
from devices.readings import CardDrawn


def decide(turn: PuntoBancaTurn, given: CardDecide) -> None:
    """Decide about the first thing that waits: the shoe's contents, an unread card, the waiting
    card, the burn.
    """
    state = turn.state
    if state.reset:
        coups.same_cards(turn, given)
    elif given.action == "read" and _unread(turn, given):
        turn.settle()
    elif state.queue:
        if given.action not in _DECIDED:
            raise RejectedError("action_not_allowed", action=given.action, actions=tuple(_DECIDED))
        _DECIDED[given.action](turn, given, state.queue[0])
        _resume(turn)
    elif state.burn is not None and "card.decide" in state.asks:
        _burn(turn, given)
    elif state.asks:
        raise RejectedError("card_not_read_in_round")
    else:
        raise RejectedError("no_card_to_decide")
    turn.expect()


def _unread(turn: PuntoBancaTurn, given: CardDecide) -> bool:
    """Read the first unread card on the table, or of the named hand. Whether there was one."""
    coup, now = turn.state.current, turn.state.shoe
    sides = [side for side in SIDES if given.who in (None, side)]
    if coup is None or now is None:
        return False
    for side in sides:
        for index, each in enumerate(coup.cards(side)):
            if each.card is not None:
                continue
            card = talla.read_card(given)
            counted, trouble = shoe.read(now, card)
            cards = coup.cards(side)
            turn.change(shoe=counted)
            read = (*cards[:index], replace(each, card=card), *cards[index + 1 :])
            turn.change(current=coup.with_cards(side, read))
            turn.change_current(confirmed_by=confirmer(given))
            if each.up:
                turn.say(CardTurned(round=coup.round, to=side, index=index + 1, card=card))
            if trouble is not None:
                turn.irregular(trouble)
            return True
    return False


# The card that waits


def _place(turn: PuntoBancaTurn, given: CardDecide, waiting: Waiting) -> None:
    """Place the card where the order says; face up, out of turn, only if a person says so."""
    state, now = turn.state, turn.state.shoe
    if given.action == "for" and given.who is None:
        raise RejectedError("who_one_of", players=SIDES)
    _of_the_game(waiting)
    if state.burn is not None:
        turn.change(queue=state.queue[1:])
        burn(turn, replace(waiting, trouble=None))
        return
    if now is not None and now.over:
        raise RejectedError("shoe_over_remove_card")
    if state.current is None and turn.settings.rounds == "keys":
        raise RejectedError("no_round_keep_card")
    to = next_place(state.current, turn.book.third) if state.current is not None else "player"
    if to is None:
        may = (
            state.current is not None and count(state.current) >= 4 and "card.decide" in state.asks
        )
        raise RejectedError("no_card_now_turn" if may else "no_card_now")
    if given.who not in (None, to):
        raise RejectedError("next_card_to", who=to)
    turn.change(queue=state.queue[1:])
    ready(turn)
    turn.change_current(confirmed_by=confirmer(given), gap=False)
    turn.place(waiting.given, to, seen=given.action == "exposed")


def _of_the_game(waiting: Waiting) -> None:
    """Reject a card that is not of the game; one that was not read may be read later."""
    card = waiting.given.card
    if card is not None and not is_card(card):
        raise RejectedError("card_of_another_game", card=card)


def _exposed(turn: PuntoBancaTurn, given: CardDecide, waiting: Waiting) -> None:
    """The card is indeed face up, and counts; if the person names another card, it is that one."""
    if not waiting.given.exposed:
        raise RejectedError("card_not_face_up")
    (_place if given.card in (None, waiting.given.card) else _read)(turn, given, waiting)


def _read(turn: PuntoBancaTurn, given: CardDecide, waiting: Waiting) -> None:
    """It is another card than the shoe reported. Drop its frame, which encodes the misread card."""
    card, now = talla.read_card(given), turn.state.shoe
    assert now is not None
    counted, _ = shoe.reread(now, waiting.given.card, card)
    read = replace(waiting, given=replace(waiting.given, card=card, frame=None), trouble=None)
    turn.change(shoe=counted, queue=(read, *turn.state.queue[1:]))
    _place(turn, given, read)


def _remove(turn: PuntoBancaTurn, given: CardDecide, waiting: Waiting) -> None:
    """Remove the card; the next one takes its place."""
    coup = turn.state.current
    turn.change(queue=turn.state.queue[1:])
    why = waiting.trouble or ("exposed" if waiting.given.exposed else "decided")
    turn.say(CardRemoved(round=coup.round if coup else 0, why=why, card=None))
    if coup is not None:
        turn.change_current(confirmed_by=confirmer(given))


def _next_round(turn: PuntoBancaTurn, given: CardDecide, waiting: Waiting) -> None:
    """Keep the card as the first of the next round; if cards are being burned, the burn ended
    before it.
    """
    now = turn.state.shoe
    if now is not None and (now.over or now.cut_at is not None):
        raise RejectedError("next_round_none")
    _of_the_game(waiting)
    turn.change(queue=turn.state.queue[1:])
    if turn.state.burn is not None:
        finish_burn(turn, anyway=True)
    kept = Waiting(
        given=CardDrawn(
            at=waiting.given.at,
            device=waiting.given.device,
            frame=waiting.given.frame,
            card=waiting.given.card,
        )
    )
    if turn.state.current is None and turn.settings.rounds == "shoe":
        follow(turn, kept)
    else:
        turn.change(carried=(*turn.state.carried, kept))
    if turn.state.current is not None:
        turn.change_current(confirmed_by=confirmer(given))


_DECIDED = {
    "accept": _place,
    "for": _place,
    "read": _read,
    "remove": _remove,
    "next_round": _next_round,
    "exposed": _exposed,
}


def _resume(turn: PuntoBancaTurn) -> None:
    """Follow the cards that came after it, each by the rules."""
    waiting = turn.state.queue
    turn.change(queue=())
    follow_all(turn, waiting)
    if not turn.state.queue:
        turn.settle()
        if turn.state.queue_overflowed:
            turn.change(queue_overflowed=False)
            lose_place(turn)


# The burn


def _burn(turn: PuntoBancaTurn, given: CardDecide) -> None:
    """Read the first burn card, or end the burn on a person's word."""
    now = turn.state.burn
    assert now is not None
    if given.action == "read" and now.drawn and now.shown is None:
        card = talla.read_card(given)
        if turn.state.shoe is not None:
            turn.change(shoe=shoe.read(turn.state.shoe, card)[0])
        turn.change(burn=replace(now, shown=card))
        turn.say(CardTurned(to="burn", index=1, card=card))
        finish_burn(turn)
    elif given.action == "accept":
        finish_burn(turn, anyway=True)
    else:
        raise RejectedError("burn_undecided")
