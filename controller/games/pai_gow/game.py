"""Pai gow: seven cards set in two hands, against those of the holder of the bank.

After "no more bets" three dice decide where the deal begins (``dice.read`` from a device,
``dice.tell``); after it the cards that are over are counted (``deck.check``), each player sets his
hand (``hand.act set``), then the croupier's hand is shown and the others' (``cards.show`` with
``low``), the bank's first. The result comes by itself. Seat 7 is the croupier's position. Where to
read on: ``pai_gow.table`` for positions and cases, ``pai_gow.turn`` for the rules,
``pai_gow.inputs`` for bank and dice, ``banked`` for what the game shares with others.
"""

from __future__ import annotations

from common.contract.commands import HandAct
from common.contract.shown import PaiGowShown
from controller.games.banked import game as banked
from controller.games.dealt import game as dealt
from controller.games.machine import Choices, Kind, Machine
from controller.games.pai_gow import inputs
from controller.games.pai_gow.settings import PaiGowSettings
from controller.games.pai_gow.table import croupier, who_at
from controller.games.pai_gow.turn import PaiGowState, PaiGowTurn
from controller.games.poker.machine import named
from controller.rulebooks.pai_gow import PaiGow


def prepare(book: PaiGow, settings: PaiGowSettings) -> PaiGow:
    """Return the page. Raise ``ValueError`` for settings that the decree does not allow."""
    if not 0 <= settings.commission <= book.commission:
        raise ValueError(
            f"commission = {settings.commission}: must be 0 to {book.commission} "
            f"thousandths: {book.article}"
        )
    return book


def choices(_game: PaiGowGame) -> Choices:
    """The choices of a hand."""
    return {HandAct: {"action": ("set",)}}


def show(game: PaiGowGame, state: PaiGowState) -> PaiGowShown:
    """The retained state; the commission is in it from the beginning of the session."""
    deal, bank = state.current, croupier(game.book) if state.bank is None else state.bank
    return PaiGowShown(
        **banked.common(game, state),
        bank=who_at(game.book, bank),
        dice=deal.dice if deal else (),
        set=deal.set if deal else (),
        low=dict(deal.low) if deal else {},
        leftover=deal.left if deal else False,
        commission=game.settings.commission,
    )


class PaiGowGame(Machine[PaiGow, PaiGowSettings, PaiGowState, PaiGowTurn]):
    """The game under one decree with one table's settings. Raises ``ValueError`` for settings that
    the decree does not allow.
    """

    kind = Kind(
        state_type=PaiGowState,
        turn_type=PaiGowTurn,
        inputs=inputs.INPUTS,
        prepare=prepare,
        show=show,
        history=dealt.history,
        choices=choices,
        named=named,
    )
