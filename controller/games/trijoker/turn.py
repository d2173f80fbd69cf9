"""One step of a table of trijoker: what it alone knows of the deal, the two decisions and the pay
table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from common.contract.commands import DealError
from common.contract.events import BetPlaced, Hand, Settled
from common.contract.refusals import RejectedError
from controller.games.banked import moves
from controller.games.banked.moves import BankedRules, BankedTurn
from controller.games.banked.state import BankedDeal, BankedState
from controller.games.dealt import cards as on_table
from controller.games.dealt.phases import Phase
from controller.games.guards import Refused
from controller.games.hands.evaluator import Value, value
from controller.games.hands.rankings import RANKINGS
from controller.games.poker.correction import PokerOutcome
from controller.games.trijoker.settings import TrijokerSettings
from controller.rulebooks.common_poker import Trijoker

COMMON_PLACES = ("common:1", "common:2")
"""The left common card and the right one, as the croupier sees them."""
COMMON_TOGETHER = "common"
"""Both together, in a result."""


class TrijokerRound(BankedDeal, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress. ``turned``: how many common cards were turned in order. ``withdrawn``:
    the bets that each player withdrew; ``spoke``: who has decided since the last card was turned.
    ``told``: the players who showed or named their cards and lose their bets.
    """

    turned: int = 0
    withdrawn: Mapping[str, tuple[str, ...]] = {}
    spoke: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


class TrijokerState(BankedState, frozen=True, kw_only=True, omit_defaults=True):
    """A table of trijoker between two inputs."""

    current: TrijokerRound | None = None
    played: tuple[TrijokerRound, ...] = ()


def pays(book: Trijoker, hand_value: Value) -> tuple[int, int] | None:
    """The odds of a hand to 1; None if it loses. Pairs pay from the lowest winning rank."""
    ranks = RANKINGS[book.ranking].ranks
    if hand_value.category == "pair" and ranks.index(hand_value.cards[0][0]) < ranks.index(
        book.pair_from
    ):
        return None
    return book.pays.get(hand_value.category)


def voids(book: Trijoker, card: str) -> bool:
    """Whether a common card that is seen too early voids the round."""
    ranks = RANKINGS[book.ranking].ranks
    return ranks.index(card[0]) >= ranks.index(book.void_from)


def after_deal(turn: TrijokerTurn) -> Phase:
    """The phase after the deal: the first bet, the second, then the showdown."""
    return (Phase.FIRST_BET, Phase.SECOND_BET, Phase.SHOWDOWN)[turn.current.turned]


def new_round(turn: TrijokerTurn, number: int) -> TrijokerRound:
    """A round of the boxes in play."""
    return TrijokerRound(round=number, boxes=turn.state.boxes)


def boxes(turn: TrijokerTurn) -> tuple[str, ...]:
    """The hands of the players, from the croupier's left."""
    return tuple(f"box:{box}" for box in turn.current.boxes)


def begin_deal(turn: TrijokerTurn) -> None:
    """Set the order: players, left common card, players, right common card, players."""
    order = [who for to in turn.book.deal for who in (boxes(turn) if to == "boxes" else (to,))]
    turn.change_current(order=tuple(order))


def faces_up(turn: TrijokerTurn, who: str) -> bool:
    """Whether a card is dealt face up: under one reading of the decree the players' first cards
    and the left common card.
    """
    first = not on_table.dealt(turn.current.cards, who)
    return turn.settings.face_up == "yes" and first and who != COMMON_PLACES[1]


def exposed(turn: TrijokerTurn, who: str) -> None:
    """Handle an exposed card. After a player's card the round continues; for a common one it
    depends on the card.
    """
    if who not in COMMON_PLACES:
        turn.irregular("card_exposed", detail=who)
        return
    turn.put(on_table.turn(turn.current.cards, who))
    seen = on_table.up(turn.current.cards, who)
    if not seen:
        moves.doubt(turn, "common_exposed", about=who, detail=who)
    else:
        _seen(turn, who, seen[0])


