"""Commands of a person at a table of trente et quarante. One that cannot be followed is rejected
with the reason.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.commands import (
    BetsClose,
    BetsOpen,
    CardDecide,
    LastRoundsAnnounce,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    ShoeStart,
)
from controller.contract.events import CardDealt, CardRemoved
from controller.contract.refusals import RejectedError
from controller.games import coups, shoe, talla
from controller.games.cards import is_card
from controller.games.coups import Waiting
from controller.games.moves import frame_of
from controller.games.session import (
    announce_last_rounds,
    confirmer,
    no_round,
    session,
    undecided,
    void_law,
)
from controller.games.trente import refait
from controller.games.trente.readings import cut, follow_all, lose_place, ready
from controller.games.trente.rows import WINNERS, Winner, is_coup, next_row, rows, winner
from controller.games.trente.state import TrenteCard, TrenteCoup
from controller.games.trente.turn import TrenteTurn

# The shoe


def start_shoe(turn: TrenteTurn, given: ShoeStart) -> None:
    """Start a shoe."""
    session(turn)
    no_round(turn)
    law = turn.book.laws["shoe_unnumbered"]
    talla.numbered(given, f"{law.rule}, {law.article}")
    turn.clear_shoe()
    turn.change(tail=0, out_of_sync=False, unseen=False, reset=False)
    talla.begin(turn, given)
    turn.expect()


# Bets


def open_bets(turn: TrenteTurn, given: BetsOpen) -> None:
    """Open bets for a new round."""
    coups.may_open(turn)
    turn.open_bets(given.by)
    turn.expect()


def close_bets(turn: TrenteTurn, given: BetsClose) -> None:
    """No more bets; cards carried over to this round are its first."""
    session(turn)
    if turn.state.current is None or turn.state.current.closed:
        raise RejectedError("bets_not_open")
    turn.close_bets(given.by)
    carried = turn.state.carried
    turn.change(carried=())
    follow_all(turn, carried)
    turn.expect()


# Decisions


def void(turn: TrenteTurn, given: RoundVoid) -> None:
    """Void the round on the word of the person in charge; for the cut card too, where the shoe does
    not see it.
    """
    of, now = undecided(turn.state, turn.state.current, given.round), turn.state.shoe
    law = void_law(turn, given)
    if given.reason == "cut_card" and isinstance(of, TrenteCoup):
        if now is None or now.continuous:
            raise RejectedError("no_cut_card")
        cut(turn, given)
    else:
        turn.void(of, given.reason, law, given)
    turn.expect()


def confirm(turn: TrenteTurn, given: RoundConfirm) -> None:
    """Confirm the result of an unresolved round, by the cards that were seen or by the person's
    word.
    """
    coup = turn.state.current
    of = undecided(turn.state, coup, given.round, first=coup is not None and coup.gap)
    said = _said(given.winner) if given.winner is not None else None
    if isinstance(of, TrenteCoup) and (turn.state.queue or of.unread):
        raise RejectedError("card_waits")
    if isinstance(of, TrenteCoup) and not of.gap:
        raise RejectedError("nothing_to_confirm", round=of.round)
    known = tuple(each.card for each in of.cards if each.card is not None)
    whole = len(known) == len(of.cards) and all(map(is_card, known)) and is_coup(known)
    if not whole and said is None:
        raise RejectedError("round_cards_unknown", round=of.round)
    before = refait.counts(turn.state)
    turn.result(
        of.round,
        of.cards,
        confirmer(given),
        None if whole and said in (None, winner(known)) else said,
    )
    turn.tell_refaits(before, of.round, given)
    if isinstance(of, TrenteCoup):
        turn.change(out_of_sync=True)  # its last cards may still come
    turn.expect()


def correct(turn: TrenteTurn, given: ResultCorrect) -> None:
    """Correct a published result: another row has won, or none."""
    entry = coups.to_correct(turn, given)
    won = _said(given.winner)
    if won == entry.winner:
        raise RejectedError("winner_unchanged", round=given.round, winner=won)
    turn.correct(entry, won, given)


def announce_last(turn: TrenteTurn, given: LastRoundsAnnounce) -> None:
    """Announce the last rounds of the session. Where the decree gives no number, it is the round in
    progress, or the next: in the last one 31-31 leaves no choice.
    """
    announce_last_rounds(turn, given, unsaid=1)


def _said(winner: str | None) -> Winner:
    """The winner that a person gives."""
    found = next((each for each in WINNERS if each == winner), None)
    if found is None:
        raise RejectedError("winner_one_of", winners=WINNERS)
    return found


def decide(turn: TrenteTurn, given: CardDecide) -> None:
    """Decide about what waits: the shoe's contents, an unread card, the waiting card."""
    state, coup = turn.state, turn.state.current
    if state.reset:
        coups.same_cards(turn, given)
    elif coup is not None and coup.unread:
        turn.change(queue=())
        _unread(turn, given, coup)
        turn.settle()
        follow_all(turn, state.queue)
    elif state.queue:
        turn.change(queue=())
        _waiting(turn, given, state.queue[0])
        follow_all(turn, state.queue[1:])
    else:
        raise RejectedError("no_card_to_decide")
    if turn.state.queue_overflowed and not turn.state.queue:
        turn.change(queue_overflowed=False)
        lose_place(turn)
    turn.expect()


