"""The course of a round: where the next card belongs, and the moves that follow from each input:
cards go to their hands, decisions are compared with the cards, the result is published.

Nothing about a card is published before it is face up: a decision against the rules is found when
the hand is turned, and is then corrected by the decree's rule.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.readings import CardDrawn
from controller.games import shoe, talla
from controller.games.chemin import moves
from controller.games.chemin.hands import (
    NATURAL,
    any_third,
    awaited,
    bank_bound_by,
    bank_duty,
    bank_plays,
    is_face_up,
    is_open,
    next_dealt,
    next_place,
    next_to_act,
    opening,
    thirds,
    worth,
    wrong_word,
)
from controller.games.chemin.moves import CheminMoves
from controller.games.chemin.state import (
    BANK_EARLY,
    EARLY_CARD,
    HARMLESS_TROUBLES,
    WRONG_POINT,
    CheminCoup,
)
from controller.games.dealt.phases import PHASES, Phase
from controller.games.dealt.state import Held
from controller.games.dealt.turn import Course, DealtTurn, admit, is_stopped, lose_late

# Phases


def stage(turn: CheminTurn) -> Phase:
    """The phase, regardless of any stop."""
    state, coup = turn.state, turn.state.current
    if not state.open:
        return Phase.CLOSED
    if state.shoe is None:
        return Phase.NO_SHOE
    if coup is None:
        return Phase.SHOE_OVER if state.shoe.over else Phase.WAITING
    if not coup.closed:
        return Phase.BETS_OPEN
    if next_dealt(turn.book, coup) is not None:
        return Phase.DEALING
    return Phase.SHOWING if shows(turn) else Phase.WORDS


def to_act(turn: CheminTurn) -> str | None:
    """The hand to act; None while something stops the table."""
    coup = turn.state.current
    return next_to_act(turn.book, coup) if coup is not None and turn.stop is None else None


def bank_stood(turn: CheminTurn) -> bool:
    """Whether the bank has decided not to draw, and may still ask for a card because the point
    that it announced was wrong.
    """
    coup, bank = turn.current, turn.book.bank
    has_stood = coup.words.get(bank) == "stand" and not thirds(coup, bank)
    return has_stood and bank_plays(turn.book, coup) and WRONG_POINT in turn.book.errors


def shows(turn: CheminTurn) -> bool:
    """Whether only the turning of all cards is left."""
    state, coup = turn.state, turn.state.current
    if coup is None or not coup.closed or turn.stop is not None or state.held or coup.lying:
        return False
    if next_dealt(turn.book, coup) is not None:
        return False
    ended = next_to_act(turn.book, coup) is None and awaited(turn.book, coup) is None
    return ended or "loses" in coup.fates.values()


# Arrivals


def belongs(turn: CheminTurn) -> str | None:
    """The hand that gets the next card; the bank is last."""
    coup = turn.state.current
    if coup is None or not coup.closed:
        return None
    bank = turn.book.bank if to_act(turn) == turn.book.bank else None
    return next_place(turn.book, coup) or bank


def arrived(turn: CheminTurn, drawn: CardDrawn) -> Held | None:
    """Count a card that left the shoe, wherever it goes. None where the table takes none."""
    state = turn.state
    if not state.open:
        return admit(turn, drawn)
    if state.shoe is None:
        talla.missing(turn, drawn)
        return None
    counted, trouble = shoe.draw(state.shoe, drawn.card)
    turn.change(shoe=counted)
    other = "card_unsure" if drawn.unsure else "shoe_over" if state.shoe.over else None
    return Held(given=drawn, trouble=trouble or other)


def divert(turn: CheminTurn, held: Held) -> bool:
    """A third card that leaves the shoe face up is discarded; the next one takes its place."""
    coup = turn.state.current
    if held.trouble is not None or not held.given.exposed or belongs(turn) is None:
        return False
    if coup is None or next_dealt(turn.book, coup) is not None:
        return False
    expose(turn, held.given)
    return True


def objection(turn: CheminTurn, held: Held) -> tuple[str, str | None] | None:
    """The card's own trouble; or that the phase accepts no card, if the site asks the inspector
    then; or that it came face up.
    """
    early = PHASES[stage(turn)].card
    if early is not None:
        early = early if turn.settings.early_card == "ask" else None
    elif held.given.exposed:
        early = "card_exposed"
    why = held.trouble or early
    return None if why is None else (why, None)


def ready(turn: CheminTurn) -> None:
    """Record that the bank draws, if it is the one to act when a card comes."""
    if to_act(turn) == turn.book.bank:
        moves.decide(turn, turn.book.bank, "draw")


def hold(turn: CheminTurn, held: Held, what: str, detail: str | None = None) -> None:
    """Make the card, and all later ones, wait for a person."""
    turn.change(held=(*turn.state.held, replace(held, trouble=what)))
    turn.irregular(what, asks=turn.asks(), detail=detail)


def wait(turn: CheminTurn, held: Held) -> None:
    """Make the card wait behind others, or for a hand that asks for it."""
    if why := objection(turn, held):
        hold(turn, held, *why)
        return
    turn.change(held=(*turn.state.held, held))
    if early := PHASES[stage(turn)].card:
        turn.irregular(early)


def expose(turn: CheminTurn, drawn: CardDrawn) -> None:
    """Discard a card that came face up."""
    turn.irregular("card_exposed")
    moves.discard(turn, drawn, "card_exposed", up=True)


def lose_place(turn: CheminTurn) -> None:
    """Stop counting the shoe, and ask a person whether cards of the round were missed."""
    if turn.state.shoe is not None:
        turn.change(shoe=shoe.lose_count(turn.state.shoe))
        miss(turn)


def miss(turn: CheminTurn) -> None:
    """Ask a person whether cards of the round were missed."""
    coup = turn.state.current
    if coup is not None and coup.closed and coup.question is None:
        moves.ask(turn, "silence")


# What follows by itself


def advance(turn: CheminTurn) -> None:
    """Proceed as far as the rules leave no choice."""
    while (coup := turn.state.current) is not None and coup.closed and coup.question is None:
        before = turn.state
        _deal(turn)
        for follow in (_naturals, _words, _pairs, _unclaimed, _finish):
            if turn.state.current is not None and turn.stop is None:
                follow(turn)
        if turn.state == before:
            break


def _deal(turn: CheminTurn) -> None:
    """Deal cards taken from a hand, then waiting ones, while a place is due."""
    while (to := next_place(turn.book, turn.current)) is not None:
        lying, held = turn.current.lying, turn.state.held
        if lying and next_dealt(turn.book, turn.current) is None:
            moves.move(turn, lying[0], to)
        elif held and held[0].trouble in HARMLESS_TROUBLES:
            moves.place(turn, moves.pop_held(turn, 0).given, to)
        else:
            return


def _bank_early(turn: CheminTurn) -> None:
    """Report, once, that the bank showed its cards before all hands had decided and without
    being obliged to. If that ends the round, the players may withdraw their bets first.
    """
    coup, bank = turn.current, turn.book.bank
    obliged = coup.owed or coup.bank_fault or bank in coup.fates
    silent = any(who not in coup.words and who not in coup.fates for who in turn.book.hands)
    if silent and not obliged and is_open(coup, bank):
        ends = is_face_up(turn.book, coup) and _is_natural(turn, bank)
        moves.once(
            turn,
            BANK_EARLY,
            lambda: moves.ask(turn, BANK_EARLY) if ends else turn.irregular(BANK_EARLY),
        )


def _naturals(turn: CheminTurn) -> None:
    """Record naturals: eight or nine with two cards that are face up."""
    book, bank = turn.book, turn.book.bank
    if next_dealt(book, turn.current) is not None:
        return
    for who in book.hands:
        if who not in turn.current.words and _is_natural(turn, who):
            moves.decide(turn, who, "natural")
    _bank_early(turn)
    coup = turn.current
    if coup.question is not None:
        return
    if coup.words.get(bank) == "natural" or thirds(coup, bank) or not _is_natural(turn, bank):
        return
    if any_third(coup):  # giving a card forfeits the natural
        if bank not in coup.words:
            moves.once(turn, f"natural_forgotten {bank}", lambda: _bank_forgot(turn))
            moves.decide(turn, bank, "stand")
        return
    moves.decide(turn, bank, "natural")


def _is_natural(turn: CheminTurn, who: str) -> bool:
    coup = turn.current
    points = opening(turn.book, coup, who)
    return who not in coup.fates and is_open(coup, who) and points >= NATURAL


def _bank_forgot(turn: CheminTurn) -> None:
    turn.irregular("natural_forgotten", detail=turn.book.bank)


def exempt(turn: CheminTurn) -> bool:
    """Whether a player alone against the whole bank is exempt from the rules of drawing."""
    free = turn.book.banco == "always" or turn.settings.banco == "free"
    return turn.current.banco and free and "ruled" not in turn.current.said


def _words(turn: CheminTurn) -> None:
    """Compare the hands' decisions with their cards once these are face up."""
    for who in turn.book.hands:
        coup = turn.current
        if not is_open(coup, who) or who not in coup.words:
            continue
        what = wrong_word(turn.book, coup, who, exempt=exempt(turn))
        if what is None or f"{what} {who}" in coup.said:
            continue
        turn.change_current(said=(*coup.said, f"{what} {who}"))
        if "restored" in turn.book.errors:
            _put_right(turn, who, what)
        else:
            _wrong(turn, who, what)
        if turn.current.question is not None:
            return


