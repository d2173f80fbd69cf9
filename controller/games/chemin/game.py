"""Chemin de fer and two-cloth baccarat: one state machine; the rulebook makes the difference.

A round begins when the bank is called (``round.opened``), its bets close (``bets.closed``), and the
banker deals one card at a time to each hand and to himself, twice, face down (``card.dealt``
without a card). Hands act in order, the bank last (``hand.decided``); third cards are dealt face
up. When all cards are face up (``card.turned``) the round has its ``round.result``. The machine
reveals nothing that nobody at the table has seen yet, even if it knows it: a wrong decision is
found when cards are turned.

Where to read on: ``chemin.readings`` for what the shoe reports; ``chemin.commands``,
``chemin.words`` and ``chemin.errors`` for what a person commands; ``chemin.course`` for what
follows by itself; ``chemin.hands`` for the rules as pure functions; ``chemin.turn`` for the moves
that all consist of; ``chemin.state`` for what is remembered.
"""

from __future__ import annotations

import msgspec

from controller.contract import commands as person
from controller.contract.events import AnyEvent
from controller.contract.history import AnyLine
from controller.contract.shown import CheminShown, LastBaccarat
from controller.games import shoe, stakes, talla
from controller.games.chemin import commands, errors, readings, words
from controller.games.chemin.hands import cards_of, next_dealt, next_to_act, shows
from controller.games.chemin.settings import CheminSettings
from controller.games.chemin.state import SHOWN, CheminEntry, CheminState
from controller.games.chemin.turn import CheminTurn
from controller.games.machine import SILENCES, Inputs, Machine
from controller.games.rounds import line
from controller.games.session import announce_last_rounds
from controller.rulebooks.chemin import Chemin
from devices import readings as device

INPUTS = Inputs(
    readings={
        device.CardDrawn: readings.take_card,
        device.CardCut: readings.take_cut,
        device.ShoeReset: readings.take_reset,
        device.ShoeFault: readings.take_fault,
        **dict.fromkeys(SILENCES, readings.take_silence),
    },
    in_charge={
        person.SessionOpen: commands.open_session,
        person.SessionClose: talla.close_session,
        person.CardDecide: errors.decide,
        person.RoundVoid: commands.void,
        person.RoundConfirm: commands.confirm,
        person.ResultCorrect: commands.correct,
    },
    at_the_table={
        person.ShoeStart: commands.start_shoe,
        person.ShoeEnd: commands.end_shoe,
        person.BetsOpen: commands.open_bets,
        person.BetsClose: commands.close_bets,
        person.BetPlace: stakes.place_bet,
        person.BetWithdraw: stakes.withdraw_bet,
        person.TableFollow: commands.follow_table,
        person.HandDraw: words.draw,
        person.HandStand: words.stand,
        person.CardsTurn: words.turn_cards,
        person.LastRoundsAnnounce: announce_last_rounds,
    },
)


class CheminGame(Machine[Chemin, CheminSettings, CheminState, CheminTurn]):
    """The game under one decree with one table's settings. Raises ``ValueError`` for settings that
    the decree does not allow.
    """

    state_type = CheminState
    turn_type = CheminTurn
    inputs = INPUTS

    def __init__(self, book: Chemin, settings: CheminSettings) -> None:
        if settings.modality not in book.deductions:
            raise ValueError(
                f"modality: the decree has {', '.join(book.deductions)}: {book.article}"
            )
        super().__init__(book, settings)

    def confidential(
        self,
        state: CheminState,
        given: device.AnyReading | person.AnyCommand,
        events: tuple[AnyEvent, ...],
    ) -> bool:
        """The shoe's verdict on a round in progress is confidential too."""
        if isinstance(given, device.ShoeResult | device.ShoeFault):
            return state.current is not None
        return super().confidential(state, given, events)

    def show(self, state: CheminState) -> CheminShown:
        """The retained state: of the cards, those face up."""
        coup = state.current
        turn = self.turn(state)
        last = state.last_result()
        free = self.settings.modality == "free"
        return CheminShown(
            phase=self._phase(turn),
            session=state.session,
            round=state.round,
            asks=tuple(turn.asks()),
            to_act=next_to_act(self.book, coup) if coup else None,
            expected=state.expected,
            hands={
                who: tuple(card.told for card in cards_of(coup, who)) for who in self.book.everyone
            }
            if coup
            else {},
            words=dict(coup.words) if coup else {},
            table_followed=bool(coup and coup.table) or self.settings.banker == "table",
            bets=stakes.shown(coup),
            unresolved=tuple(entry.round for entry in state.unresolved()),
            last_result=_last(last) if last else None,
            last_rounds=state.last,
            shoe=shoe.show(state.shoe),
            players=self.book.players,
            deduction=self.book.deductions[self.settings.modality],
            minimum=state.minimum,
            bank_maximum=_times(state.minimum, 0 if free else self.book.bank_maximum),
            garage=_times(state.minimum, self.book.garage),
            currency=state.currency,
            settings=msgspec.to_builtins(self.settings),
        )

    def history(self, state: CheminState) -> list[AnyLine]:
        """The latest rounds of the session, oldest first."""
        return [
            line(entry, entry.outcome if entry.kind == "result" else None)
            for entry in state.entries[-SHOWN:]
        ]

    def _phase(self, turn: CheminTurn) -> str:
        """``closed``, ``no_shoe``, ``shoe_over``, ``waiting`` for bets, ``bets_open``, ``dealing``,
        ``words``, ``showing``, ``decision``.
        """
        state, coup = turn.state, turn.state.current
        if not state.open:
            return "closed"
        if turn.asks():
            return "decision"
        if coup is None:
            return (
                "no_shoe" if state.shoe is None else "shoe_over" if state.shoe.over else "waiting"
            )
        if not coup.closed:
            return "bets_open"
        if next_dealt(self.book, coup) is not None:
            return "dealing"
        return "showing" if shows(self.book, coup) else "words"


def _times(minimum: int | None, factor: int) -> int | None:
    return minimum * factor if minimum is not None and factor else None


def _last(entry: CheminEntry) -> LastBaccarat:
    return LastBaccarat(
        winner=entry.winner,
        hands={hand.who: (hand.points, hand.outcome) for hand in entry.hands},
    )
