"""Games in which boxes play one deck against the house or whoever has the bank: what their state
machines have in common.

Bets open and close by a person's key; then cards come, face down, where the rules say: read one by
one by a shoe, in packets from a shuffler, or dealt by hand. What a hand is, is known when a person
turns it (``cards.turn``, where a reader knows it) or tells it (``cards.show``). Where to read on:
``banked.turn`` for the moves, ``banked.readings`` for what devices say, ``banked.commands`` for
what people say, ``dealt.cards`` for the cards on the table.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import msgspec

from controller.contract import commands as person
from controller.contract.shown import Cards
from controller.games import talla
from controller.games.banked import commands, readings
from controller.games.banked.state import BankedDeal, BankedState
from controller.games.banked.turn import BankedTurn
from controller.games.dealt import cards as on_table
from controller.games.machine import SILENCES, Inputs
from controller.games.poker.machine import PokerGame
from controller.games.session import announce_last_rounds
from devices import readings as device

INPUTS = Inputs(
    readings={
        device.CardDrawn: readings.take_card,
        device.ShufflerPacket: readings.take_packet,
        device.ShufflerVerdict: readings.take_verdict,
        device.ShufflerState: readings.take_state,
        device.ShoeFault: talla.heed_fault,
        device.ShoeReset: readings.take_reset,
        **dict.fromkeys(SILENCES, readings.take_silence),
    },
    in_charge={
        person.SessionOpen: commands.open_session,
        person.SessionClose: commands.close_session,
        person.DealError: commands.report_error,
        person.RoundVoid: commands.void,
        person.RoundConfirm: commands.confirm,
        person.ResultCorrect: commands.correct,
        person.CardDecide: commands.decide,
    },
    at_the_table={
        person.BoxesSet: commands.set_boxes,
        person.BetsOpen: commands.open_bets,
        person.BetsClose: commands.close_bets,
        person.CardsDeal: commands.deal_cards,
        person.CardsShow: commands.show_cards,
        person.CardsTurn: commands.turn_cards,
        person.DeckCheck: commands.check_deck,
        person.LastRoundsAnnounce: announce_last_rounds,
    },
    of_voiders=(person.RoundVoid, person.DealError),
)


class BankedGame(PokerGame[Any, Any, Any, Any]):
    """Such a game under one decree with one table's settings. A game names its own ``Turn``,
    ``State`` and inputs.
    """

    state_type: type[BankedState]
    turn_type: type[BankedTurn[Any, Any, Any]]
    inputs = INPUTS

    def asks(self, state: Any) -> tuple[str, ...]:
        """The commands one of which the table waits for."""
        asked: tuple[str, ...] = self.turn(state).asks()
        return asked

    def common(self, state: Any) -> dict[str, Any]:
        """What the retained state tells of every such table: the fields of ``BankedShown``."""
        deal: BankedDeal | None = state.deal
        return {
            "phase": self._phase(state),
            "session": state.session,
            "round": state.round,
            "asks": list(self.asks(state)),
            "expected": state.expected,
            "boxes": list(state.boxes),
            "hands": _hands(deal) if deal else {},
            "unresolved": [entry.round for entry in state.unresolved()],
            "last_rounds": state.last,
            "minimum": state.minimum,
            "currency": state.currency,
            "settings": msgspec.to_builtins(self.settings),
        }

    def _phase(self, state: Any) -> str:
        """``closed``, ``waiting`` for bets, ``bets_open``, ``decision``, ``dealing``, or as the
        game names it.
        """
        if not state.open:
            return "closed"
        if state.stop is not None:
            return "decision"
        if state.deal is None:
            return "waiting"
        if not state.deal.closed:
            return "bets_open"
        return "dealing" if state.deal.due else self.stage(state.deal)

    @abstractmethod
    def stage(self, deal: Any) -> str:
        """The phase after the deal."""


def _hands(deal: BankedDeal) -> dict[str, Cards]:
    """The cards of each hand; null for a face-down card."""
    names = dict.fromkeys(each.to for each in deal.table if not each.gone)
    return {
        who: tuple(each.card if each.up else None for each in on_table.hand(deal.table, who))
        for who in names
    }
