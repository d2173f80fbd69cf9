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
from controller.games.banked.state import BankedDeal, BankedState
from controller.games.banked.turn import BankedTurn
from controller.games.dealt import cards as on_table
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry
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


class PaiGowTurn(BankedTurn[PaiGow, PaiGowSettings, PaiGowState]):
    """One step of a table of pai gow."""

    trusts_places = False  # where the first packet goes the dice say

    @property
    def current(self) -> PaiGowRound:
        """The round in progress; there is one."""
        assert self.state.current is not None
        return self.state.current

    @property
    def bank(self) -> int:
        """The position that has the bank."""
        return croupier(self.book) if self.state.bank is None else self.state.bank

    def after_deal(self) -> Phase:
        """The phase after the deal: dice before it, setting, then showing."""
        if not self.current.dice:
            return Phase.DICE
        return Phase.SETTING if len(self.current.set) < len(self.current.boxes) else Phase.SHOWDOWN

    def new_round(self, number: int) -> PaiGowRound:
        """A round of the boxes in play."""
        return PaiGowRound(round=number, boxes=self.state.boxes, bank=self.bank)

    def move_bank(self, to: int, by: str) -> None:
        """The bank goes to a position."""
        self.change(bank=to)
        self.emit(ButtonMoved(seat=to, by=by))

    # Dice and deal

    @property
    def places_in_play(self) -> tuple[int, ...]:
        """The positions in play."""
        return (*self.current.boxes, croupier(self.book))

    @property
    def players(self) -> tuple[str, ...]:
        """The hands that play: the croupier's, then those compared with it or with the bank's, the
        bank's first.
        """
        return self._players(self.current)

    def _players(self, deal: PaiGowRound) -> tuple[str, ...]:
        boxes = sorted(deal.boxes, key=lambda box: box != deal.bank)
        return (DEALER, *(who_at(self.book, box) for box in boxes))

    def unplayable(self) -> RejectedError | None:
        """Why no round can be played: not unless the bank's position is in play."""
        if self.bank not in (*self.state.boxes, croupier(self.book)):
            return RejectedError("bank_not_in_play", who=who_at(self.book, self.bank))
        return None

    def begin_deal(self) -> None:
        """Wait for the dice, which decide where the deal begins."""

    def throw(self, values: tuple[int, ...]) -> None:
        """Deal clockwise from the hand that the dice choose."""
        start = counted(self.book, self.current.bank, sum(values))
        served = positions(self.book) if self.settings.hands == "positions" else self.places_in_play
        names = [who_at(self.book, position) for position in clockwise(self.book, start, served)]
        self.change_current(
            dice=values, order=poker_deal.deal(names, self.book.hand, self.settings.dealt)
        )
        self.emit(
            DiceThrown(round=self.current.round, values=values, total=sum(values), seat=start)
        )

    def too_early(self) -> str | None:
        """No card comes before the dice."""
        return None if self.current.dice else "card_before_dice"

    def faces_up(self, who: str) -> bool:  # noqa: ARG002
        """All cards are dealt face down."""
        return False

    def exposed(self, who: str) -> None:
        """Leave it to the person in charge: no section provides for an exposed card."""
        self.doubt("card_exposed", detail=who)

    def error(self, command: DealError) -> None:
        """Leave it to the person in charge: no section provides for an error of dealing."""
        who = command.who or ""
        if command.error == "exposed" and on_table.hand(self.current.cards, who):
            if command.index is not None:
                self.put(on_table.turn(self.current.cards, who, command.index))
            self.doubt("dealer_early" if who == DEALER else "card_exposed", detail=who)
        else:
            self.doubt("deal_error", detail=command.error)

    # The cards that are over

    def counted(self) -> int:
        """The number of cards left after the deal."""
        deal = self.state.current
        return (
            len(self.deck) - len(deal.cards)
            if deal is not None and deal.cards and not deal.due
            else len(self.deck)
        )

    def judge(self, right: bool) -> None:
        """Record a count: after the deal, of the left cards."""
        deal = self.state.current
        if deal is None or not deal.cards or deal.due:
            super().judge(right)
        elif right:
            self.resolve("leftover_wrong", "leftover_unchecked")
            self.change_current(left=True)
        else:
            self.doubt("leftover_wrong", detail=f"{self.counted()} must be over")

    def continue_despite(self) -> None:
        """Accept a wrong number of cards."""
        if self.state.doubt == "leftover_wrong":
            self.change_current(left=True)

    # Hands are set, and lie open

    def set_hand(self, who: str, by: str) -> None:
        """Record that a player has set his hand in two, face down."""
        if not self.current.dice or self.current.due:
            raise RejectedError("cards_not_dealt")
        if who not in self.players[1:]:
            raise RejectedError("no_hand", who=who)
        if who in self.current.set:
            raise RejectedError("already_acted", who=who)
        self.change_current(set=(*self.current.set, who))
        self.decided(who, "set", by)

    def unset_hand(self, who: str, by: str) -> None:
        """Withdraw that a player has set the hand; refused once a hand is face up."""
        if who not in self.current.set:
            raise RejectedError("not_the_last_action", who=who, action="set")
        if self.current.low:
            raise RejectedError("too_late_to_withdraw")
        self.change_current(set=tuple(player for player in self.current.set if player != who))
        self.decided(who, "set", by, valid=False)

    def unshowable(self, who: str) -> RejectedError | None:
        """Why this hand may not be shown now: the croupier's follows when
        all others are set, then the rest.
        """
        if self.current.due:
            return RejectedError("cards_not_dealt")
        if who not in self.players:
            return RejectedError("no_hand", who=who)
        waits = [player for player in self.players[1:] if player not in self.current.set]
        if waits:
            return RejectedError(
                "hands_not_set", hands=tuple(waits), law=self.book.laws["dealer_early"].cited
            )
        return None

    def show(self, command: CardsShow, *, trust: bool = False) -> None:
        """Show a hand: its cards, and which of them are the low hand."""
        if command.index is not None:
            raise RejectedError("show_whole_hand")
        if not command.cards and on_table.is_known(self.current.cards, command.who):
            command = replace(command, cards=on_table.known(self.current.cards, command.who))
        if (
            not command.low
            or not set(command.low) < set(command.cards)
            or len(set(command.low)) < len(command.low)
        ):
            raise RejectedError("low_hand_required", who=command.who)
        bank = who_at(self.book, self.current.bank)
        if command.who not in (DEALER, bank, *self.current.low) and bank not in self.current.low:
            self.irregular("hand_early", detail=command.who)
        super().show(command, trust=trust)
        if self.state.doubt != "shown_differs":
            self.change_current(low={**self.current.low, command.who: command.low})

    def missing(self) -> tuple[str, ...]:
        """The hands that must still be turned face up, once all have set."""
        if len(self.current.set) < len(self.players) - 1:
            return ()
        return tuple(who for who in self.players if who not in self.current.low)

    def advance(self) -> None:
        """Put away the hands of empty places; publish the result once all hands are face up and the
        left cards were counted.
        """
        if not self.current.dice or self.current.due or self.state.stop is not None:
            return
        if not self.current.parted:
            self._part()
        if len(self.current.low) < len(self.players):
            return
        if self.current.left:
            self._decide()
        else:
            self.doubt("leftover_unchecked")

    def _part(self) -> None:
        self.change_current(parted=True)
        for who in dict.fromkeys(self.current.order):
            if who not in self.players:
                own = on_table.hand(self.current.cards, who)
                self.change_current(cards=on_table.drop(self.current.cards, who))
                for dealt in own:
                    card = dealt.card if dealt.up else None
                    self.emit(
                        CardRemoved(round=self.current.round, why="empty_place", card=card, to=who)
                    )

    # The result

    def _decide(self) -> None:
        made = self.outcome(
            self.current, {who: on_table.up(self.current.cards, who) for who in self.players}
        )
        for hand in made.hands:
            if hand.kind == WRONGLY_SET:
                self.irregular("hand_wrongly_set", detail=hand.who)
        self.result(made)

    def outcome(self, deal: PaiGowRound, lie: Mapping[str, tuple[str, ...]]) -> PokerOutcome:
        """The outcome of every hand against the bank's, or the croupier's, by the table of
        cases.
        """
        players = self._players(deal)
        values = {who: judged(self.book, lie[who], deal.low[who]) for who in players}
        bank = DEALER if self.settings.compared == "dealer" else who_at(self.book, deal.bank)
        shown = {who: _set_hand(who, lie[who], deal.low[who], values[who]) for who in players}
        return PokerOutcome(
            hands=tuple(
                shown[who] if who == bank else self._against(shown[who], values[who], values[bank])
                for who in players
            )
        )

    def _against(
        self, shown: Hand, mine: tuple[Value, Value] | None, theirs: tuple[Value, Value] | None
    ) -> Hand:
        outcome: Outcomes = (
            "lose"
            if mine is None
            else "win"
            if theirs is None
            else case_of(self.book, mine, theirs).outcome
        )
        net = Fraction(*self.book.pays) * (1 - Fraction(self.settings.commission, 1000))
        pays = (net.numerator, net.denominator) if outcome == "win" else None
        settled = (Settled(bet="bet", outcome=outcome, pays=pays),)
        return replace(shown, outcome="tie" if outcome == "void" else outcome, settled=settled)

    def amended(
        self, deal: PaiGowRound, entry: DealtEntry, command: ResultCorrect
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