def _wrong(turn: CheminTurn, who: str, what: str) -> None:
    """Chemin de fer: the banker grants or denies the card, unless a player alone against the
    bank bears the error.
    """
    coup = turn.current
    drew = coup.words[who] == "draw"
    bears = what == "player_word" and coup.banco and not baccarat(turn, who)
    natural = coup.words.get(turn.book.bank) == "natural" or (
        what == "natural_forgotten" and not drew
    )
    if bears or natural:
        turn.irregular(what, detail=who)
    else:
        moves.ask(turn, what, detail=who)


def baccarat(turn: CheminTurn, who: str) -> bool:
    """Whether a hand with zero has decided not to draw, which the law does not allow."""
    return opening(turn.book, turn.current, who) == 0 and turn.current.words.get(who) == "stand"


def _put_right(turn: CheminTurn, who: str, what: str) -> None:
    """Two cloths: correct the decision, deal third cards where they belong, and let the banker
    decide again.
    """
    if what == "natural_forgotten":
        turn.irregular(what, turn.book.laws[law_of_word(turn, who, what)], detail=who)
        if turn.current.words[who] == "stand":
            return
    restore(turn, who, "stand" if turn.current.words[who] == "draw" else "draw")


def law_of_word(turn: CheminTurn, who: str, key: str) -> str:
    """Two cloths: the name of the law of a wrong decision. One law covers the second cloth."""
    return key if who == turn.book.hands[0] else "second_cloth"


