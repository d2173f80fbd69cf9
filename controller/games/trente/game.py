"""Trente et quarante: one state machine; the rulebook makes the difference.

A coup is a round. A shoe begins with ``shoe.start``; then bets open (``round.opened``) and close
(``bets.closed``), and cards go face up to the black row until it makes 31 or more, then to the red
one (``card.dealt``, ``card.expected``), until ``round.result``. The cut card voids the round in
progress and ends the shoe: the last five cards are counted, face down.

Where to read on: ``trente.course`` for the course of a coup, ``trente.rows`` and ``trente.refait``
for what wins, ``coups`` and ``dealt`` for what it shares with other games.
"""

from __future__ import annotations

from common import readings as device
from common.contract import commands as person
from common.contract.shown import TrenteShown
from controller.games import stakes
from controller.games.coups import commands
from controller.games.coups import game as coups
from controller.games.dealt import game as dealt
from controller.games.guards import Row, is_open, last_rounds_unannounced
from controller.games.machine import Kind, Machine
from controller.games.roles import AT_THE_TABLE
from controller.games.trente import bets, course, refait
from controller.games.trente.course import TrenteTurn
from controller.games.trente.rows import ROWS, points, rows
from controller.games.trente.settings import TrenteSettings
from controller.games.trente.state import TrenteState
from controller.games.zero import choices
from controller.rulebooks.trente import Trente


def prepare(book: Trente, settings: TrenteSettings) -> Trente:
    """Return the page. Raise ``ValueError`` for settings that the decree does not allow."""
    stakes.refuse_unlawful(settings.highest, course.bands(book))
    return book


def show(game: TrenteGame, state: TrenteState) -> TrenteShown:
    """The retained state."""
    on_table = _on_table(state)
    last = state.last_result()
    return TrenteShown(
        **coups.common(game, state),
        rows={row: tuple(own) for row, own in zip(ROWS, on_table, strict=True)},
        points={row: points(own) for row, own in zip(ROWS, on_table, strict=True)},
        last_marks=last.marks if last else (),
        refaits=refait.running(state),
        refait_choices=tuple(
            choices(game.settings.refait, last_of_session=state.is_last(state.round))
        ),
        settlement=game.book.settlement,
        insurance=game.book.insurance,
        limits=game.book.limits,
    )


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


class TrenteGame(Machine[Trente, TrenteSettings, TrenteState, TrenteTurn]):
    """The game under one decree with one table's settings. The last five cards are face down, and
    confidential.
    """

    kind = Kind(
        state_type=TrenteState,
        turn_type=TrenteTurn,
        inputs=coups.INPUTS.also(
            readings={device.CardCut: course.on_cut},
            commands={
                person.RoundVoid: commands.COMMANDS[person.RoundVoid]._replace(apply=course.void),
                person.LastRoundsAnnounce: Row(
                    AT_THE_TABLE, (is_open, last_rounds_unannounced), course.announce_last
                ),
                person.BetPlace: stakes.PLACE._replace(apply=bets.place_bet),
                person.BetWithdraw: stakes.WITHDRAW._replace(apply=bets.withdraw_bet),
            },
        ),
        show=show,
        history=dealt.history,
        prepare=prepare,
        choices=coups.choices,
    )
