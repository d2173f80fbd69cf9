"""Punto y banca, at the full table, mini and midi: one state machine; the rulebook makes the
difference.

A coup is a round. A shoe begins with ``shoe.start`` and the burn; then bets open (``round.opened``)
and close (``bets.closed``), and four cards come: player, bank, player, bank (``card.dealt``). The
croupier turns them (``card.turned``), and the rules say which hand takes a third (``hand.decided``,
``card.expected``) until ``round.result``. A round may also end as ``round.void`` or
``round.unresolved``. After the cut card the round in progress is played; then ``shoe.ended``.

Where to read on: ``punto_banca.readings`` for what the shoe reports, ``punto_banca.commands`` and
``punto_banca.decisions`` for what a person commands, ``punto_banca.turn`` for the moves that both
consist of, ``punto_banca.state`` for what is remembered.
"""

from __future__ import annotations

import msgspec

from controller.contract import commands as person
from controller.contract.events import AnyEvent
from controller.contract.history import AnyLine
from controller.contract.shown import PuntoBancaShown
from controller.games import shoe, stakes, talla
from controller.games.baccarat import SIDES
from controller.games.machine import SILENCES, Inputs, Machine
from controller.games.punto_banca import commands, coups, decisions, readings
from controller.games.punto_banca.settings import PuntoBancaSettings
from controller.games.punto_banca.state import SHOWN, PuntoBancaState
from controller.games.punto_banca.turn import PuntoBancaTurn
from controller.games.rounds import line
from controller.games.session import announce_last_rounds
from controller.rulebooks.punto_banca import PuntoBanca
from devices import readings as device

INPUTS = Inputs(
    readings={
        device.CardDrawn: readings.take_card,
        device.CardCut: readings.take_cut,
        device.ShoeReset: readings.take_reset,
        device.ShoeResult: readings.take_verdict,
        device.ShoeFault: talla.take_fault,
        **dict.fromkeys(SILENCES, readings.take_silence),
    },
    in_charge={
        person.SessionOpen: coups.open_session,
        person.SessionClose: talla.close_session,
        person.CardDecide: decisions.decide,
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
        person.CardsTurn: commands.turn_cards,
        person.LastRoundsAnnounce: announce_last_rounds,
    },
)


class PuntoBancaGame(Machine[PuntoBanca, PuntoBancaSettings, PuntoBancaState, PuntoBancaTurn]):
    """The game under one decree with one table's settings. Raises ``ValueError`` for settings that
    the decree does not allow.
    """

    state_type = PuntoBancaState
    turn_type = PuntoBancaTurn
    inputs = INPUTS

    def __init__(self, book: PuntoBanca, settings: PuntoBancaSettings) -> None:
        if settings.dealt == "face_up" and settings.table not in book.face_up:
            raise ValueError(
                f"dealt: at the {settings.table} table the first four cards are dealt face down: "
                f"{book.article}"
            )
        if settings.modality == "half_on_six" and book.commission_six is None:
            raise ValueError(f"modality: the decree has the commission only: {book.article}")
        stakes.refuse_unknown(settings.highest, ("hands", "tie"))
        super().__init__(book, settings)

    def confidential(
        self,
        state: PuntoBancaState,
        given: device.AnyReading | person.AnyCommand,
        events: tuple[AnyEvent, ...],
    ) -> bool:
        """The shoe's verdict is confidential too while not all cards are face up."""
        if isinstance(given, device.ShoeResult):
            last = state.entry(state.round)
            return state.current is not None or last is None or last.kind != "result"
        return super().confidential(state, given, events)

    def show(self, state: PuntoBancaState) -> PuntoBancaShown:
        """The retained state: of the cards, those face up."""
        coup = state.current
        last = state.last_result()
        six = self.settings.modality == "half_on_six"
        return PuntoBancaShown(
            phase=_phase(state),
            session=state.session,
            round=state.round,
            asks=tuple(_asks(state)),
            expected=state.expected,
            hands={
                side: tuple(card.card if card.up else None for card in coup.cards(side))
                for side in SIDES
            }
            if coup
            else {},
            unresolved=tuple(entry.round for entry in state.unresolved()),
            bets=stakes.shown(coup),
            last_winner=last.winner if last else None,
            last_round=coup.last if coup else False,
            last_rounds=state.last,
            shoe=shoe.show(state.shoe),
            commission=(
                self.book.commission_six
                if six and self.book.commission_six
                else self.book.commission
            ),
            seats=self.book.seats.get(self.settings.table),
            minimum=state.minimum,
            currency=state.currency,
            settings=msgspec.to_builtins(self.settings),
        )

    def history(self, state: PuntoBancaState) -> list[AnyLine]:
        """The latest rounds of the session, oldest first."""
        return [
            line(
                entry,
                entry.outcome if entry.kind == "result" else None,
                corrected=entry.corrected,
            )
            for entry in state.entries[-SHOWN:]
        ]


def _asks(state: PuntoBancaState) -> tuple[str, ...]:
    """Commands that would answer the table's question; one may be to open a round, where cards go
    to none.
    """
    if state.asks:
        return state.asks
    if state.current is not None:
        return ("round.confirm", "round.void") if state.current.gap else ()
    return ("bets.open",) if state.astray else ()


def _phase(state: PuntoBancaState) -> str:
    """``closed``, ``no_shoe``, ``burning``, ``waiting`` for bets, ``bets_open``, ``dealing``,
    ``decision``, ``shoe_over``.
    """
    if not state.open:
        return "closed"
    if _asks(state):
        return "decision"
    if state.shoe is None:
        return "no_shoe"
    if state.burn is not None:
        return "burning"
    if state.current is not None:
        return "dealing" if state.current.closed else "bets_open"
    return "shoe_over" if state.shoe.over else "waiting"