def restore(turn: CheminTurn, who: str, right: str) -> None:
    """Replace the hand's decision by the right one. Third cards of earlier hands stay; this
    hand's and all later ones are dealt again, also those that a person had placed.
    """
    law = law_of_word(turn, who, "restored" if right == "draw" else "restored_drew")
    turn.irregular("restored", turn.book.laws[law], detail=f"{who} {right}")
    if turn.current.words.get(turn.book.bank) != "natural":
        moves.withdraw_word(turn, turn.book.bank)
        turn.change_current(restored=True, restored_by=law)
        moves.free(turn, but=turn.book.everyone[: turn.book.everyone.index(who)])
    moves.decide(turn, who, "draw" if right == "draw" else "stand")
    _deal(turn)


def _pairs(turn: CheminTurn) -> None:
    """Resolve two third cards that are now face up: a hand keeps the one that makes more, the
    bank the one that makes less.
    """
    for who in turn.book.everyone:
        pairs = turn.current.pairs
        if who not in pairs or not is_open(turn.current, who):
            continue
        turn.change_current(pairs={hand: two for hand, two in pairs.items() if hand != who})
        _keep_one(turn, who, pairs[who])
        if turn.state.current is not None and turn.current.question is not None:
            return


def _keep_one(turn: CheminTurn, who: str, both: tuple[int, ...]) -> None:
    """Remove the other card. If a person left the wrong one, ask a person."""
    coup = turn.current
    makes = {at: (opening(turn.book, coup, who) + worth([coup.cards[at]])) % 10 for at in both}
    own = [at for at in both if coup.cards[at].to == who]
    if not own:
        return
    right = (min if who == turn.book.bank else max)(both, key=makes.__getitem__)
    if len(own) > 1:
        for at in own:
            if at != right:
                moves.remove(turn, at, "two_third_cards")
    elif makes[own[0]] != makes[right]:
        moves.ask(turn, "two_third_cards", detail=who)


