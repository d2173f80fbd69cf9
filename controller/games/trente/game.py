"""Trente et quarante: one state machine; the rulebook makes the difference.

A coup is a round. A shoe begins with ``shoe.start``; then bets open (``round.opened``) and close
(``bets.closed``), and cards go face up to the black row until it makes 31 or more, then to the red
one (``card.dealt``, ``card.expected``), until ``round.result``. The cut card voids the round in
progress and ends the shoe: the last five cards are counted, face down.

Where to read on: ``trente.rows`` for what wins, ``trente.readings`` for what the shoe reports,
``trente.commands`` for what a person commands, ``trente.turn`` for the moves that both consist of,
``trente.state`` for what is remembered.
"""

from __future__ import annotations

import msgspec

from controller.contract import commands as person
from controller.contract.history import AnyLine
from controller.contract.shown import TrenteShown
from controller.games import coups, shoe, stakes, talla
from controller.games.machine import SILENCES, Inputs, Machine
from controller.games.rounds import line
from controller.games.trente import commands, readings, refait
from controller.games.trente.rows import ROWS, points, rows
from controller.games.trente.settings import TrenteSettings
from controller.games.trente.state import SHOWN, TrenteState
from controller.games.trente.turn import TrenteTurn
from controller.games.zero import choices
from controller.rulebooks.trente import Trente
from devices import readings as device

INPUTS = Inputs(
    readings={
        device.CardDrawn: readings.take_card,
        device.CardCut: readings.take_cut,
        device.ShoeReset: readings.take_reset,
        device.ShoeFault: talla.take_fault,
        **dict.fromkeys(SILENCES, readings.take_silence),
    },
    in_charge={
        person.SessionOpen: coups.open_session,
        person.SessionClose: talla.close_session,
        person.CardDecide: commands.decide,
        person.RoundVoid: commands.void,
        person.RoundConfirm: commands.confirm,
        person.ResultCorrect: commands.correct,
    },
    at_the_table={
        person.ShoeStart: commands.start_shoe,
        person.ShoeEnd: coups.end_shoe,
        person.BetsOpen: commands.open_bets,
        person.BetsClose: commands.close_bets,
        person.BetPlace: stakes.place_bet,
        person.BetWithdraw: stakes.withdraw_bet,
        person.LastRoundsAnnounce: commands.announce_last,
    },
)


class TrenteGame(Machine[Trente, TrenteSettings, TrenteState, TrenteTurn]):
    """The game under one decree with one table's settings. The last five cards are face down, and
    confidential.
    """

    state_type = TrenteState
    turn_type = TrenteTurn
    inputs = INPUTS

    def __init__(self, book: Trente, settings: TrenteSettings) -> None:
        stakes.refuse_unknown(settings.highest, ("chances",))
        super().__init__(book, settings)

    def show(self, state: TrenteState) -> TrenteShown:
        """The retained state."""
        on_table = _on_table(state)
        last = state.last_result()
        return TrenteShown(
            phase=_phase(state),
            session=state.session,
            round=state.round,
            asks=tuple(state.asks),
            expected=state.expected,
            rows={row: tuple(own) for row, own in zip(ROWS, on_table, strict=True)},
            points={row: points(own) for row, own in zip(ROWS, on_table, strict=True)},
            unresolved=tuple(entry.round for entry in state.unresolved()),
            bets=stakes.shown(state.current),
            last_winner=last.winner if last else None,
            last_marks=last.marks if last else (),
            refaits=refait.running(state),
            refait_choices=tuple(
                choices(self.settings.refait, last_of_session=state.is_last(state.round))
            ),
            last_rounds=state.last,
            shoe=shoe.show(state.shoe),
            settlement=self.book.settlement,
            insurance=self.book.insurance,
            limits=self.book.limits,
            minimum=state.minimum,
            currency=state.currency,
            settings=msgspec.to_builtins(self.settings),
        )

    def history(self, state: TrenteState) -> list[AnyLine]:
        """The latest rounds of the session, oldest first."""
        return [
            line(
                entry,
                refait.outcome(state, self.settings, entry) if entry.kind == "result" else None,
                corrected=entry.corrected,
            )
            for entry in state.entries[-SHOWN:]
        ]


def _on_table(state: TrenteState) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The rows on the table: of the round in progress, or of the last result until the next round
    begins.
    """
    if state.current is not None:
        return rows(state.current.known)
    last = state.entry(state.round)
    black, red = (
        (hand.cards for hand in last.hands) if last is not None and last.hands else ((), ())
    )
    return black, red


def _phase(state: TrenteState) -> str:
    """``closed``, ``no_shoe``, ``waiting`` for bets, ``bets_open``, ``dealing``, ``decision``,
    ``shoe_over``.
    """
    if not state.open:
        return "closed"
    if state.asks:
        return "decision"
    if state.shoe is None:
        return "no_shoe"
    if state.current is not None:
        return "dealing" if state.current.closed else "bets_open"
    return "shoe_over" if state.shoe.over else "waiting"
