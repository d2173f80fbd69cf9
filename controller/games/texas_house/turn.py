"""One step of a table of Texas hold'em against the house: its own deal, decisions, bank and pay
tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec.structs import replace

from common.contract.commands import (
    BetPlace,
    BetWithdraw,
    DealError,
    ResultCorrect,
)
from common.contract.events import AwardQualified, BetPlaced, Hand, Settled
from common.contract.refusals import RejectedError
from controller.games import stakes
from controller.games.banked import moves
from controller.games.banked.moves import BankedRules, BankedTurn
from controller.games.banked.state import BankedDeal, BankedState
from controller.games.dealt import cards as on_table
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry
from controller.games.guards import Refused
from controller.games.hands.evaluator import Value, best_of, value
from controller.games.hands.rankings import RANKINGS
from controller.games.poker.correction import PokerOutcome, came_to_lie, emit_awards
from controller.games.poker.deal import Order
from controller.games.texas_house.settings import TexasHouseSettings
from controller.rulebooks.common_poker import TexasHouse
from controller.rulebooks.law import Law

BOARD, DEALER = "board", "dealer"
Cards = Mapping[str, tuple[str, ...]]
Word = Literal["go", "pass", "touched"]
"""The course of a hand: it plays, it folded, or it was withdrawn because it touched another."""


class TexasHouseRound(BankedDeal, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress."""

    bonus: tuple[str, ...] = ()
    """Who has a supplementary bet: ``box:1``, or ``box:1/2`` who bets on that hand."""
    spoke: Mapping[str, Word] = {}
    """The decision of each hand that has acted or was withdrawn."""
    awarded: tuple[AwardQualified, ...] = ()
    """The winning supplementary bets published so far."""


class TexasHouseState(BankedState, frozen=True, kw_only=True, omit_defaults=True):
    """A table of Texas hold'em against the house between two inputs."""

    current: TexasHouseRound | None = None
    played: tuple[TexasHouseRound, ...] = ()


def reaches(hand_value: Value, pair: str, ranking: str) -> bool:
    """Whether a hand is a pair of at least this rank, or anything higher."""
    rules = RANKINGS[ranking]
    if hand_value.category == "pair":
        return rules.ranks.index(hand_value.cards[0][0]) >= rules.ranks.index(pair)
    return rules.categories.index(hand_value.category) < rules.categories.index("pair")


def bonus(
    book: TexasHouse, own: tuple[str, ...], flop: tuple[str, ...]
) -> tuple[Value, tuple[int, int] | None]:
    """The hand made by two cards and the flop, and its odds to 1; None if it loses."""
    hand_value = value((*own, *flop), book.ranking)
    return hand_value, book.bonus.get(hand_value.category) if reaches(
        hand_value, book.bonus_pair_from, book.ranking
    ) else None


def hand_of(bettor: str) -> str:
    """The hand that a bet is on: ``box:1`` for ``box:1/2``, the bet of its second bettor."""
    return bettor.partition("/")[0]


def settled(book: TexasHouse, mine: Value, bank: Value) -> tuple[Settled, Settled]:
    """The outcome of the ante and the second bet."""
    if not reaches(bank, book.qualifies, book.ranking):
        return Settled(bet="ante", outcome="win", pays=book.ante[mine.category]), Settled(
            bet="second", outcome="void"
        )
    if mine.key > bank.key:
        return (
            Settled(bet="ante", outcome="win", pays=book.ante[mine.category]),
            Settled(bet="second", outcome="win", pays=book.second),
        )
    outcome: Literal["tie", "lose"] = "tie" if mine.key == bank.key else "lose"
    return Settled(bet="ante", outcome=outcome), Settled(bet="second", outcome=outcome)


def after_deal(turn: TexasHouseTurn) -> Phase:
    """The phase after the deal: the players act, then hands are shown."""
    spoken = len(turn.current.spoke) == len(turn.current.boxes)
    return Phase.SHOWDOWN if spoken else Phase.PLAYERS


def new_round(turn: TexasHouseTurn, number: int) -> TexasHouseRound:
    """A new round with the boxes in play."""
    return TexasHouseRound(round=number, boxes=turn.state.boxes)


def boxes(turn: TexasHouseTurn) -> tuple[str, ...]:
    """The players' hands, from the croupier's left."""
    return tuple(f"box:{box}" for box in turn.current.boxes)


