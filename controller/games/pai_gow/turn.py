"""One step of a table of pai gow: what it alone knows of bank and dice, of hands set in two, and of
the table of cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from msgspec.structs import replace

from common.contract.commands import CardsShow, DealError, ResultCorrect
from common.contract.events import ButtonMoved, CardRemoved, DiceThrown, Hand, Settled
from common.contract.refusals import RejectedError
from controller.games.banked import moves
from controller.games.banked.moves import BankedRules, BankedTurn
from controller.games.banked.state import BankedDeal, BankedState
from controller.games.dealt import cards as on_table
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry
from controller.games.guards import Refused
from controller.games.hands.evaluator import Value
from controller.games.pai_gow.settings import PaiGowSettings
from controller.games.pai_gow.table import (
    case_of,
    clockwise,
    counted,
    croupier,
    judged,
    positions,
    split,
    who_at,
)
from controller.games.poker import deal as poker_deal
from controller.games.poker.correction import PokerOutcome
from controller.rulebooks.pai_gow import PaiGow

DEALER = "dealer"
WRONGLY_SET = "wrongly_set"
LOW_SUFFIX = ".low"
Outcomes = Literal["win", "void", "lose"]


class PaiGowRound(BankedDeal, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress. ``set``: whose hands are set, face down; ``low``: the low hands of
    those that are face up. ``left``: the cards that are over were counted, and are right or let
    pass. ``parted``: the hands of empty places were put away.
    """

    bank: int
    dice: tuple[int, ...] = ()
    set: tuple[str, ...] = ()
    low: Mapping[str, tuple[str, ...]] = {}
    left: bool = False
    parted: bool = False


class PaiGowState(BankedState, frozen=True, kw_only=True, omit_defaults=True):
    """A table of pai gow between two inputs. ``bank``: the position that has it, None the
    croupier's. ``thrower``: the device that reads the dice.
    """

    current: PaiGowRound | None = None
    played: tuple[PaiGowRound, ...] = ()
    bank: int | None = None
    thrower: str | None = None


def banker(turn: PaiGowTurn) -> int:
    """The position that has the bank."""
    return croupier(turn.book) if turn.state.bank is None else turn.state.bank


def after_deal(turn: PaiGowTurn) -> Phase:
    """The phase after the deal: dice before it, setting, then showing."""
    if not turn.current.dice:
        return Phase.DICE
    return Phase.SETTING if len(turn.current.set) < len(turn.current.boxes) else Phase.SHOWDOWN


def new_round(turn: PaiGowTurn, number: int) -> PaiGowRound:
    """A round of the boxes in play."""
    return PaiGowRound(round=number, boxes=turn.state.boxes, bank=banker(turn))


def move_bank(turn: PaiGowTurn, to: int, by: str) -> None:
    """The bank goes to a position."""
    turn.change(bank=to)
    turn.emit(ButtonMoved(seat=to, by=by))


# Dice and deal


def places_in_play(turn: PaiGowTurn) -> tuple[int, ...]:
    """The positions in play."""
    return (*turn.current.boxes, croupier(turn.book))


def players(turn: PaiGowTurn) -> tuple[str, ...]:
    """The hands that play: the croupier's, then those compared with it or with the bank's, the
    bank's first.
    """
    return _players(turn, turn.current)


def _players(turn: PaiGowTurn, deal: PaiGowRound) -> tuple[str, ...]:
    boxes = sorted(deal.boxes, key=lambda box: box != deal.bank)
    return (DEALER, *(who_at(turn.book, box) for box in boxes))


def unplayable(turn: PaiGowTurn) -> Refused | None:
    """Why no round can be played: not unless the bank's position is in play."""
    if banker(turn) not in (*turn.state.boxes, croupier(turn.book)):
        return Refused("bank_not_in_play", {"who": who_at(turn.book, banker(turn))})
    return None


def throw(turn: PaiGowTurn, values: tuple[int, ...]) -> None:
    """Deal clockwise from the hand that the dice choose."""
    start = counted(turn.book, turn.current.bank, sum(values))
    served = positions(turn.book) if turn.settings.hands == "positions" else places_in_play(turn)
    names = [who_at(turn.book, position) for position in clockwise(turn.book, start, served)]
    turn.change_current(
        dice=values, order=poker_deal.deal(names, turn.book.hand, turn.settings.dealt)
    )
    turn.emit(DiceThrown(round=turn.current.round, values=values, total=sum(values), seat=start))


def too_early(turn: PaiGowTurn) -> str | None:
    """No card comes before the dice."""
    return None if turn.current.dice else "card_before_dice"


