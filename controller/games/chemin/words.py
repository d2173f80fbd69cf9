"""The hands' decisions at a table of chemin de fer or two-cloth baccarat, by the croupier's keys,
and the turning of their cards.
"""

from __future__ import annotations

from common.contract.commands import CardsTurn, HandDraw, HandStand
from common.contract.refusals import RejectedError
from controller.games.chemin import course, moves
from controller.games.chemin.course import CheminTurn
from controller.games.chemin.hands import first, is_open, thirds
from controller.games.chemin.state import WRONG_POINT, Word
from controller.games.guards import Refused
from controller.games.session import sent


def draw(turn: CheminTurn, command: HandDraw) -> None:
    """Record that a hand asks for a card."""
    _state_word(turn, command.who, "draw", command.by)


def stand(turn: CheminTurn, command: HandStand) -> None:
    """Record that a hand does not draw."""
    _state_word(turn, command.who, "stand", command.by)


def _state_word(turn: CheminTurn, who: str | None, word: Word, by: str) -> None:
    coup = turn.current
    if who is not None and who not in turn.book.everyone:
        raise RejectedError("who_one_of", players=turn.book.everyone)
    if turn.asks():
        _answer(turn, who, word, by)
        return
    due = course.to_act(turn)
    if due is not None and who in (None, due):
        _owed(turn)
        moves.decide(turn, due, word, by)
    elif (
        who in turn.book.hands
        and who is not None
        and {coup.words.get(who), word} == {"draw", "stand"}
    ):
        _contradict(turn, who, word, by)
    elif who == turn.book.bank and word == "draw" and course.bank_stood(turn):
        _wrong_point(turn, by)
    elif who == turn.book.bank and due is not None:
        law = turn.book.laws["bank_before_hands"]
        raise RejectedError("bank_acts_after", who=due, law=law.cited)
    elif due is not None:
        raise RejectedError("hand_acts_now", who=due)
    else:
        raise RejectedError("no_hand_to_act")


def _wrong_point(turn: CheminTurn, by: str) -> None:
    """Handle a banker who announced a wrong point and now asks for a card. Once a hand was shown it
    is his error: he draws with five or less, by the table of plays.
    """
    turn.irregular(WRONG_POINT)
    coup, bank = turn.current, turn.book.bank
    if any(is_open(coup, who) for who in turn.book.hands if who not in coup.fates):
        turn.change_current(bank_fault=True)
    moves.decide(turn, bank, "draw", by)


def _owed(turn: CheminTurn) -> None:
    """Require the bank's own card first: a banker who has shown a card must show the one that
    belongs to it before any hand acts.
    """
    bank = first(turn.current, turn.book.bank)
    owed = [index for index in turn.current.owed if index <= len(bank) and not bank[index - 1].up]
    if owed:
        law = turn.book.laws["cards_shown_by_bank"]
        raise RejectedError("bank_shows_first", index=owed[0], law=law.cited)


def _answer(turn: CheminTurn, who: str | None, word: Word, by: str) -> None:
    """Record the decision that a question asks for."""
    coup, bank = turn.current, turn.book.bank
    if f"hand.{word}" not in turn.asks():
        raise RejectedError("table_waits_for", commands=sent(turn.asks()))
    whose = {"bank_word": bank, "bank_choice": bank}.get(coup.question or "", turn.book.hands[0])
    if who not in (None, whose):
        raise RejectedError("hand_acts_now", who=whose)
    if coup.words.get(whose) == word:
        raise RejectedError("hand_said_so", who=whose)
    turn.change_current(question=None)
    moves.decide(turn, whose, word, by)


def _contradict(turn: CheminTurn, who: str, word: Word, by: str) -> None:
    """Handle a decision of a hand that contradicts its earlier one."""
    coup = turn.current
    late = bool(turn.state.held) or any(not coup.cards[at].gone for at in coup.third)
    if "restored" in turn.book.errors:
        if late:
            course.restore(turn, who, word)
        else:
            turn.change_current(said=(*coup.said, f"contradict {who}"))
            law = course.law_of_word(turn, who, "words_contradict")
            moves.ask(turn, "words_contradict", turn.book.laws[law], detail=who)
    elif not late:
        moves.decide(turn, who, word, by)
    elif word == "stand" and thirds(coup, who):
        _false_card(turn, who, by)
    else:
        raise RejectedError("cards_came_since")


def _false_card(turn: CheminTurn, who: str, by: str) -> None:
    """Handle a card that the croupier called for a hand that refused one. By the table of plays the
    bank has the first card if it makes 0 to 5, and no other card counts. The banker claims it, and
    the claim is checked once the bank's cards are turned.
    """
    turn.irregular("false_card")
    moves.withdraw_word(turn, turn.book.bank)
    turn.change_current(said=(*turn.current.said, "false_card"), table=True)
    moves.free(turn)
    moves.decide(turn, who, "stand", by)


def turn_cards(turn: CheminTurn, command: CardsTurn) -> None:
    """Turn cards face up. Before all hands have decided, that is a natural, or the cards were
    exposed too early.
    """
    coup, before = turn.current, turn.state
    for who in turn.book.everyone if command.who is None else (command.who,):
        moves.turn_up(turn, who, command.index)
    if coup.question == "words_contradict" and all(
        is_open(turn.current, who) for who in turn.book.hands if f"contradict {who}" in coup.said
    ):
        turn.change_current(question=None)
    if coup.question == "two_third_cards" and any(is_open(turn.current, who) for who in coup.pairs):
        turn.change_current(question=None)
    turn.settle()
    _too_early(turn)
    if turn.state == before:
        raise RejectedError("no_face_down_card")


def _too_early(turn: CheminTurn) -> None:
    """Ask a person whose fault it was that cards of a hand that has not decided are face up without
    being a natural.
    """
    if turn.state.current is None or turn.asks():
        return
    for who in turn.book.hands:
        cards = first(turn.current, who)
        done = turn.current.shown.get(who, ())
        new = [index for index, card in enumerate(cards, 1) if card.up and index not in done]
        if new and who not in turn.current.words and who not in turn.current.fates:
            moves.ask(turn, "cards_shown", detail=who)
            return


# Guards


def may_draw(turn: CheminTurn) -> bool:
    """A hand may ask for a card."""
    return _speaks(turn, "draw") or (not turn.asks() and course.bank_stood(turn))


def may_stand(turn: CheminTurn) -> bool:
    """A hand may refuse a card."""
    return _speaks(turn, "stand")


def _speaks(turn: CheminTurn, word: Word) -> bool:
    """A hand has this decision to make, or has made the other one."""
    if asks := turn.asks():
        return f"hand.{word}" in asks
    words = turn.current.words
    otherwise = any(words.get(who) in {"draw", "stand"} - {word} for who in turn.book.hands)
    return otherwise or course.to_act(turn) is not None


def of_a_hand(turn: CheminTurn, command: CardsTurn) -> None:
    """Reject a hand that there is not."""
    if command.who is not None and command.who not in turn.book.everyone:
        raise RejectedError("who_one_of", players=turn.book.everyone)


def undoubted(turn: CheminTurn) -> Refused | None:
    """No card is in doubt."""
    if turn.state.doubt is None:
        return None
    return Refused("table_waits_for", {"commands": sent(turn.asks())})


def any_to_turn(turn: CheminTurn) -> bool:
    """A card lies face down or waits."""
    down = any(not card.up and not card.gone for card in turn.current.cards)
    return down or bool(turn.state.held)