def going(turn: TexasHouseTurn) -> tuple[str, ...]:
    """The hands that made the second bet and play against the bank."""
    return tuple(who for who in boxes(turn) if turn.current.spoke.get(who) == "go")


def first(turn: TexasHouseTurn) -> Order:
    """The order up to the flop: players and bank card by card, then the flop."""
    order = [who for to in turn.book.deal for who in (boxes(turn) if to == "boxes" else (to,))]
    return (*order, *[BOARD] * turn.book.board[0])


def begin_deal(turn: TexasHouseTurn) -> None:
    """Set the dealing order up to the flop."""
    turn.change_current(order=first(turn))
    bonus = tuple(who for who in turn.current.bonus if hand_of(who) in boxes(turn))
    turn.change_current(bonus=bonus)


def faces_up(_turn: TexasHouseTurn, who: str) -> bool:
    """Only common cards are dealt face up."""
    return who == BOARD


def void_if_seen(turn: TexasHouseTurn, who: str) -> Law | None:
    """A card of the bank voids the round if the table is set so."""
    return (
        turn.book.void["card_exposed"]
        if turn.settings.misdeal == "void" and who == DEALER
        else None
    )


def exposed(turn: TexasHouseTurn, who: str) -> None:
    """Void the round for a card of the bank; report a player's card and play on."""
    if who == DEALER:
        moves.void(turn, turn.current.round, "card_exposed", turn.book.void["card_exposed"])
    else:
        turn.irregular("card_exposed", detail=who)


def error(turn: TexasHouseTurn, command: DealError) -> None:
    """Act on a player's exposed card or on hands that touched. Play continues after a corrected
    error; a person decides on any other.
    """
    who = command.who or ""
    if command.error in ("exposed", "touched") and who in boxes(turn):
        if not on_table.hand(turn.current.cards, who):
            raise RejectedError("no_cards", who=who)
        if command.error == "touched":
            _withdraw(turn, who, "touched")
            turn.irregular("hands_touched", detail=who)
            return
        if command.index is not None:
            turn.put(on_table.turn(turn.current.cards, who, command.index))
        exposed(turn, who)
    elif command.recoverable and correctable(turn):
        turn.irregular("deal_error", detail=f"{command.error}, put right")
    else:
        moves.doubt(turn, "deal_error", detail=command.error)


def correctable(turn: TexasHouseTurn) -> bool:
    """A dealing error may be corrected until the first player acts."""
    return not turn.current.spoke


def act(turn: TexasHouseTurn, who: str, action: Literal["go", "pass"], by: str) -> None:
    """Record that a player makes the second bet or folds."""
    if turn.current.due:
        raise RejectedError("cards_not_dealt")
    if who not in boxes(turn):
        raise RejectedError("no_hand", who=who)
    if who in turn.current.spoke:
        raise RejectedError("already_acted", who=who)
    moves.decided(turn, who, action, by)
    if action == "pass":
        _withdraw(turn, who, "pass")
    else:
        turn.change_current(spoke={**turn.current.spoke, who: action})


def takes_back(turn: TexasHouseTurn) -> bool:
    """Whether decisions may be withdrawn: the turn card is not dealt and no hand is face up."""
    cards = turn.current.cards
    return len(cards) <= len(first(turn)) and not any(
        on_table.is_up(cards, place) for place in (DEALER, *boxes(turn))
    )


def take_back(turn: TexasHouseTurn, who: str, action: Literal["go", "pass"], by: str) -> None:
    """Withdraw a player's decision, unless the turn card is dealt or a hand is face up."""
    if turn.current.spoke.get(who) != action:
        raise RejectedError("not_the_last_action", who=who, action=action)
    if not takes_back(turn):
        raise RejectedError("too_late_to_withdraw")
    spoke = {player: word for player, word in turn.current.spoke.items() if player != who}
    table = on_table.restore(turn.current.cards, who) if action == "pass" else turn.current.cards
    turn.change_current(spoke=spoke, cards=table, order=first(turn))
    moves.decided(turn, who, action, by, valid=False)


