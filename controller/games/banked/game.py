"""What games in which boxes play one deck against the house, or against the holder of the bank,
have in common in their state machines.

Bets open and close by a person's key; then cards come, face down, where the rules say: read one by
one by a shoe, in packets from a shuffler, or dealt by hand. A hand becomes known when a person
turns it (``cards.turn``, if a reader knows it) or names it (``cards.show``). Where to read on:
``banked.moves`` for the moves, ``banked.readings`` for what devices say, ``banked.commands`` for
what people say, ``dealt.cards`` for the cards on the table.
"""

from __future__ import annotations

from typing import Any

from common import readings as device
from common.contract import commands as person
from common.contract.shown import Cards
from controller.games import talla
from controller.games.banked import commands, readings
from controller.games.banked.state import BankedDeal
from controller.games.dealt import cards as on_table
from controller.games.dealt import game as dealt
from controller.games.dealt.arrivals import on_card
from controller.games.machine import SILENCES, AnyMachine, Inputs

INPUTS = Inputs(
    readings={
        device.CardDrawn: on_card,
        device.ShufflerPacket: readings.on_packet,
        device.ShufflerVerdict: readings.on_verdict,
        device.ShufflerState: readings.on_state,
        device.ShoeFault: talla.report_fault,
        device.ShoeReset: readings.on_reset,
        **dict.fromkeys(SILENCES, readings.on_silence),
    },
    commands=commands.COMMANDS,
    leaves_out={
        person.RoundConfirm: ("number", "winner", "dice"),
        person.ResultCorrect: ("number", "winner", "dice", "decisions"),
        person.BetsClose: ("banco",),
        person.RoundVoid: ("alone",),
        person.CardsShow: ("low",),
        person.CardDecide: ("fault",),
    },
)


def common(game: AnyMachine, state: Any) -> dict[str, Any]:
    """The fields of ``BankedShown``: the retained state of every such table."""
    deal: BankedDeal | None = state.current
    return dealt.common(game, state) | {
        "boxes": state.boxes,
        "hands": _hands(deal) if deal else {},
    }


def _hands(deal: BankedDeal) -> dict[str, Cards]:
    """The cards of each hand; null for a face-down card."""
    names = dict.fromkeys(card.to for card in deal.cards if not card.gone)
    return {
        who: tuple(card.card if card.up else None for card in on_table.hand(deal.cards, who))
        for who in names
    }
