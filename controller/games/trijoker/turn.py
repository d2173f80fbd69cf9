"""One step of a table of trijoker: what it alone knows of the deal, the two decisions and the pay
table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from common.contract.commands import DealError
from common.contract.events import BetPlaced, Hand, Settled
from common.contract.refusals import RejectedError
from controller.games.banked.state import BankedDeal, BankedState
from controller.games.banked.turn import BankedTurn
from controller.games.dealt import cards as on_table
from controller.games.dealt.phases import Phase
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


class TrijokerTurn(BankedTurn[Trijoker, TrijokerSettings, TrijokerState]):
    """One step of a table of trijoker."""

    @property
    def current(self) -> TrijokerRound:
        """The round in progress; there is one."""
        assert self.state.current is not None
        return self.state.current

    def after_deal(self) -> Phase:
        """The phase after the deal: the first bet, the second, then the showdown."""
        return (Phase.FIRST_BET, Phase.SECOND_BET, Phase.SHOWDOWN)[self.current.turned]

    def new_round(self, number: int) -> TrijokerRound:
        """A round of the boxes in play."""
        return TrijokerRound(round=number, boxes=self.state.boxes)

    @property
    def boxes(self) -> tuple[str, ...]:
        """The hands of the players, from the croupier's left."""
        return tuple(f"box:{box}" for box in self.current.boxes)

    def begin_deal(self) -> None:
        """Set the order: players, left common card, players, right common card, players."""
        order = [who for to in self.book.deal for who in (self.boxes if to == "boxes" else (to,))]
        self.change_current(order=tuple(order))

    def faces_up(self, who: str) -> bool:
        """Whether a card is dealt face up: under one reading of the decree the players' first cards
        and the left common card.
        """
        first = not on_table.dealt(self.current.cards, who)
        return self.settings.face_up == "yes" and first and who != COMMON_PLACES[1]

    def exposed(self, who: str) -> None:
        """Handle an exposed card. After a player's card the round continues; for a common one it
        depends on the card.
        """
        if who not in COMMON_PLACES:
            self.irregular("card_exposed", detail=who)
            return
        self.put(on_table.turn(self.current.cards, who))
        seen = on_table.up(self.current.cards, who)
        if not seen:
            self.doubt("common_exposed", about=who, detail=who)
        else:
            self._seen(who, seen[0])

    def _seen(self, who: str, card: str) -> None:
        self.resolve("common_exposed")
        self.irregular("common_exposed", detail=who)
        if voids(self.book, card):
            self.void(self.current.round, "card_exposed", self.book.laws["common_exposed"])

    def error(self, command: DealError) -> None:
        """Handle an error of dealing: an exposed card; all others are for the person in charge."""
        if (
            command.error == "exposed"
            and command.fault == "player"
            and "hand_told" in self.book.laws
        ):
            self._forfeit(command.who or "")
            return
        if command.error != "exposed" or command.who is None:
            self.doubt("deal_error", detail=command.error)
            return
        if not on_table.hand(self.current.cards, command.who):
            raise RejectedError("no_cards", who=command.who)
        if command.who in COMMON_PLACES[: self.current.turned] or self._by_rule(command.who):
            raise RejectedError("up_by_the_rules", who=command.who)
        if command.who not in COMMON_PLACES and command.index is not None:
            self.put(on_table.turn(self.current.cards, command.who, command.index))
        self.exposed(command.who)

    def _forfeit(self, who: str) -> None:
        """Record that a player who showed or named cards loses all bets; the hand need not be
        shown.
        """
        if who not in self.boxes or who in self.current.told:
            raise RejectedError("who_not_in_play", who=who, hands=tuple(self.boxes))
        self.change_current(
            told=(*self.current.told, who), cards=on_table.drop(self.current.cards, who)
        )
        self.irregular("hand_told", detail=who)

    def unshowable(self, who: str) -> RejectedError | None:
        """Why it may not be shown: out of order: the left common card, the right one, then the
        players' hands.
        """
        if self.current.due:
            return RejectedError("cards_not_dealt")
        if who not in (*COMMON_PLACES, *self.boxes) or who in self.current.told:
            return RejectedError("no_hand", who=who)
        place = COMMON_PLACES.index(who) if who in COMMON_PLACES else len(COMMON_PLACES)
        if place > self.current.turned:
            return RejectedError("turned_first", who=COMMON_PLACES[self.current.turned])
        return None

    def faced(self, who: str) -> None:
        """Begin the next decision with a common card that was turned in order. A player who has not
        decided leaves the bet.
        """
        if self.state.doubt == "common_exposed":
            self._seen(who, on_table.up(self.current.cards, who)[0])
        elif who in COMMON_PLACES[self.current.turned :] and not self.current.due:
            self.change_current(turned=self.current.turned + 1, spoke=())

    def act(self, who: str, action: Literal["go", "withdraw"], by: str) -> None:
        """Record that a player leaves the bet of this decision or withdraws it."""
        if self.current.due or self.current.turned >= len(COMMON_PLACES):
            raise RejectedError("no_bet_to_withdraw")
        if who not in self.boxes:
            raise RejectedError("no_hand", who=who)
        if who in self.current.told:
            raise RejectedError("hand_lost", who=who)
        if who in self.current.spoke:
            raise RejectedError("already_acted", who=who)
        self.change_current(spoke=(*self.current.spoke, who))
        self.decided(who, action, by)
        if action == "withdraw":
            bet, own = self.book.bets[self.current.turned], self.current.withdrawn.get(who, ())
            self.change_current(withdrawn={**self.current.withdrawn, who: (*own, bet)})
            self.emit(BetPlaced(round=self.current.round, who=who, bet=bet, withdrawn=True, by=by))

    def take_back(self, who: str, action: Literal["go", "withdraw"], by: str) -> None:
        """Withdraw a player's decision; too late once the next common card is turned."""
        if who not in self.current.spoke:
            raise RejectedError("not_the_last_action", who=who, action=action)
        bet, own = self.book.bets[self.current.turned], self.current.withdrawn.get(who, ())
        decided_action = "withdraw" if bet in own else "go"
        if decided_action != action:
            raise RejectedError("not_the_last_action", who=who, action=action)
        self.change_current(spoke=tuple(player for player in self.current.spoke if player != who))
        self.decided(who, action, by, valid=False)
        if action == "withdraw":
            withdrawn = {**self.current.withdrawn, who: own[:-1]}
            self.change_current(
                withdrawn={player: bets for player, bets in withdrawn.items() if bets}
            )
            self.emit(BetPlaced(round=self.current.round, who=who, bet=bet, by=by))

    def missing(self) -> tuple[str, ...]:
        """The hands of all players, once the right common card is face up."""
        if self.current.turned < len(COMMON_PLACES):
            return ()
        return tuple(
            who
            for who in self.boxes
            if who not in self.current.told and not on_table.is_up(self.current.cards, who)
        )

    def advance(self) -> None:
        """Ask for a card that must be face up; publish the result once all hands are."""
        unread = [card for card in self.current.cards if not card.up and self._by_rule(card.to)]
        if unread and self.state.doubt is None:
            self.doubt("card_unread", about=unread[0].to, detail=unread[0].to)
        if (
            self.current.due
            or self.current.turned < len(COMMON_PLACES)
            or self.missing()
            or self.state.stop is not None
        ):
            return
        lie = {
            who: on_table.up(self.current.cards, who)
            for who in self.boxes
            if who not in self.current.told
        }
        common = tuple(
            card for who in COMMON_PLACES for card in on_table.up(self.current.cards, who)
        )
        self.result(self.outcome(self.current, lie | {COMMON_TOGETHER: common}))

    def outcome(self, deal: TrijokerRound, lie: Mapping[str, tuple[str, ...]]) -> PokerOutcome:
        """The outcome of every player against the pay table, with both common cards."""
        common = Hand(who=COMMON_TOGETHER, cards=lie[COMMON_TOGETHER])
        return PokerOutcome(
            hands=(*(self._result(deal, f"box:{box}", lie) for box in deal.boxes), common)
        )

    def _by_rule(self, who: str) -> bool:
        return self.settings.face_up == "yes" and who == COMMON_PLACES[0]

    def _result(self, deal: TrijokerRound, who: str, lie: Mapping[str, tuple[str, ...]]) -> Hand:
        made = (
            None
            if who in deal.told
            else value((*lie[who], *lie[COMMON_TOGETHER]), self.book.ranking)
        )
        odds = None if made is None else pays(self.book, made)
        back = deal.withdrawn.get(who, ())
        outcome: Literal["win", "lose"] = "lose" if odds is None else "win"
        settled = tuple(
            Settled(bet=bet, outcome="void")
            if bet in back
            else Settled(bet=bet, outcome=outcome, pays=odds)
            for bet in self.book.bets
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
