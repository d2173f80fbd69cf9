"""The course of a coup of punto y banca: two cards to each hand in turn, then third cards by the
table of the decree. No card is revealed before it is face up.
"""

# Long: one course. Where a card goes, what a gap or a decision changes and what wins depend on each
# other, and on the same few cards of two hands.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

from msgspec.structs import replace

from common.contract.commands import CardDecide, CardsTurn
from common.contract.events import BaccaratOutcome, HandDecided
from common.contract.refusals import RejectedError
from common.readings import CardDrawn, ShoeResult
from controller.games import shoe, stakes
from controller.games.baccarat import (
    DEAL_ORDER,
    SIDES,
    WINNERS,
    Side,
    is_natural,
    next_card,
    points,
)
from controller.games.coups import commands, moves
from controller.games.coups.moves import CoupRules, CoupTurn, Made
from controller.games.coups.state import ROUND_DECISIONS
from controller.games.dealt.arrivals import follow
from controller.games.dealt.cards import Table, dealt, up
from controller.games.dealt.guards import cards_as_seen
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry, DealtRound, Held
from controller.games.dealt.turn import Course, announce_place, deal_card
from controller.games.guards import FieldCheck, Refused, Row, has_round, is_open
from controller.games.moves import readings_of
from controller.games.punto_banca import burn
from controller.games.punto_banca.coup import (
    dealt_again,
    hands_of,
    marks_of,
    winner_of,
)
from controller.games.punto_banca.settings import PuntoBancaSettings
from controller.games.punto_banca.state import (
    MAX_WAITING_CARDS,
    PuntoBancaEntry,
    PuntoBancaRound,
    PuntoBancaState,
)
from controller.games.roles import AT_THE_TABLE
from controller.games.session import confirmer
from controller.games.stakes import Bounds, bounds
from controller.games.talla import read_card
from controller.rulebooks.punto_banca import PuntoBanca


def all_up(cards: Table) -> bool:
    """Whether every card of the round is face up and was read."""
    return all(card.up and card.card is not None for card in cards)


def offered(turn: PuntoBancaTurn) -> Mapping[str, Bounds]:
    """The hands, and the tie, which is limited to a part of the table's maximum."""
    table = bounds(turn.state.minimum, turn.book.limits, turn.settings.highest.get("hands"))
    most = (
        table.most * Fraction(*turn.book.tie_limit)
        if table.most is not None and turn.book.tie_limit
        else table.most
    )
    return {
        **dict.fromkeys(SIDES, table),
        "tie": Bounds(table.least, turn.settings.highest.get("tie", most)),
    }


def allow_highest(turn: PuntoBancaTurn, minimum: int) -> None:
    """The highest bets are multiples of the minimum that the decree has."""
    law = turn.book.laws.get("bet_limit")
    stakes.require_lawful(turn.settings.highest, bands(turn.book), minimum, law)


def stage(turn: PuntoBancaTurn) -> Phase:
    """Before the first round of a shoe, cards are burned."""
    return Phase.BURNING if turn.state.burn is not None else moves.stage(turn)


# Where cards go


def on_table(turn: PuntoBancaTurn) -> Table:
    """The cards of the round in progress."""
    return turn.state.current.cards if turn.state.current is not None else ()


def belongs(turn: PuntoBancaTurn) -> Side | None:
    """The hand that the third-card table says, also after a silence: the shoe itself may know
    its place.
    """
    cards = on_table(turn)
    if len(cards) < len(DEAL_ORDER):
        return DEAL_ORDER[len(cards)]
    if not all_up(cards):
        return None
    return next_card(turn.book.third, up(cards, "player"), up(cards, "banker"))


def announced(turn: PuntoBancaTurn) -> str | None:
    """The burn, while cards are burned; else the announced place of the next card."""
    if turn.state.burn is not None:
        return "burn" if turn.state.stop is None else None
    coup = turn.state.current
    to = belongs(turn) if coup is not None and coup.closed else None
    return None if to is None or moves.holds(turn) else to