def exposed(turn: PaiGowTurn, who: str) -> None:
    """Leave it to the person in charge: no section provides for an exposed card."""
    moves.doubt(turn, "card_exposed", detail=who)


def error(turn: PaiGowTurn, command: DealError) -> None:
    """Leave it to the person in charge: no section provides for an error of dealing."""
    who = command.who or ""
    if command.error == "exposed" and on_table.hand(turn.current.cards, who):
        if command.index is not None:
            turn.put(on_table.turn(turn.current.cards, who, command.index))
        moves.doubt(turn, "dealer_early" if who == DEALER else "card_exposed", detail=who)
    else:
        moves.doubt(turn, "deal_error", detail=command.error)


# The cards that are over


def left_over(turn: PaiGowTurn) -> int:
    """The number of cards left after the deal."""
    deal = turn.state.current
    return (
        len(turn.deck) - len(deal.cards)
        if deal is not None and deal.cards and not deal.due
        else len(turn.deck)
    )


def judge(turn: PaiGowTurn, right: bool) -> None:
    """Record a count: after the deal, of the left cards."""
    deal = turn.state.current
    if deal is None or not deal.cards or deal.due:
        moves.judge_deck(turn, right)
    elif right:
        moves.resolve(turn, "leftover_wrong", "leftover_unchecked")
        turn.change_current(left=True)
    else:
        moves.doubt(turn, "leftover_wrong", detail=f"{left_over(turn)} must be over")


def continue_despite(turn: PaiGowTurn) -> None:
    """Accept a wrong number of cards."""
    if turn.state.doubt == "leftover_wrong":
        turn.change_current(left=True)


# Hands are set, and lie open


def set_hand(turn: PaiGowTurn, who: str, by: str) -> None:
    """Record that a player has set his hand in two, face down."""
    if not turn.current.dice or turn.current.due:
        raise RejectedError("cards_not_dealt")
    if who not in players(turn)[1:]:
        raise RejectedError("no_hand", who=who)
    if who in turn.current.set:
        raise RejectedError("already_acted", who=who)
    turn.change_current(set=(*turn.current.set, who))
    moves.decided(turn, who, "set", by)


def unset_hand(turn: PaiGowTurn, who: str, by: str) -> None:
    """Withdraw that a player has set the hand; refused once a hand is face up."""
    if who not in turn.current.set:
        raise RejectedError("not_the_last_action", who=who, action="set")
    if turn.current.low:
        raise RejectedError("too_late_to_withdraw")
    turn.change_current(set=tuple(player for player in turn.current.set if player != who))
    moves.decided(turn, who, "set", by, valid=False)


def unshowable(turn: PaiGowTurn, who: str) -> Refused | None:
    """Why this hand may not be shown now: the croupier's follows when
    all others are set, then the rest.
    """
    if turn.current.due:
        return Refused("cards_not_dealt")
    if who not in players(turn):
        return Refused("no_hand", {"who": who})
    waits = [player for player in players(turn)[1:] if player not in turn.current.set]
    if waits:
        return Refused("hands_not_set", {"hands": tuple(waits)}, law=turn.book.laws["dealer_early"])
    return None


def show(turn: PaiGowTurn, command: CardsShow, *, trust: bool = False) -> None:
    """Show a hand: its cards, and which of them are the low hand."""
    if command.index is not None:
        raise RejectedError("show_whole_hand")
    if not command.cards and on_table.is_known(turn.current.cards, command.who):
        command = replace(command, cards=on_table.known(turn.current.cards, command.who))
    if (
        not command.low
        or not set(command.low) < set(command.cards)
        or len(set(command.low)) < len(command.low)
    ):
        raise RejectedError("low_hand_required", who=command.who)
    bank = who_at(turn.book, turn.current.bank)
    if command.who not in (DEALER, bank, *turn.current.low) and bank not in turn.current.low:
        turn.irregular("hand_early", detail=command.who)
    moves.show_hand(turn, command, trust=trust)
    if turn.state.doubt != "shown_differs":
        turn.change_current(low={**turn.current.low, command.who: command.low})


def missing(turn: PaiGowTurn) -> tuple[str, ...]:
    """The hands that must still be turned face up, once all have set."""
    if len(turn.current.set) < len(players(turn)) - 1:
        return ()
    return tuple(who for who in players(turn) if who not in turn.current.low)


def advance(turn: PaiGowTurn) -> None:
    """Put away the hands of empty places; publish the result once all hands are face up and the
    left cards were counted.
    """
    if not turn.current.dice or turn.current.due or turn.state.stop is not None:
        return
    if not turn.current.parted:
        _part(turn)
    if len(turn.current.low) < len(players(turn)):
        return
    if turn.current.left:
        _decide(turn)
    else:
        moves.doubt(turn, "leftover_unchecked")