def bet(turn: TexasHouseTurn, command: BetPlace | BetWithdraw) -> None:
    """Place or withdraw the supplementary bet before bets close, of the player at a box
    (``box:1``) or of one who bets on his hand (``box:1/2``).
    """
    who, placed = command.who, isinstance(command, BetPlace)
    require_bettor(turn, command)
    own = (who,) if placed else ()
    turn.change_current(bonus=(*(bettor for bettor in turn.current.bonus if bettor != who), *own))
    turn.emit(
        BetPlaced(
            round=turn.current.round,
            who=who,
            bet="txb",
            withdrawn=not placed,
            amount=command.amount if isinstance(command, BetPlace) else None,
            by=command.by,
        )
    )


def require_bettor(turn: TexasHouseTurn, command: BetPlace | BetWithdraw) -> None:
    """Reject a player who may not place or withdraw this bet."""
    who, placed = command.who, isinstance(command, BetPlace)
    if hand_of(who) not in boxes(turn):
        raise RejectedError("who_not_in_play", who=who, hands=boxes(turn))
    stakes.bettor(who, turn.book.boxes, turn.book.bets_per_box)
    if placed == (who in turn.current.bonus):
        raise RejectedError(
            "bet_already_placed" if placed else "bet_not_placed", who=who, bet="txb"
        )


def _withdraw(turn: TexasHouseTurn, who: str, word: Word) -> None:
    turn.change_current(
        spoke={**turn.current.spoke, who: word}, cards=on_table.drop(turn.current.cards, who)
    )


def unshowable(turn: TexasHouseTurn, who: str) -> Refused | None:
    """Why this hand may not be shown now: players once all have acted, the
    bank once the river is dealt.
    """
    if len(turn.current.spoke) < len(boxes(turn)):
        return Refused("decisions_missing")
    if who == DEALER and turn.current.due:
        return Refused("cards_not_dealt")
    if who not in (DEALER, *going(turn)):
        return Refused("no_hand", {"who": who})
    return None


def missing(turn: TexasHouseTurn) -> tuple[str, ...]:
    """The covered hands of the bank and of its opponents, once all players have acted."""
    if len(turn.current.spoke) < len(boxes(turn)) or not going(turn):
        return ()
    return tuple(
        who for who in (DEALER, *going(turn)) if not on_table.is_up(turn.current.cards, who)
    )


def advance(turn: TexasHouseTurn) -> None:
    """Ask for an unread common card; award bonus bets; once all have acted, deal turn and
    river, then publish the result.
    """
    if (
        any(not card.up for card in on_table.hand(turn.current.cards, BOARD))
        and turn.state.doubt is None
    ):
        moves.doubt(turn, "card_unread", about=BOARD, detail=BOARD)
    if turn.state.stop is not None:
        return
    _award(turn)
    if turn.current.due or len(turn.current.spoke) < len(boxes(turn)):
        return
    if not going(turn):
        moves.result(turn, outcome(turn, turn.current, _lie(turn)))
    elif turn.current.order.count(BOARD) < sum(turn.book.board):
        turn.change_current(order=(*turn.current.order, *[BOARD] * sum(turn.book.board[1:])))
    elif not missing(turn):
        moves.result(turn, outcome(turn, turn.current, _lie(turn)))


def _award(turn: TexasHouseTurn) -> None:
    """Publish each winning supplementary bet once its hand is face up."""
    if len(turn.current.spoke) < len(boxes(turn)):
        return
    before, now = turn.current.awarded, _awards(turn, turn.current, _lie(turn))
    turn.change_current(awarded=now)
    emit_awards(turn, before, now)


def awarded(turn: TexasHouseTurn, number: int) -> tuple[AwardQualified, ...]:
    """The supplementary bets already published as won in this round."""
    deal = turn.state.current
    return deal.awarded if deal is not None and deal.round == number else ()


def amended(
    turn: TexasHouseTurn, deal: TexasHouseRound, entry: DealtEntry, command: ResultCorrect
) -> tuple[TexasHouseRound, DealtEntry, ResultCorrect]:
    """Correct a hand that was reported as folded but played. The correction must name its
    cards, and if no other hand played, also the bank's and all common cards. Raises
    ``RejectedError``.
    """
    for who, decision in (command.decisions or {}).items():
        if (deal.spoke.get(who), decision) != ("pass", "go"):
            raise RejectedError("decision_not_wrong", who=who, round=deal.round, decision=decision)
    if not command.decisions:
        return deal, entry, command
    own = turn.book.deal.count("boxes")
    sizes = dict.fromkeys((DEALER, *command.decisions), own) | {BOARD: sum(turn.book.board)}
    if "go" in deal.spoke.values():
        sizes = dict.fromkeys(command.decisions, own)  # all else lay open
    there = came_to_lie(entry, command, sizes)
    lie = {hand.who: len(hand.cards) for hand in there.hands}
    if lacking := [who for who, size in sizes.items() if lie.get(who) != size]:
        raise RejectedError("hands_also_required", hands=tuple(lacking))
    return replace(deal, spoke={**deal.spoke, **command.decisions}), there, command