def divert(turn: PuntoBancaTurn, held: Held) -> bool:
    """A burn card, a card of no round; and one before which a silence may have hidden another,
    which it cannot where the shoe itself counts the places.
    """
    if turn.state.burn is not None:
        burn.on_card(turn, held)
        return True
    if moves.divert(turn, held):
        return True
    coup, drawn = turn.state.current, held.given
    if coup is None or not coup.gap:
        return False
    to = belongs(turn)
    if to is not None and (drawn.to, drawn.index) == (to, len(dealt(coup.cards, to)) + 1):
        turn.change_current(gap=False)
        return False
    moves.unresolved(turn, coup, "silence")
    announce_place(turn)
    return True


def found(turn: PuntoBancaTurn, drawn: CardDrawn) -> bool:
    """Whether the shoe reports this as the first card of a round."""
    if moves.by_shoe(turn) and (drawn.to, drawn.index) == ("player", 1):
        turn.change(out_of_sync=False, unseen=False)
        return True
    return False


def objection(turn: PuntoBancaTurn, held: Held) -> tuple[str, str | None] | None:
    """The trouble of the card, also if the shoe places it elsewhere or it came face up where it
    must be face down.
    """
    drawn, now = held.given, turn.state.shoe
    over = now is not None and now.over and held.trouble is None and not drawn.unsure
    if why := ("shoe_over", None) if over else moves.objection(turn, held):
        return why
    to = belongs(turn)
    if to is None:
        natural = any(is_natural(up(on_table(turn), side)) for side in SIDES)
        return "card_after_end" if natural else "card_before_turn", None
    misplaced = drawn.to not in (None, to)
    index = len(dealt(on_table(turn), to)) + 1 if misplaced or drawn.index is not None else None
    if misplaced or drawn.index != index:
        named = " ".join(str(part) for part in (drawn.to, drawn.index) if part is not None)
        return "card_misplaced", f"{to} {index} expected, the shoe says {named}"
    return ("card_exposed", None) if drawn.exposed and not faces_up(turn, to) else None


def faces_up(turn: PuntoBancaTurn, to: str) -> bool:  # noqa: ARG001 - it depends on the card, not on the hand
    """Whether the next card of the round is dealt face up."""
    third = len(on_table(turn)) >= 4
    how = turn.settings.third_card if third else turn.settings.dealt
    return how == "face_up" or (third and turn.settings.turn == "when_complete")


def turn_up(turn: PuntoBancaTurn, sides: Sequence[Side]) -> None:
    """Turn the cards of these hands face up."""
    for side in sides:
        turn.put(
            tuple(replace(card, up=True) if card.to == side else card for card in on_table(turn))
        )


# Gaps


def is_complete(turn: PuntoBancaTurn) -> bool:
    """Whether all cards of the round in progress have come and are face up."""
    return complete_outcome(turn) is not None


def gap_opened(turn: PuntoBancaTurn, coup: PuntoBancaRound) -> None:
    """Record after which cards of the round one may be hidden."""
    turn.change_current(before_gap=coup.before_gap if coup.gap else len(coup.cards))


def missed(turn: PuntoBancaTurn) -> None:
    """Record that a silence may have hidden a burned card."""
    if turn.state.burn is not None:
        burn.miss(turn, turn.state.burn)


def late(turn: PuntoBancaTurn, held: Held) -> None:
    """Count a late card during the burn; else as at every table of coups."""
    burning, now = turn.state.burn, turn.state.shoe
    if burning is None or now is None:
        moves.late(turn, held)
    else:
        turn.change(shoe=shoe.lose_count(now), burn=replace(burning, gap=True))


# What follows by itself


def complete_outcome(turn: PuntoBancaTurn) -> Made | None:
    """The outcome of the round in progress once all its cards have come face up, else None."""
    return moves.whole(turn, on_table(turn)) if all_up(on_table(turn)) else None


def advance(turn: PuntoBancaTurn) -> None:
    """Turn the first four cards if the table is set so; then announce the decisions that follow
    from the cards, and the result.
    """
    if turn.settings.turn == "when_complete" and len(on_table(turn)) == 4:
        turn_up(turn, SIDES)
    coup, outcome = turn.state.current, complete_outcome(turn)
    if coup is None or len(coup.cards) < 4 or not all_up(coup.cards):
        return
    if coup.gap and coup.before_gap == len(coup.cards) and outcome is not None:
        turn.change_current(gap=False)
    _decide(turn, coup)
    _conclude(turn, outcome)