def _unclaimed(turn: CheminTurn) -> None:
    """Treat third cards that no hand asked for."""
    coup, held = turn.current, turn.state.held
    if not held and not coup.lying:
        return
    who, false_card = to_act(turn), "false_card" in coup.said
    if who == turn.book.bank and not coup.lying:
        moves.decide(turn, who, "draw")
    elif who == turn.book.bank:  # the banker may take the card that was dealt before
        turn.change_current(question="bank_choice")
        what, law = _surplus(turn)
        turn.irregular(what, turn.book.laws[law], asks=turn.asks(), detail=who)
    elif who is not None:
        _before_the_word(turn)
    elif coup.restored_by or false_card:
        _clear(turn, *_surplus(turn))
    elif any(waiting.trouble == EARLY_CARD for waiting in held):  # no hand may have it
        _clear(turn, "fifth_card", "fifth_card")
    else:
        doubt(turn, 0, "card_surplus")


def _before_the_word(turn: CheminTurn) -> None:
    """Report cards that came before the hand decided."""
    if turn.current.restored:
        return
    for at, held in enumerate(turn.state.held):
        if held.trouble == EARLY_CARD:
            continue
        if "fifth_card" not in turn.book.errors:
            doubt(turn, at, "irregular_deal")
            return
        doubt(turn, at, EARLY_CARD)


def doubt(turn: CheminTurn, at: int, what: str) -> None:
    """Report the trouble of a waiting card."""
    moves.replace_held(turn, at, replace(turn.state.held[at], trouble=what))
    turn.irregular(what, asks=turn.asks())


def _surplus(turn: CheminTurn) -> tuple[str, str]:
    """The reason to remove a third card that no hand asked for, and the name of its law."""
    by = turn.current.restored_by
    return ("restored", by) if by else ("false_card", "false_card")


def _clear(turn: CheminTurn, why: str, law: str) -> None:
    """Remove the cards that no hand may have."""
    for at in turn.current.lying:
        moves.remove(turn, at, why, law)
    while turn.state.held:
        moves.discard(turn, moves.pop_held(turn, 0).given, why, law=law)


def _finish(turn: CheminTurn) -> None:
    """Once all cards are face up, check the bank's decision against its duty and publish the
    result.
    """
    book, coup = turn.book, turn.current
    if not shows(turn) or not is_face_up(book, coup):
        return
    word = coup.words.get(book.bank)
    lost = "loses" in coup.fates.values()
    if not lost and bank_plays(book, coup) and word in ("draw", "stand"):
        duty = bank_duty(book, coup, table=turn.settings.banker == "table")
        if drew_on_natural(turn):
            moves.once(turn, f"natural_forgotten {book.bank}", lambda: _bank_forgot(turn))
        wrong = (duty, word) in (("T", "stand"), ("P", "draw"))
        if wrong and "bank_word" not in turn.current.said:
            turn.change_current(said=(*turn.current.said, "bank_word"))
            moves.ask(turn, "bank_word", book.laws[bank_bound_by(book, coup)], detail=word)
            return
    moves.result(turn)


def drew_on_natural(turn: CheminTurn) -> bool:
    """Whether the bank drew to an eight or nine."""
    coup, bank = turn.current, turn.book.bank
    return coup.words.get(bank) == "draw" and opening(turn.book, coup, bank) >= NATURAL


class CheminTurn(CheminMoves):
    """One step of a table of chemin de fer, or of two cloths."""

    course = Course(
        stage=stage,
        belongs=belongs,
        objection=objection,
        faces_up=lambda turn, _: next_dealt(turn.book, turn.current) is None,
        advance=advance,
        late=lose_late,
        lose_place=lose_place,
        leave=moves.leave,
        outcome_of=moves.outcome_of,
        offered=moves.offered,
        new_round=lambda _, number: CheminCoup(round=number),
        bets_open_call="bank",
        arrived=arrived,
        holds=is_stopped,
        wait=wait,
        divert=divert,
        hold=hold,
        ready=ready,
        place=moves.place,
        follow_up=DealtTurn.settle,
    )