def _lie(turn: TexasHouseTurn) -> dict[str, tuple[str, ...]]:
    """The face-up cards of the hands and the board, by name."""
    table = turn.current.cards
    own = {
        who: on_table.up(table, who) for who in (DEALER, *boxes(turn)) if on_table.is_up(table, who)
    }
    return own | {BOARD: on_table.up(table, BOARD)}


def _awards(turn: TexasHouseTurn, deal: TexasHouseRound, lie: Cards) -> tuple[AwardQualified, ...]:
    flop = lie[BOARD][: turn.book.board[0]]
    found = []
    for bettor in deal.bonus:
        who = hand_of(bettor)
        if who not in lie or deal.spoke.get(who) != "go" or not flop:
            continue
        hand_value, odds = bonus(turn.book, lie[who], flop)
        if odds is not None:
            found.append(
                AwardQualified(
                    round=deal.round,
                    award="txb",
                    box=bettor,
                    hand=hand_value.category,
                    cards=hand_value.cards,
                    pays=odds,
                )
            )
    return tuple(found)


def outcome(turn: TexasHouseTurn, deal: TexasHouseRound, lie: Cards) -> PokerOutcome:
    """The outcome of every bet. The bank's hand is included if any player made the second
    bet.
    """
    bank = (
        best_of(lie[DEALER], lie[BOARD], turn.book.ranking) if "go" in deal.spoke.values() else None
    )
    shown = (
        ()
        if bank is None
        else (Hand(who=DEALER, cards=lie[DEALER], kind=bank.category, best=bank.cards),)
    )
    plays = bank is not None and reaches(bank, turn.book.qualifies, turn.book.ranking)
    return PokerOutcome(
        hands=(
            *shown,
            Hand(who=BOARD, cards=lie[BOARD]),
            *(_result(turn, deal, f"box:{box}", lie, bank) for box in deal.boxes),
        ),
        marks=() if bank is None else ("dealer_qualifies",) if plays else ("dealer_not_qualified",),
        awards=_awards(turn, deal, lie),
    )


def _result(
    turn: TexasHouseTurn, deal: TexasHouseRound, who: str, lie: Cards, bank: Value | None
) -> Hand:
    word, supplement = deal.spoke[who], who in map(hand_of, deal.bonus)
    if word == "touched":
        return Hand(who=who, cards=())
    lost = (Settled(bet="txb", outcome="lose"),) if supplement else ()
    if word == "pass":
        return Hand(
            who=who,
            cards=(),
            outcome="lose",
            settled=(Settled(bet="ante", outcome="lose"), *lost),
        )
    mine = best_of(lie[who], lie[BOARD], turn.book.ranking)
    assert mine is not None
    assert bank is not None
    bets: tuple[Settled, ...] = settled(turn.book, mine, bank)
    if supplement:
        odds = bonus(turn.book, lie[who], lie[BOARD][: turn.book.board[0]])[1]
        bets = (
            (*bets, *lost)
            if odds is None
            else (*bets, Settled(bet="txb", outcome="win", pays=odds))
        )
    outcome = bets[0].outcome
    assert outcome in ("win", "lose", "tie")
    return Hand(
        who=who,
        cards=lie[who],
        kind=mine.category,
        best=mine.cards,
        outcome=outcome,
        settled=bets,
    )


class TexasHouseTurn(BankedTurn[TexasHouse, TexasHouseSettings, TexasHouseState, TexasHouseRound]):
    """One step of a table of Texas hold'em against the house."""

    course = moves.course(advance=advance, faces_up=faces_up, new_round=new_round)
    banked = BankedRules(
        after_deal=after_deal,
        begin_deal=begin_deal,
        exposed=exposed,
        error=error,
        unshowable=unshowable,
        outcome=outcome,
        missing=missing,
        decides=True,
        void_if_seen=void_if_seen,
        correctable=correctable,
        amended=amended,
        awarded=awarded,
    )