def _seen(turn: TrijokerTurn, who: str, card: str) -> None:
    moves.resolve(turn, "common_exposed")
    turn.irregular("common_exposed", detail=who)
    if voids(turn.book, card):
        moves.void(turn, turn.current.round, "card_exposed", turn.book.laws["common_exposed"])


def error(turn: TrijokerTurn, command: DealError) -> None:
    """Handle an error of dealing: an exposed card; all others are for the person in charge."""
    if command.error == "exposed" and command.fault == "player" and "hand_told" in turn.book.laws:
        _forfeit(turn, command.who or "")
        return
    if command.error != "exposed" or command.who is None:
        moves.doubt(turn, "deal_error", detail=command.error)
        return
    if not on_table.hand(turn.current.cards, command.who):
        raise RejectedError("no_cards", who=command.who)
    if command.who in COMMON_PLACES[: turn.current.turned] or _by_rule(turn, command.who):
        raise RejectedError("up_by_the_rules", who=command.who)
    if command.who not in COMMON_PLACES and command.index is not None:
        turn.put(on_table.turn(turn.current.cards, command.who, command.index))
    exposed(turn, command.who)


def _forfeit(turn: TrijokerTurn, who: str) -> None:
    """Record that a player who showed or named cards loses all bets; the hand need not be
    shown.
    """
    if who not in boxes(turn) or who in turn.current.told:
        raise RejectedError("who_not_in_play", who=who, hands=tuple(boxes(turn)))
    turn.change_current(
        told=(*turn.current.told, who), cards=on_table.drop(turn.current.cards, who)
    )
    turn.irregular("hand_told", detail=who)


def unshowable(turn: TrijokerTurn, who: str) -> Refused | None:
    """Why it may not be shown: out of order: the left common card, the right one, then the
    players' hands.
    """
    if turn.current.due:
        return Refused("cards_not_dealt")
    if who not in (*COMMON_PLACES, *boxes(turn)) or who in turn.current.told:
        return Refused("no_hand", {"who": who})
    place = COMMON_PLACES.index(who) if who in COMMON_PLACES else len(COMMON_PLACES)
    if place > turn.current.turned:
        return Refused("turned_first", {"who": COMMON_PLACES[turn.current.turned]})
    return None


def faced(turn: TrijokerTurn, who: str) -> None:
    """Begin the next decision with a common card that was turned in order. A player who has not
    decided leaves the bet.
    """
    if turn.state.doubt == "common_exposed":
        _seen(turn, who, on_table.up(turn.current.cards, who)[0])
    elif who in COMMON_PLACES[turn.current.turned :] and not turn.current.due:
        turn.change_current(turned=turn.current.turned + 1, spoke=())


def act(turn: TrijokerTurn, who: str, action: Literal["go", "withdraw"], by: str) -> None:
    """Record that a player leaves the bet of this decision or withdraws it."""
    if turn.current.due or turn.current.turned >= len(COMMON_PLACES):
        raise RejectedError("no_bet_to_withdraw")
    if who not in boxes(turn):
        raise RejectedError("no_hand", who=who)
    if who in turn.current.told:
        raise RejectedError("hand_lost", who=who)
    if who in turn.current.spoke:
        raise RejectedError("already_acted", who=who)
    turn.change_current(spoke=(*turn.current.spoke, who))
    moves.decided(turn, who, action, by)
    if action == "withdraw":
        bet, own = turn.book.bets[turn.current.turned], turn.current.withdrawn.get(who, ())
        turn.change_current(withdrawn={**turn.current.withdrawn, who: (*own, bet)})
        turn.emit(BetPlaced(round=turn.current.round, who=who, bet=bet, withdrawn=True, by=by))