def _decide(turn: PuntoBancaTurn, coup: PuntoBancaRound) -> None:
    """Announce, once for each hand, the decision that the rules require."""
    player, banker = (up(coup.cards, side) for side in SIDES)
    if is_natural(player) or is_natural(banker):
        for side in SIDES:
            if is_natural(up(coup.cards, side)):
                _decided(turn, coup, side, "natural")
        return
    to = next_card(turn.book.third, player, banker)
    if len(player) == 2:
        _decided(turn, coup, "player", "draw" if to == "player" else "stand")
    if to != "player" and len(banker) == 2:
        _decided(turn, coup, "banker", "draw" if to == "banker" else "stand")


def _decided(
    turn: PuntoBancaTurn,
    coup: PuntoBancaRound,
    side: Side,
    decision: Literal["draw", "stand", "natural"],
) -> None:
    now = turn.state.current
    if now is None or side in now.told:
        return
    turn.change_current(told=(*now.told, side))
    words = turn.call({"draw": f"{side}_draws", "stand": f"{side}_stands"}.get(decision, ""))
    total = points(up(coup.cards, side))
    filled = {language: _filled(text, total) for language, text in words.items()} if words else None
    turn.emit(HandDecided(round=coup.round, who=side, decision=decision, announcement=filled))


def _conclude(turn: PuntoBancaTurn, outcome: Made | None) -> None:
    """Publish the result once all cards are face up, unless a card is still to come, a person
    must decide, or the witnesses differ.
    """
    coup = turn.state.current
    assert coup is not None
    verdict = coup.verdict
    if verdict is not None and (outcome is None or disagree(verdict, outcome[0], outcome[2])):
        detail = f"the shoe says {verdict.winner or 'nothing'}"
        detail += ", a card is missing" if outcome is None else ""
        turn.irregular("witnesses_disagree", asks=ROUND_DECISIONS, detail=detail)
        moves.unresolved(turn, coup, "witnesses_disagree")
    elif outcome is not None and coup.gap:
        moves.unresolved(turn, coup, "silence")
    elif (
        outcome is not None
        and not turn.state.held
        and (verdict is not None or turn.settings.witness == "compared")
    ):
        moves.result(turn, coup, outcome, coup.confirmed_by)


# What wins


def judged(turn: PuntoBancaTurn, cards: Sequence[str]) -> Made | None:
    """The outcome of these cards in order; None unless they are exactly one whole coup."""
    hands = dealt_again(turn.book.third, cards)
    if hands is None:
        return None
    return winner_of(*hands), hands_of(*hands), marks_of(*hands, turn.settings)


def stated_marks(won: str) -> tuple[str, ...]:
    """The marks of a result given by a person without cards."""
    return ("tie",) if won == "tie" else ()


def candidate(turn: PuntoBancaTurn, coup: PuntoBancaRound, late: Table) -> str | None:  # noqa: ARG001
    """The winner if all cards of the round are face up, else None."""
    outcome = complete_outcome(turn)
    return None if outcome is None else outcome[0]


def ended(coup: PuntoBancaRound) -> bool:
    """Whether the shoe has given its verdict."""
    return coup.verdict is not None


def evidence(round_: DealtRound | DealtEntry) -> tuple[int, ...]:
    """The readings behind a round, and the shoe's verdict on it; oldest first."""
    verdict = round_.verdict if isinstance(round_, PuntoBancaRound) else None
    earlier = moves.evidence_of(round_)
    return earlier if verdict is None else (*earlier, *readings_of(verdict))


def noted(turn: PuntoBancaTurn, entry: PuntoBancaEntry) -> PuntoBancaEntry:
    """The result, with whether the verdict was compared."""
    current = turn.state.current
    compared = current is not None and current.round == entry.round and current.verdict is not None
    return replace(entry, compared=compared)


def outcome_of(_turn: PuntoBancaTurn, entry: PuntoBancaEntry) -> BaccaratOutcome:
    """The outcome of a round that has a result."""
    return entry.outcome


# Decisions


