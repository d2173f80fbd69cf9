"""A small game with cards that lie face down: two of them are a round. Its exceptions name the
cards, as exceptions do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from common.contract.commands import (
    AnyCommand,
    BetsClose,
    CardDecide,
    CardsTurn,
    Role,
    SessionOpen,
    WitnessReport,
)
from common.contract.events import (
    AnyEvent,
    CardDealt,
    CardTurned,
    Hand,
    HousePokerOutcome,
    RoundResult,
    SessionOpened,
)
from common.contract.history import AnyLine, ResultLine
from common.contract.refusals import RejectedError
from common.contract.shown import Shown
from common.readings import AnyReading, CardDrawn, ShoeReset
from controller.games.game import GameView
from controller.games.rounds import GameState


class Cards(GameState, frozen=True, kw_only=True):
    cards: tuple[str | None, ...] = ()
    last: tuple[str | None, ...] = ()


class CardsShown(Shown, frozen=True, kw_only=True, tag="face-down"):
    expected: str | None
    cards: int


class FaceDown:
    state_type = Cards
    face_down = True
    jackpot_bet: str | None = None
    settled_by: Mapping[str, tuple[Role, ...]] = {}

    def read_witness_report(self, command: WitnessReport) -> int:
        raise RejectedError("unknown_command", command=str(command.round))

    def begin(self) -> Cards:
        return Cards()

    def step(
        self, state: Cards, given: AnyReading | AnyCommand
    ) -> tuple[Cards, tuple[AnyEvent, ...]]:
        match given:
            case SessionOpen():
                return state, (SessionOpened(by=given.by, role=given.role),)
            case CardDrawn() if len(state.cards) < 2:
                index = len(state.cards) + 1
                return replace(state, cards=(*state.cards, given.card)), (
                    CardDealt(to="player", index=index, card=None),
                )
            case CardsTurn():
                turned = tuple(
                    CardTurned(to="player", index=n, card=card)
                    for n, card in enumerate(state.cards, 1)
                    if card
                )
                hand = Hand(
                    who="player", cards=tuple(card for card in state.cards if card), points=0
                )
                return Cards(last=state.cards), (
                    *turned,
                    RoundResult(frames=(), outcome=HousePokerOutcome(hands=(hand,), marks=())),
                )
            case BetsClose() | ShoeReset():
                raise ValueError(f"a defect with {state.cards}")
        return state, ()

    def confidential(
        self,
        state: Cards,  # noqa: ARG002
        given: AnyReading | AnyCommand,
        events: tuple[AnyEvent, ...],  # noqa: ARG002
    ) -> bool:
        return isinstance(given, CardDrawn | CardDecide)

    def view(self, state: Cards) -> GameView:
        shown: Any = CardsShown(
            phase="",
            session=0,
            round=0,
            asks=(),
            minimum=None,
            currency=None,
            settings={},
            expected="player" if len(state.cards) < 2 else None,
            cards=len(state.cards),
        )
        return GameView(shown, (), partial(self._history, state))

    def _history(self, state: Cards) -> list[AnyLine]:
        hand = Hand(who="player", cards=tuple(card for card in state.last if card))
        return [
            ResultLine(round=1, outcome=HousePokerOutcome(hands=(hand,), marks=()), corrected=False)
        ]
