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
    Command,
    DealError,
    ResultCorrect,
    VoidReason,
)
from common.contract.events import AwardQualified, BetPlaced, Hand, Settled
from common.contract.refusals import RejectedError
from controller.games import stakes
from controller.games.banked.state import BankedDeal, BankedState
from controller.games.banked.turn import BankedTurn
from controller.games.dealt import cards as on_table
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry
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


class TexasHouseTurn(BankedTurn[TexasHouse, TexasHouseSettings, TexasHouseState]):
    """One step of a table of Texas hold'em against the house."""

    @property
    def current(self) -> TexasHouseRound:
        """The round in progress; the caller ensures that there is one."""
        assert self.state.current is not None
        return self.state.current

    def after_deal(self) -> Phase:
        """The phase after the deal: the players act, then hands are shown."""
        spoken = len(self.current.spoke) == len(self.current.boxes)
        return Phase.SHOWDOWN if spoken else Phase.PLAYERS

    def new_round(self, number: int) -> TexasHouseRound:
        """A new round with the boxes in play."""
        return TexasHouseRound(round=number, boxes=self.state.boxes)

    @property
    def boxes(self) -> tuple[str, ...]:
        """The players' hands, from the croupier's left."""
        return tuple(f"box:{box}" for box in self.current.boxes)

    @property
    def going(self) -> tuple[str, ...]:
        """The hands that made the second bet and play against the bank."""
        return tuple(who for who in self.boxes if self.current.spoke.get(who) == "go")

    @property
    def first(self) -> Order:
        """The order up to the flop: players and bank card by card, then the flop."""
        order = [who for to in self.book.deal for who in (self.boxes if to == "boxes" else (to,))]
        return (*order, *[BOARD] * self.book.board[0])

    def begin_deal(self) -> None:
        """Set the dealing order up to the flop."""
        self.change_current(order=self.first)
        bonus = tuple(who for who in self.current.bonus if hand_of(who) in self.boxes)
        self.change_current(bonus=bonus)

    def faces_up(self, who: str) -> bool:
        """Only common cards are dealt face up."""
        return who == BOARD

    def void_if_seen(self, who: str) -> Law | None:
        """A card of the bank voids the round if the table is set so."""
        return (
            self.book.void["card_exposed"]
            if self.settings.misdeal == "void" and who == DEALER
            else None
        )

    def exposed(self, who: str) -> None:
        """Void the round for a card of the bank; report a player's card and play on."""
        if who == DEALER:
            self.void(self.current.round, "card_exposed", self.book.void["card_exposed"])
        else:
            self.irregular("card_exposed", detail=who)

    def error(self, command: DealError) -> None:
        """Act on a player's exposed card or on hands that touched. Play continues after a corrected
        error; a person decides on any other.
        """
        who = command.who or ""
        if command.error in ("exposed", "touched") and who in self.boxes:
            if not on_table.hand(self.current.cards, who):
                raise RejectedError("no_cards", who=who)
            if command.error == "touched":
                self._withdraw(who, "touched")
                self.irregular("hands_touched", detail=who)
                return
            if command.index is not None:
                self.put(on_table.turn(self.current.cards, who, command.index))
            self.exposed(who)
        elif command.recoverable and self.correctable():
            self.irregular("deal_error", detail=f"{command.error}, put right")
        else:
            self.doubt("deal_error", detail=command.error)

    def correctable(self) -> bool:
        """A dealing error may be corrected until the first player acts."""
        return not self.current.spoke

    def act(self, who: str, action: Literal["go", "pass"], by: str) -> None:
        """Record that a player makes the second bet or folds."""
        if self.current.due:
            raise RejectedError("cards_not_dealt")
        if who not in self.boxes:
            raise RejectedError("no_hand", who=who)
        if who in self.current.spoke:
            raise RejectedError("already_acted", who=who)
        self.decided(who, action, by)
        if action == "pass":
            self._withdraw(who, "pass")
        else:
            self.change_current(spoke={**self.current.spoke, who: action})

    def takes_back(self) -> bool:
        """Whether decisions may be withdrawn: the turn card is not dealt and no hand is face up."""
        cards = self.current.cards
        return len(cards) <= len(self.first) and not any(
            on_table.is_up(cards, place) for place in (DEALER, *self.boxes)
        )

    def take_back(self, who: str, action: Literal["go", "pass"], by: str) -> None:
        """Withdraw a player's decision, unless the turn card is dealt or a hand is face up."""
        if self.current.spoke.get(who) != action:
            raise RejectedError("not_the_last_action", who=who, action=action)
        if not self.takes_back():
            raise RejectedError("too_late_to_withdraw")
        spoke = {player: word for player, word in self.current.spoke.items() if player != who}
        table = (
            on_table.restore(self.current.cards, who) if action == "pass" else self.current.cards
        )
        self.change_current(spoke=spoke, cards=table, order=self.first)
        self.decided(who, action, by, valid=False)

    def bet(self, command: BetPlace | BetWithdraw) -> None:
        """Place or withdraw the supplementary bet before bets close, of the player at a box
        (``box:1``) or of one who bets on his hand (``box:1/2``).
        """
        who, placed = command.who, isinstance(command, BetPlace)
        self.require_bettor(command)
        own = (who,) if placed else ()
        self.change_current(
            bonus=(*(bettor for bettor in self.current.bonus if bettor != who), *own)
        )
        self.emit(
            BetPlaced(
                round=self.current.round,
                who=who,
                bet="txb",
                withdrawn=not placed,
                amount=command.amount if isinstance(command, BetPlace) else None,
                by=command.by,
            )
        )

    def require_bettor(self, command: BetPlace | BetWithdraw) -> None:
        """Reject a player who may not place or withdraw this bet."""
        who, placed = command.who, isinstance(command, BetPlace)
        if hand_of(who) not in self.boxes:
            raise RejectedError("who_not_in_play", who=who, hands=self.boxes)
        stakes.bettor(who, self.book.boxes, self.book.bets_per_box)
        if placed == (who in self.current.bonus):
            raise RejectedError(
                "bet_already_placed" if placed else "bet_not_placed", who=who, bet="txb"
            )

    def _withdraw(self, who: str, word: Word) -> None:
        self.change_current(
            spoke={**self.current.spoke, who: word}, cards=on_table.drop(self.current.cards, who)
        )

    def unshowable(self, who: str) -> RejectedError | None:
        """Why this hand may not be shown now: players once all have acted, the
        bank once the river is dealt.
        """
        if len(self.current.spoke) < len(self.boxes):
            return RejectedError("decisions_missing")
        if who == DEALER and self.current.due:
            return RejectedError("cards_not_dealt")
        if who not in (DEALER, *self.going):
            return RejectedError("no_hand", who=who)
        return None

    def missing(self) -> tuple[str, ...]:
        """The covered hands of the bank and of its opponents, once all players have acted."""
        if len(self.current.spoke) < len(self.boxes) or not self.going:
            return ()
        return tuple(
            who for who in (DEALER, *self.going) if not on_table.is_up(self.current.cards, who)
        )

    def advance(self) -> None:
        """Ask for an unread common card; award bonus bets; once all have acted, deal turn and
        river, then publish the result.
        """
        if (
            any(not card.up for card in on_table.hand(self.current.cards, BOARD))
            and self.state.doubt is None
        ):
            self.doubt("card_unread", about=BOARD, detail=BOARD)
        if self.state.stop is not None:
            return
        self._award()
        if self.current.due or len(self.current.spoke) < len(self.boxes):
            return
        if not self.going:
            self.result(self.outcome(self.current, self._lie()))
        elif self.current.order.count(BOARD) < sum(self.book.board):
            self.change_current(order=(*self.current.order, *[BOARD] * sum(self.book.board[1:])))
        elif not self.missing():
            self.result(self.outcome(self.current, self._lie()))

    def _award(self) -> None:
        """Publish each winning supplementary bet once its hand is face up."""
        if len(self.current.spoke) < len(self.boxes):
            return
        before, now = self.current.awarded, self._awards(self.current, self._lie())
        self.change_current(awarded=now)
        emit_awards(self, before, now)

    def void(self, number: int, reason: VoidReason, law: Law, by: Command | None = None) -> None:
        """Void the round and every supplementary bet already published as won."""
        evidence = (
            self.state.current.awarded
            if self.state.current and self.state.current.round == number
            else ()
        )
        super().void(number, reason, law, by)
        emit_awards(self, evidence, ())

    decides = True

    def amended(
        self, deal: TexasHouseRound, entry: DealtEntry, command: ResultCorrect
    ) -> tuple[TexasHouseRound, DealtEntry, ResultCorrect]:
        """Correct a hand that was reported as folded but played. The correction must name its
        cards, and if no other hand played, also the bank's and all common cards. Raises
        ``RejectedError``.
        """
        for who, decision in (command.decisions or {}).items():
            if (deal.spoke.get(who), decision) != ("pass", "go"):
                raise RejectedError(
                    "decision_not_wrong", who=who, round=deal.round, decision=decision
                )
        if not command.decisions:
            return deal, entry, command
        own = self.book.deal.count("boxes")
        sizes = dict.fromkeys((DEALER, *command.decisions), own) | {BOARD: sum(self.book.board)}
        if "go" in deal.spoke.values():
            sizes = dict.fromkeys(command.decisions, own)  # all else lay open
        there = came_to_lie(entry, command, sizes)
        lie = {hand.who: len(hand.cards) for hand in there.hands}
        if lacking := [who for who, size in sizes.items() if lie.get(who) != size]:
            raise RejectedError("hands_also_required", hands=tuple(lacking))
        return replace(deal, spoke={**deal.spoke, **command.decisions}), there, command

    def _lie(self) -> dict[str, tuple[str, ...]]:
        """The face-up cards of the hands and the board, by name."""
        table = self.current.cards
        own = {
            who: on_table.up(table, who)
            for who in (DEALER, *self.boxes)
            if on_table.is_up(table, who)
        }
        return own | {BOARD: on_table.up(table, BOARD)}

    def _awards(self, deal: TexasHouseRound, lie: Cards) -> tuple[AwardQualified, ...]:
        flop = lie[BOARD][: self.book.board[0]]
        found = []
        for bettor in deal.bonus:
            who = hand_of(bettor)
            if who not in lie or deal.spoke.get(who) != "go" or not flop:
                continue
            hand_value, odds = bonus(self.book, lie[who], flop)
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

    def outcome(self, deal: TexasHouseRound, lie: Cards) -> PokerOutcome:
        """The outcome of every bet. The bank's hand is included if any player made the second
        bet.
        """
        bank = (
            best_of(lie[DEALER], lie[BOARD], self.book.ranking)
            if "go" in deal.spoke.values()
            else None
        )
        shown = (
            ()
            if bank is None
            else (Hand(who=DEALER, cards=lie[DEALER], kind=bank.category, best=bank.cards),)
        )
        plays = bank is not None and reaches(bank, self.book.qualifies, self.book.ranking)
        return PokerOutcome(
            hands=(
                *shown,
                Hand(who=BOARD, cards=lie[BOARD]),
                *(self._result(deal, f"box:{box}", lie, bank) for box in deal.boxes),
            ),
            marks=()
            if bank is None
            else ("dealer_qualifies",)
            if plays
            else ("dealer_not_qualified",),
            awards=self._awards(deal, lie),
        )

    def _result(self, deal: TexasHouseRound, who: str, lie: Cards, bank: Value | None) -> Hand:
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
        mine = best_of(lie[who], lie[BOARD], self.book.ranking)
        assert mine is not None
        assert bank is not None
        bets: tuple[Settled, ...] = settled(self.book, mine, bank)
        if supplement:
            odds = bonus(self.book, lie[who], lie[BOARD][: self.book.board[0]])[1]
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