def _part(turn: PaiGowTurn) -> None:
    turn.change_current(parted=True)
    for who in dict.fromkeys(turn.current.order):
        if who not in players(turn):
            own = on_table.hand(turn.current.cards, who)
            turn.change_current(cards=on_table.drop(turn.current.cards, who))
            for dealt in own:
                card = dealt.card if dealt.up else None
                turn.emit(
                    CardRemoved(round=turn.current.round, why="empty_place", card=card, to=who)
                )


# The result


def _decide(turn: PaiGowTurn) -> None:
    made = outcome(
        turn, turn.current, {who: on_table.up(turn.current.cards, who) for who in players(turn)}
    )
    for hand in made.hands:
        if hand.kind == WRONGLY_SET:
            turn.irregular("hand_wrongly_set", detail=hand.who)
    moves.result(turn, made)


def outcome(
    turn: PaiGowTurn, deal: PaiGowRound, lie: Mapping[str, tuple[str, ...]]
) -> PokerOutcome:
    """The outcome of every hand against the bank's, or the croupier's, by the table of
    cases.
    """
    players = _players(turn, deal)
    values = {who: judged(turn.book, lie[who], deal.low[who]) for who in players}
    bank = DEALER if turn.settings.compared == "dealer" else who_at(turn.book, deal.bank)
    shown = {who: _set_hand(who, lie[who], deal.low[who], values[who]) for who in players}
    return PokerOutcome(
        hands=tuple(
            shown[who] if who == bank else _against(turn, shown[who], values[who], values[bank])
            for who in players
        )
    )


def _against(
    turn: PaiGowTurn,
    shown: Hand,
    mine: tuple[Value, Value] | None,
    theirs: tuple[Value, Value] | None,
) -> Hand:
    outcome: Outcomes = (
        "lose"
        if mine is None
        else "win"
        if theirs is None
        else case_of(turn.book, mine, theirs).outcome
    )
    net = Fraction(*turn.book.pays) * (1 - Fraction(turn.settings.commission, 1000))
    pays = (net.numerator, net.denominator) if outcome == "win" else None
    settled = (Settled(bet="bet", outcome=outcome, pays=pays),)
    return replace(shown, outcome="tie" if outcome == "void" else outcome, settled=settled)


def amended(
    _turn: PaiGowTurn, deal: PaiGowRound, entry: DealtEntry, command: ResultCorrect
) -> tuple[PaiGowRound, DealtEntry, ResultCorrect]:
    """``box:3.low`` names the low hand of ``box:3``; required if it, or a card of it, was
    wrong.
    """
    said, lows = command.hands or {}, dict(deal.low)
    published = {hand.who: hand.cards for hand in entry.hands}
    named = {
        who.removesuffix(LOW_SUFFIX): cards
        for who, cards in said.items()
        if who.endswith(LOW_SUFFIX)
    }
    hands = {who: published.get(who, ()) for who in named} | {
        who: cards for who, cards in said.items() if not who.endswith(LOW_SUFFIX)
    }
    for who, cards in hands.items() if published.keys() >= hands.keys() else ():
        low = named.get(who, lows.get(who, ()))
        if not low or not set(low) < set(cards) or len(set(low)) < len(low):
            raise RejectedError("low_hand_correction_required", low=f"{who}{LOW_SUFFIX}")
        lows[who] = low
    return replace(deal, low=lows), entry, replace(command, hands=hands)


def _set_hand(
    who: str, cards: tuple[str, ...], low: tuple[str, ...], made: tuple[Value, Value] | None
) -> Hand:
    if made is None:
        return Hand(who=who, cards=cards, kind=WRONGLY_SET, best=split(cards, low), low=low)
    high, small = made
    return Hand(
        who=who,
        cards=cards,
        kind=high.category,
        best=high.cards,
        low=small.cards,
        low_kind=small.category,
    )


class PaiGowTurn(BankedTurn[PaiGow, PaiGowSettings, PaiGowState, PaiGowRound]):
    """One step of a table of pai gow."""

    course = moves.course(advance=advance, faces_up=lambda *_: False, new_round=new_round)
    banked = BankedRules(
        after_deal=after_deal,
        begin_deal=lambda _: None,  # the dice decide where the deal begins
        exposed=exposed,
        error=error,
        unshowable=unshowable,
        outcome=outcome,
        missing=missing,
        trusts_places=False,  # where the first packet goes the dice say
        unplayable=unplayable,
        too_early=too_early,
        continue_despite=continue_despite,
        show=show,
        amended=amended,
        counted=left_over,
        judge=judge,
    )
