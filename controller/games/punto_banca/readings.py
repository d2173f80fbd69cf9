"""What a table of punto y banca makes of its shoe's readings.

A card goes where the law's order says. One that should not have come, or that the shoe itself
places elsewhere, waits in the queue with all that follow until a person decides. A round of which a
silence has hidden something is left unresolved.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.events import CardDealt, CardsBurned, RoundUnresolved
from controller.games import shoe, talla
from controller.games.baccarat import Side, is_natural
from controller.games.cards import is_card, pips
from controller.games.moves import frame_of
from controller.games.punto_banca import coups
from controller.games.punto_banca.coup import announced, count, is_complete, next_place
from controller.games.punto_banca.coups import Waiting
from controller.games.punto_banca.state import PuntoBancaCard, PuntoBancaCoup, PuntoBancaEntry
from controller.games.punto_banca.turn import DECIDE, OUTCOMES, PuntoBancaTurn
from devices.readings import (
    AnyReading,
    CardCut,
    CardDrawn,
    LinkGap,
    LinkLate,
    LinkUp,
    ShoeReset,
    ShoeResult,
)


def take_card(turn: PuntoBancaTurn, given: CardDrawn) -> None:
    """A card left the shoe. It counts, wherever it goes."""
    waiting = coups.arrived(turn, given)
    if waiting is None:
        return
    if given.late:
        _late(turn, given)
    elif not coups.waits(turn, waiting):
        follow(turn, waiting)


def follow(turn: PuntoBancaTurn, waiting: Waiting) -> None:
    """Send the card to the burn or to a hand, or stop the table."""
    given = waiting.given
    if turn.state.burn is not None:
        if given.to in ("player", "banker"):
            stop(turn, waiting, "card_misplaced", f"burn expected, the shoe says {given.to}")
        else:
            burn(turn, waiting)
        return
    if turn.state.out_of_sync and not _found(turn, given):
        return
    if turn.settings.rounds == "shoe" and turn.state.current is None and turn.state.carried:
        carried = turn.state.carried
        turn.change(carried=())
        follow_all(turn, (*carried, waiting))
        return
    if _hidden(turn, given):
        return
    to = next_place(turn.state.current or PuntoBancaCoup(round=0), turn.book.third)
    if why := _objection(turn, waiting, to):
        stop(turn, waiting, *why)
        return
    ready(turn)
    assert to is not None
    turn.place(given, to)


def follow_all(turn: PuntoBancaTurn, cards: tuple[Waiting, ...]) -> None:
    """Follow several cards in their order; if one stops the table, those after it wait with it."""
    for each in cards:
        if turn.state.queue:
            turn.change(queue=(*turn.state.queue, each))
        else:
            follow(turn, each)


def ready(turn: PuntoBancaTurn) -> None:
    """The round that takes a card now; at a table without keys it opens with its first card, its
    bets closed before it.
    """
    if turn.state.current is None:
        turn.open_bets()
    coup = turn.state.current
    assert coup is not None
    if not coup.closed and turn.settings.rounds == "shoe":
        turn.close_bets(unobserved=True)


def stop(turn: PuntoBancaTurn, waiting: Waiting, what: str, detail: str | None = None) -> None:
    """Keep the card for a person."""
    turn.change(queue=(waiting,))
    turn.irregular(what, asks=turn.state.asks, detail=detail)
    turn.expect()


def _objection(
    turn: PuntoBancaTurn, waiting: Waiting, to: Side | None
) -> tuple[str, str | None] | None:
    """Why this card may not simply go ``to`` where the next one belongs."""
    given, coup, now = waiting.given, turn.state.current, turn.state.shoe
    if waiting.trouble is not None:
        return waiting.trouble, None
    if given.unsure:
        return "card_unsure", None
    if now is not None and now.over:
        return "shoe_over", None
    by_keys = turn.settings.rounds == "keys"
    if coup is None and by_keys:
        return "card_out_of_round", None
    coup = coup or PuntoBancaCoup(round=0)
    if not coup.closed and by_keys:
        return "card_before_close", None
    if to is None:
        natural = any(is_natural(announced(coup, side)) for side in ("player", "banker"))
        return "card_after_end" if natural else "card_before_turn", None
    return _misplaced(turn, coup, given, to)


def _misplaced(
    turn: PuntoBancaTurn, coup: PuntoBancaCoup, given: CardDrawn, to: Side
) -> tuple[str, str | None] | None:
    """The shoe's claim differs from the card's place; or the card came face up when it must be face
    down.
    """
    index = len(coup.cards(to)) + 1
    if given.to not in (None, to) or given.index not in (None, index):
        said = " ".join(str(each) for each in (given.to, given.index) if each is not None)
        return "card_misplaced", f"{to} {index} expected, the shoe says {said}"
    if given.exposed and not turn.dealt_face_up(coup):
        return "card_exposed", None
    return None


# The burn


def burn(turn: PuntoBancaTurn, waiting: Waiting) -> None:
    """The first card is shown and says how many are burned, unseen."""
    now, card = turn.state.burn, waiting.given.card
    assert now is not None
    if waiting.trouble is not None:
        turn.irregular(waiting.trouble)
    if now.drawn == 0:
        card = card if card is not None and is_card(card) else None
        turn.change(burn=replace(now, drawn=1, shown=card))
        turn.say(CardDealt(to="burn", index=1, card=card))
        if card is None:
            turn.irregular("card_unread", asks=turn.state.asks, detail="burn 1")
    else:
        turn.change(burn=replace(now, drawn=now.drawn + 1))
    finish_burn(turn)


def finish_burn(turn: PuntoBancaTurn, *, anyway: bool = False) -> None:
    """The burn is over when that many cards have come, or when a person says so."""
    now = turn.state.burn
    assert now is not None
    if not anyway and (now.gap or now.shown is None or now.drawn < burn_cards(turn, now.shown)):
        turn.expect()
        return
    if now.shown is not None and not now.gap and now.drawn != (due := burn_cards(turn, now.shown)):
        turn.irregular("burn", detail=f"{now.drawn} cards came, {due} were due")
    turn.change(burn=None)
    turn.say(CardsBurned(count=max(0, now.drawn - 1), shown=now.shown))
    turn.expect()


def burn_cards(turn: PuntoBancaTurn, shown: str) -> int:
    """How many cards leave the shoe before the first round: that many, plus the shown one if it
    does not count.
    """
    return pips(shown) + (turn.settings.burn_card == "apart")


# Silences


def take_silence(turn: PuntoBancaTurn, given: AnyReading) -> None:
    """The shoe is silent, or was: a card may be missing, unless all cards of the round had come and
    are face up.
    """
    state = turn.state
    if not isinstance(given, LinkLate | LinkGap):
        turn.change(silent=not isinstance(given, LinkUp))
    if state.shoe is not None and not isinstance(given, LinkUp):
        turn.change(shoe=shoe.lose_count(state.shoe))
        if state.burn is not None:
            if not state.burn.gap:
                turn.irregular("silence", asks=DECIDE, detail="burn")
            turn.change(burn=replace(state.burn, gap=True))
        lose_place(turn)
    turn.expect()


def lose_place(turn: PuntoBancaTurn) -> None:
    """Cards may have gone to the round in progress unseen; at a table without keys they may belong
    to another.
    """
    state, coup = turn.state, turn.state.current
    by_shoe = turn.settings.rounds == "shoe"
    if (
        coup is not None
        and (coup.closed or count(coup) or by_shoe)
        and not is_complete(coup, turn.book.third)
    ):
        turn.change_current(gap=True, before_gap=coup.before_gap if coup.gap else count(coup))
    elif coup is None and by_shoe and state.shoe is not None and not state.shoe.over:
        turn.change(out_of_sync=True, unseen=state.unseen or not state.out_of_sync)


def _found(turn: PuntoBancaTurn, given: CardDrawn) -> bool:
    """At a table without keys: whether the shoe itself reports that this is the first card of a
    round.
    """
    if turn.settings.rounds == "shoe" and (given.to, given.index) == ("player", 1):
        turn.change(out_of_sync=False, unseen=False)
        return True
    if turn.state.unseen:
        turn.lose()
    return False


def _hidden(turn: PuntoBancaTurn, given: CardDrawn) -> bool:
    """Whether a silence may have hidden a card before this one. It cannot where the shoe itself
    counts the places.
    """
    coup = turn.state.current
    if coup is None or not coup.gap:
        return False
    to = next_place(coup, turn.book.third)
    if to is not None and (given.to, given.index) == (to, len(coup.cards(to)) + 1):
        turn.change_current(gap=False)
        return False
    turn.unresolved(coup, "silence")
    turn.expect()
    return True


def _late(turn: PuntoBancaTurn, given: CardDrawn) -> None:
    """Keep a card known only after a silence for a person; during the burn, nobody saw it come."""
    burning, now = turn.state.burn, turn.state.shoe
    if burning is None or now is None:
        coups.late(turn, PuntoBancaCard(card=given.card, frame=frame_of(given)))
        return
    turn.change(shoe=shoe.lose_count(now), burn=replace(burning, gap=True))
    turn.expect()


# What else the shoe reports


def take_cut(turn: PuntoBancaTurn, _given: CardCut) -> None:
    """The cut card came: the round in progress is the last; with none in progress the shoe is
    over.
    """
    state = turn.state
    if state.shoe is None or state.shoe.continuous or state.shoe.cut_at is not None:
        return
    now = shoe.cut(state.shoe)
    turn.change(shoe=now)
    coup = state.current
    plays = coup is not None and (count(coup) > 0 or turn.settings.cut_first == "play")
    call = turn.book.announcements.get("cut")
    talla.cut(turn, turn.number, int(plays), call)
    if coup is None:
        turn.close_talla()
    elif plays:
        turn.change_current(last=True)
    else:
        turn.change(shoe=replace(now, over=True))
        turn.irregular("shoe_over", asks=("round.void",))
        turn.say(shoe.ended(now, "cut"))
    turn.expect()


def take_reset(turn: PuntoBancaTurn, _given: ShoeReset) -> None:
    """The shoe restarted. Only a person knows what is in it now: new cards, or the same."""
    state = turn.state
    if state.shoe is None or state.reset or not (state.shoe.drawn or state.current):
        return
    if state.current is not None:
        turn.unresolved(state.current, "undecided")
    now = turn.state.shoe
    assert now is not None
    turn.change(shoe=shoe.lose_count(now), reset=not now.over, out_of_sync=False)
    if not now.over:
        turn.irregular("shoe_reset", asks=turn.state.asks)
    turn.expect()


def take_verdict(turn: PuntoBancaTurn, given: ShoeResult) -> None:
    """The shoe's own verdict: a second witness, never the result."""
    coup = turn.state.current
    if not turn.state.open or given.late:
        return
    if coup is None and turn.state.unseen:
        turn.lose()
        turn.change(out_of_sync=False)
    elif coup is None:
        _compare(turn, given)
        turn.change(out_of_sync=False)
    elif count(coup) < 4 or (given.forced and given.winner is None):
        turn.irregular(
            "witnesses_disagree",
            asks=OUTCOMES,
            detail="the shoe has ended the round, its cards have not all come",
        )
        turn.change_current(verdict=given)
        turn.unresolved(turn.state.current or coup, "witnesses_disagree")
        turn.expect()
    else:
        turn.change_current(verdict=given)
        turn.settle()


def _compare(turn: PuntoBancaTurn, given: ShoeResult) -> None:
    """The verdict on the round whose result was just published."""
    last = turn.state.entry(turn.state.round)
    if last is None or last.kind != "result" or last.compared or not last.hands:
        return
    turn.state = turn.state.with_entry(replace(last, compared=True))
    if turn.disagrees(given, last):
        frame = frame_of(given)
        frames = (*last.frames, frame) if frame else last.frames
        cards = tuple(PuntoBancaCard(card=card, up=True) for card in in_order(last))
        turn.irregular(
            "witnesses_disagree",
            asks=OUTCOMES,
            detail=f"the shoe says {given.winner}",
            frames=frames,
        )
        turn.record(
            PuntoBancaEntry(round=last.round, kind="unresolved", cards=cards, frames=frames)
        )
        candidate = last.winner
        turn.say(
            RoundUnresolved(
                round=last.round, why="witnesses_disagree", candidate=candidate, frames=frames
            )
        )


def in_order(entry: PuntoBancaEntry) -> tuple[str, ...]:
    """The cards of a result in the order in which they came."""
    player, banker = (hand.cards for hand in entry.hands)
    return (player[0], banker[0], player[1], banker[1], *player[2:], *banker[2:])