def decide_unread(turn: PuntoBancaTurn, command: CardDecide) -> bool:
    """Read the first unread card on the table, or of the named hand; or decide about the
    burn.
    """
    state = turn.state
    unread = [
        at
        for side in SIDES
        for at, card in enumerate(on_table(turn))
        if card.card is None and card.to == side and command.who in (None, side)
    ]
    if command.action == "read" and unread and state.shoe is not None:
        card, at = read_card(command), unread[0]
        counted, trouble = shoe.read(state.shoe, card)
        turn.change(shoe=counted)
        cards = on_table(turn)
        turn.put((*cards[:at], replace(cards[at], card=card), *cards[at + 1 :]))
        turn.change_current(confirmed_by=confirmer(command))
        if trouble is not None:
            turn.irregular(trouble)
        turn.settle()
        return True
    if state.held or state.stop is None:
        return False
    if state.burn is not None:
        burn.decide(turn, command, state.burn)
        return True
    if state.current is not None and state.current.unread:
        raise RejectedError("card_not_read_in_round")
    return False


def decide_held(turn: PuntoBancaTurn, command: CardDecide, held: Held) -> None:
    """Place the held card, read it, remove it, or keep it for the next round."""
    match command.action:
        case "accept" | "for":
            _accept(turn, command, held)
        case "read":
            _read(turn, command, held)
        case "exposed":
            if not held.given.exposed:
                raise RejectedError("card_not_face_up")
            other = command.card not in (None, held.given.card)
            (_read if other else _accept)(turn, command, held)
        case "remove":
            turn.change(held=turn.state.held[1:])
            why = held.trouble or ("exposed" if held.given.exposed else "decided")
            commands.remove(turn, command, why, None)
        case "next_round":
            _keep(turn, command, held)
        case _:
            raise RejectedError("action_not_allowed", action=command.action, actions=ACTIONS)


def _accept(turn: PuntoBancaTurn, command: CardDecide, held: Held) -> None:
    """Place the card where the order requires; face up out of turn only if a person states
    so.
    """
    now, rest = turn.state.shoe, turn.state.held[1:]
    if command.action == "for" and command.who is None:
        raise RejectedError("who_one_of", players=SIDES)
    commands.of_the_game(held)
    if turn.state.burn is not None:
        turn.change(held=rest)
        burn.burn_card(turn, replace(held, trouble=None))
        return
    if now is not None and now.over:
        raise RejectedError("shoe_over_remove_card")
    if turn.state.current is None and not moves.by_shoe(turn):
        raise RejectedError("no_round_keep_card")
    to = belongs(turn)
    if to is None:
        whole = len(on_table(turn)) >= 4 and "card.decide" in turn.state.asks
        raise RejectedError("no_card_now_turn" if whole else "no_card_now")
    if command.who not in (None, to):
        raise RejectedError("next_card_to", who=to)
    turn.change(held=rest)
    moves.ready(turn)
    turn.change_current(confirmed_by=confirmer(command), gap=False)
    deal_card(turn, held.given, to, seen=command.action == "exposed")


def _read(turn: PuntoBancaTurn, command: CardDecide, held: Held) -> None:
    """Place the held card with the value read by the person."""
    read = commands.read(turn, command, held)
    turn.change(held=(read, *turn.state.held[1:]))
    _accept(turn, command, read)


def _keep(turn: PuntoBancaTurn, command: CardDecide, held: Held) -> None:
    """Keep the card as the first of the next round. If cards are being burned, the burn ended
    before it.
    """
    now, drawn = turn.state.shoe, held.given
    if now is not None and (now.over or now.cut_at is not None):
        raise RejectedError("next_round_none")
    commands.of_the_game(held)
    turn.change(held=turn.state.held[1:])
    if turn.state.burn is not None:
        burn.finish(turn, anyway=True)
    first_card = Held(
        given=CardDrawn(
            at=drawn.at,
            device=drawn.device,
            frame=drawn.frame,
            reading=drawn.reading,
            card=drawn.card,
        ),
    )
    if turn.state.current is None and moves.by_shoe(turn):
        follow(turn, first_card)
    else:
        turn.change(carried=(*turn.state.carried, first_card))
    commands.record_confirmer(turn, command)