def _unread(turn: TrenteTurn, given: CardDecide, coup: TrenteCoup) -> None:
    """The first unread card of the round: read it, or remove it."""
    index = next(place for place, each in enumerate(coup.cards) if each.card is None)
    before, after = coup.cards[:index], coup.cards[index + 1 :]
    who = confirmer(given)
    if given.action == "remove":
        turn.change_current(cards=before + after, confirmed_by=who)
        turn.say(CardRemoved(round=coup.round, why="card_unread", card=None))
        return
    if given.action != "read":
        raise RejectedError("card_not_read_on_table")
    card = talla.read_card(given)
    assert turn.state.shoe is not None
    counted, trouble = shoe.read(turn.state.shoe, card)
    known = tuple(each.card for each in before if each.card is not None)
    to = next_row(known)
    assert to is not None
    black, red = rows(known)
    turn.change(shoe=counted)
    turn.change_current(
        cards=(*before, replace(coup.cards[index], card=card), *after), confirmed_by=who
    )
    turn.say(
        CardDealt(
            round=coup.round, to=to, index=len(black if to == "black" else red) + 1, card=card
        )
    )
    if trouble is not None:
        turn.irregular(trouble)


def _waiting(turn: TrenteTurn, given: CardDecide, waiting: Waiting) -> None:
    """The waiting card: accept it, read it, remove it, or keep it as the first of the next
    round.
    """
    coup, now = turn.state.current, turn.state.shoe
    assert now is not None
    if given.action == "remove":
        turn.say(
            CardRemoved(
                round=coup.round if coup else 0,
                why=waiting.trouble or "decided",
                card=waiting.given.card,
            )
        )
        _stand(turn, given)
        return
    if given.action == "for":
        raise RejectedError("card_placed_by_rules")
    if given.action == "read":
        card = talla.read_card(given)
        counted, _ = shoe.reread(now, waiting.given.card, card)
        turn.change(shoe=counted)
        frame = (
            waiting.given.frame if card == waiting.given.card else None
        )  # else it would encode the misread card
        waiting = Waiting(given=replace(waiting.given, card=card, frame=frame))
    settled = Waiting(given=replace(waiting.given, unsure=False))
    by_keys = turn.settings.rounds == "keys"
    if not (settled.given.card is None or is_card(settled.given.card)):
        raise RejectedError("card_of_another_game", card=settled.given.card)
    if (coup is not None and given.action == "next_round") or (
        by_keys and (coup is None or not coup.closed)
    ):
        turn.change(carried=(*turn.state.carried, settled))
        _stand(turn, given)
        return
    ready(turn)
    _stand(turn, given)
    coup = turn.state.current
    assert coup is not None
    if coup.gap:
        turn.unresolved(
            coup, "silence", (TrenteCard(card=settled.given.card, frame=frame_of(settled.given)),)
        )
    else:
        turn.place(settled.given)


def _stand(turn: TrenteTurn, given: CardDecide) -> None:
    if turn.state.current is not None:
        turn.change_current(confirmed_by=confirmer(given))