def take_back(turn: TrijokerTurn, who: str, action: Literal["go", "withdraw"], by: str) -> None:
    """Withdraw a player's decision; too late once the next common card is turned."""
    if who not in turn.current.spoke:
        raise RejectedError("not_the_last_action", who=who, action=action)
    bet, own = turn.book.bets[turn.current.turned], turn.current.withdrawn.get(who, ())
    decided_action = "withdraw" if bet in own else "go"
    if decided_action != action:
        raise RejectedError("not_the_last_action", who=who, action=action)
    turn.change_current(spoke=tuple(player for player in turn.current.spoke if player != who))
    moves.decided(turn, who, action, by, valid=False)
    if action == "withdraw":
        withdrawn = {**turn.current.withdrawn, who: own[:-1]}
        turn.change_current(withdrawn={player: bets for player, bets in withdrawn.items() if bets})
        turn.emit(BetPlaced(round=turn.current.round, who=who, bet=bet, by=by))


def missing(turn: TrijokerTurn) -> tuple[str, ...]:
    """The hands of all players, once the right common card is face up."""
    if turn.current.turned < len(COMMON_PLACES):
        return ()
    return tuple(
        who
        for who in boxes(turn)
        if who not in turn.current.told and not on_table.is_up(turn.current.cards, who)
    )


def advance(turn: TrijokerTurn) -> None:
    """Ask for a card that must be face up; publish the result once all hands are."""
    unread = [card for card in turn.current.cards if not card.up and _by_rule(turn, card.to)]
    if unread and turn.state.doubt is None:
        moves.doubt(turn, "card_unread", about=unread[0].to, detail=unread[0].to)
    if (
        turn.current.due
        or turn.current.turned < len(COMMON_PLACES)
        or missing(turn)
        or turn.state.stop is not None
    ):
        return
    lie = {
        who: on_table.up(turn.current.cards, who)
        for who in boxes(turn)
        if who not in turn.current.told
    }
    common = tuple(card for who in COMMON_PLACES for card in on_table.up(turn.current.cards, who))
    moves.result(turn, outcome(turn, turn.current, lie | {COMMON_TOGETHER: common}))


def outcome(
    turn: TrijokerTurn, deal: TrijokerRound, lie: Mapping[str, tuple[str, ...]]
) -> PokerOutcome:
    """The outcome of every player against the pay table, with both common cards."""
    common = Hand(who=COMMON_TOGETHER, cards=lie[COMMON_TOGETHER])
    return PokerOutcome(
        hands=(*(_result(turn, deal, f"box:{box}", lie) for box in deal.boxes), common)
    )


def _by_rule(turn: TrijokerTurn, who: str) -> bool:
    return turn.settings.face_up == "yes" and who == COMMON_PLACES[0]


def _result(
    turn: TrijokerTurn, deal: TrijokerRound, who: str, lie: Mapping[str, tuple[str, ...]]
) -> Hand:
    made = (
        None if who in deal.told else value((*lie[who], *lie[COMMON_TOGETHER]), turn.book.ranking)
    )
    odds = None if made is None else pays(turn.book, made)
    back = deal.withdrawn.get(who, ())
    outcome: Literal["win", "lose"] = "lose" if odds is None else "win"
    settled = tuple(
        Settled(bet=bet, outcome="void")
        if bet in back
        else Settled(bet=bet, outcome=outcome, pays=odds)
        for bet in turn.book.bets
    )
    if made is None:
        return Hand(who=who, cards=(), outcome=outcome, settled=settled)
    return Hand(
        who=who,
        cards=lie[who],
        kind=made.category,
        best=made.cards,
        outcome=outcome,
        settled=settled,
    )


class TrijokerTurn(BankedTurn[Trijoker, TrijokerSettings, TrijokerState, TrijokerRound]):
    """One step of a table of trijoker."""

    course = moves.course(advance=advance, faces_up=faces_up, new_round=new_round)
    banked = BankedRules(
        after_deal=after_deal,
        begin_deal=begin_deal,
        exposed=exposed,
        error=error,
        unshowable=unshowable,
        outcome=outcome,
        missing=missing,
        faced=faced,
    )