# The shoe


def new_shoe(turn: PuntoBancaTurn) -> None:
    """Begin to burn cards."""
    burn.begin(turn)


def forget_shoe(turn: PuntoBancaTurn) -> None:
    """End the burn."""
    turn.change(burn=None)


ACTIONS = ("accept", "for", "read", "remove", "next_round", "exposed")
"""What ``card.decide`` may do with a held card."""


def disagree(verdict: ShoeResult, won: str, marks: tuple[str, ...]) -> bool:
    """True if the shoe's verdict differs from the table's, as far as it goes."""
    pairs = {mark.removeprefix("pair_") for mark in marks if mark.startswith("pair_")}
    return verdict.winner not in (None, won) or (bool(verdict.pairs) and {*verdict.pairs} != pairs)


def turn_cards(turn: PuntoBancaTurn, command: CardsTurn) -> None:
    """Turn the cards of a hand face up."""
    turn_up(turn, _sides(command))
    turn.settle()


def _sides(command: CardsTurn) -> list[Side]:
    return [side for side in SIDES if command.who in (None, side)]


def of_a_hand(turn: PuntoBancaTurn, command: CardsTurn) -> None:  # noqa: ARG001 - any table
    """Reject a hand that there is not."""
    if not _sides(command):
        raise RejectedError("who_one_of", players=SIDES)


def first_four(turn: PuntoBancaTurn) -> Refused | None:
    """The first four cards lie on the table."""
    count = len(on_table(turn))
    return Refused("first_four_cards", {"count": count}) if count < 4 else None


def not_turned(turn: PuntoBancaTurn, command: CardsTurn) -> None:
    """Reject a hand whose cards are all face up."""
    sides = _sides(command)
    if all(card.up for card in on_table(turn) if card.to in sides):
        raise RejectedError("turned_already")


def any_face_down(turn: PuntoBancaTurn) -> bool:
    """A card on the table is face down."""
    return not all_up(on_table(turn))


CARDS_TURN = Row(
    AT_THE_TABLE,
    (
        is_open,
        has_round,
        FieldCheck(of_a_hand),
        FieldCheck(cards_as_seen),
        first_four,
        FieldCheck(not_turned, any_face_down),
    ),
    turn_cards,
)


def _filled(call: str, total: int) -> str:
    """The call with the points in place of the decree's dots."""
    before, dots, after = call.partition("...")
    return f"{before}{' ' if before[-1:].isalpha() else ''}{total}{after}" if dots else call


def bands(book: PuntoBanca) -> dict[str, stakes.Band]:
    """What may be the highest bet on a hand, and on the tie."""
    of_hands = stakes.Band(book.limits, span=book.limits_are == "range")
    part = Fraction(*book.tie_limit) if book.tie_limit else 1
    return {
        "hands": of_hands,
        "tie": of_hands._replace(multiples=tuple(limit * part for limit in book.limits)),
    }


class PuntoBancaTurn(CoupTurn[PuntoBanca, PuntoBancaSettings, PuntoBancaState]):
    """One step of a table of punto y banca."""

    course = Course(
        stage=stage,
        belongs=belongs,
        objection=objection,
        faces_up=faces_up,
        advance=advance,
        late=late,
        lose_place=moves.lose_place,
        leave=moves.leave,
        outcome_of=outcome_of,
        max_held=MAX_WAITING_CARDS,
        new_round=lambda _, number: PuntoBancaRound(round=number),
        entry_type=PuntoBancaEntry,
        arrived=moves.arrived,
        holds=moves.holds,
        wait=moves.wait,
        divert=divert,
        ready=moves.ready,
        next_place=announced,
        offered=offered,
        allow_highest=allow_highest,
    )
    coup = CoupRules(
        winners=tuple(WINNERS),
        judged=judged,
        stated_marks=stated_marks,
        decide_unread=decide_unread,
        decide_held=decide_held,
        found=found,
        is_complete=is_complete,
        gap_opened=gap_opened,
        missed=missed,
        evidence=evidence,
        noted=noted,
        candidate=candidate,
        ended=ended,
        new_shoe=burn.begin,
        forget_shoe=forget_shoe,
    )
