"""What a table of trente et quarante makes of its shoe's readings.

All cards are face up except the last five, which are only counted. A card that should not have come
waits in the queue with all that follow until a person decides. A round of which a silence has
hidden something is left unresolved.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.commands import Command
from controller.contract.events import CardRemoved
from controller.games import coups, shoe, talla
from controller.games.coups import Waiting
from controller.games.moves import frame_of
from controller.games.trente.state import TrenteCard
from controller.games.trente.turn import TrenteTurn
from devices.readings import AnyReading, CardCut, CardDrawn, LinkGap, LinkLate, LinkUp, ShoeReset


def take_card(turn: TrenteTurn, given: CardDrawn) -> None:
    """A card left the shoe. It counts, wherever it goes."""
    waiting = coups.arrived(turn, given)
    if waiting is None:
        return
    if turn.state.shoe is not None and turn.state.shoe.cut_at is not None:
        _last(turn)
    elif given.late:
        coups.late(turn, TrenteCard(card=given.card, frame=frame_of(given)))
    elif not coups.waits(turn, waiting):
        follow(turn, waiting)


def follow(turn: TrenteTurn, waiting: Waiting) -> None:
    """Send the card to its row, or stop the table."""
    if turn.state.out_of_sync:
        if turn.state.unseen:
            turn.lose()
        return
    if turn.settings.rounds == "shoe" and turn.state.current is None and turn.state.carried:
        carried = turn.state.carried
        turn.change(carried=())
        follow_all(turn, (*carried, waiting))
        return
    if why := _objection(turn, waiting):
        turn.change(queue=(waiting,))
        turn.irregular(why, asks=turn.state.asks)
        turn.expect()
        return
    ready(turn)
    coup = turn.state.current
    assert coup is not None
    if coup.unread:
        turn.change(queue=(waiting,))  # its row is known only once the card before it is
    elif coup.gap:
        turn.unresolved(
            coup, "silence", (TrenteCard(card=waiting.given.card, frame=frame_of(waiting.given)),)
        )
        turn.expect()
    else:
        turn.place(waiting.given)


def follow_all(turn: TrenteTurn, cards: tuple[Waiting, ...]) -> None:
    """Follow several cards in their order; if one stops the table, those after it wait with it."""
    for each in cards:
        if turn.state.queue:
            turn.change(queue=(*turn.state.queue, each))
        else:
            follow(turn, each)


def ready(turn: TrenteTurn) -> None:
    """Make a round take a card; at a table without keys it opens with its first card, its bets
    closed before it.
    """
    if turn.state.current is None:
        turn.open_bets()
    coup = turn.state.current
    assert coup is not None
    if not coup.closed:
        turn.close_bets(unobserved=True)


def _objection(turn: TrenteTurn, waiting: Waiting) -> str | None:
    """Why this card may not simply go where the next one belongs."""
    coup = turn.state.current
    if waiting.trouble is not None:
        return waiting.trouble
    if waiting.given.unsure:
        return "card_unsure"
    if turn.settings.rounds == "keys" and coup is None:
        return "card_out_of_round"
    if turn.settings.rounds == "keys" and coup is not None and not coup.closed:
        return "card_before_close"
    return None


# The cut card


def take_cut(turn: TrenteTurn, _given: CardCut) -> None:
    """The cut card came."""
    now = turn.state.shoe
    if now is not None and not now.continuous and now.cut_at is None:
        cut(turn)


def cut(turn: TrenteTurn, by: Command | None = None) -> None:
    """The cut card voids the round in progress, and as many cards follow it as the decree wants.
    ``by``: a person reported it.
    """
    state = turn.state
    assert state.shoe is not None
    now = replace(shoe.cut(state.shoe), over=True)
    turn.change(shoe=now, carried=())
    coup = state.current
    talla.cut(turn, turn.number, 0)
    if coup is not None:
        turn.void(coup, "cut_card", turn.book.void["cut_card"], by)
    turn.change(queue=(), queue_overflowed=False, out_of_sync=False, unseen=False)
    turn.expect()


def _last(turn: TrenteTurn) -> None:
    """One of the last cards: it is face down and is counted."""
    turn.change(tail=turn.state.tail + 1)
    law = turn.book.laws["last_five"]
    turn.say(CardRemoved(why="last_cards", card=None, law=law.rule, article=law.article))
    if turn.state.tail == turn.book.shoe.behind + 1:
        turn.irregular(
            "last_five", detail=f"more than {turn.book.shoe.behind} cards came after the cut card"
        )


# Silences


def take_silence(turn: TrenteTurn, given: AnyReading) -> None:
    """The shoe is silent, or was: a card may be missing from a round whose bets are closed."""
    state = turn.state
    if not isinstance(given, LinkLate | LinkGap):
        turn.change(silent=not isinstance(given, LinkUp))
    if state.shoe is not None and not isinstance(given, LinkUp):
        turn.change(shoe=shoe.lose_count(state.shoe))
        lose_place(turn)
    turn.expect()


def lose_place(turn: TrenteTurn) -> None:
    """Cards may have gone to the round in progress unseen; at a table without keys they may belong
    to another.
    """
    state, coup = turn.state, turn.state.current
    by_shoe = turn.settings.rounds == "shoe"
    if coup is not None and (coup.closed or by_shoe):
        turn.change_current(gap=True)
        if not coup.gap:
            turn.irregular("silence", asks=turn.state.asks)
    elif coup is None and by_shoe and state.shoe is not None and state.shoe.cut_at is None:
        turn.change(out_of_sync=True, unseen=state.unseen or not state.out_of_sync)


# What else the shoe reports


def take_reset(turn: TrenteTurn, _given: ShoeReset) -> None:
    """The shoe restarted. Only a person knows what is in it now: new cards, or the same."""
    state = turn.state
    if state.shoe is None or state.reset or not (state.shoe.drawn or state.current):
        return
    if state.current is not None:
        turn.unresolved(state.current, "undecided")
    turn.change(
        shoe=shoe.lose_count(state.shoe),
        reset=not state.shoe.over,
        out_of_sync=False,
        unseen=False,
        queue=(),
        queue_overflowed=False,
    )
    if not state.shoe.over:
        turn.irregular("shoe_reset", asks=turn.state.asks)
    turn.expect()
