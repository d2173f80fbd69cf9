"""Punto y banca, at the full table, mini and midi: one state machine; the rulebook makes the
difference.

A coup is a round. A shoe begins with ``shoe.start`` and the burn; then bets open (``round.opened``)
and close (``bets.closed``), and four cards come: player, bank, player, bank (``card.dealt``). The
croupier turns them (``card.turned``), and the rules say which hand takes a third (``hand.decided``,
``card.expected``) until ``round.result``. A round may also end as ``round.void`` or
``round.unresolved``. After the cut card the round in progress is played; then ``shoe.ended``.

Where to read on: ``punto_banca.course`` for the course of a coup, ``punto_banca.coup`` for what its
cards amount to, ``punto_banca.burn`` for the cards before the first round, ``punto_banca.witness``
for what else the shoe says, ``coups`` and ``dealt`` for what it shares with other games.
"""

from __future__ import annotations

from common import readings as device
from common.contract import commands as person
from common.contract.shown import Cards, PuntoBancaShown
from controller.games import stakes
from controller.games.baccarat import SIDES
from controller.games.coups import game as coups
from controller.games.dealt import game as dealt_game
from controller.games.dealt.cards import dealt
from controller.games.machine import Kind, Machine
from controller.games.punto_banca import course, witness
from controller.games.punto_banca.course import PuntoBancaTurn
from controller.games.punto_banca.settings import PuntoBancaSettings
from controller.games.punto_banca.state import PuntoBancaState
from controller.rulebooks.punto_banca import PuntoBanca


def prepare(book: PuntoBanca, settings: PuntoBancaSettings) -> PuntoBanca:
    """Return the page. Raise ``ValueError`` for settings that the decree does not allow."""
    if settings.dealt == "face_up" and settings.table not in book.face_up:
        raise ValueError(
            f"dealt: at the {settings.table} table the first four cards are dealt face down: "
            f"{book.article}"
        )
    if settings.modality == "half_on_six" and book.commission_six is None:
        raise ValueError(f"modality: the decree has the commission only: {book.article}")
    stakes.refuse_unlawful(settings.highest, course.bands(book))
    return book


def confidential(
    _game: PuntoBancaGame,
    state: PuntoBancaState,
    received: device.AnyReading | person.AnyCommand,
) -> bool | None:
    """The shoe's verdict is confidential too while not all cards are face up."""
    if isinstance(received, device.ShoeResult):
        last = state.entry(state.round)
        return state.current is not None or last is None or last.kind != "result"
    return None


def show(game: PuntoBancaGame, state: PuntoBancaState) -> PuntoBancaShown:
    """The retained state: of the cards, those face up."""
    coup, six = state.current, game.settings.modality == "half_on_six"
    hands: dict[str, Cards] = {}
    if coup is not None:
        for side in SIDES:
            own = dealt(coup.cards, side)
            hands[side] = tuple(card.card if card.up else None for card in own)
    return PuntoBancaShown(
        **coups.common(game, state),
        hands=hands,
        last_round=coup.last if coup else False,
        commission=(
            game.book.commission_six if six and game.book.commission_six else game.book.commission
        ),
        seats=game.book.seats.get(game.settings.table),
    )


class PuntoBancaGame(Machine[PuntoBanca, PuntoBancaSettings, PuntoBancaState, PuntoBancaTurn]):
    """The game under one decree with one table's settings. Raises ``ValueError`` for settings that
    the decree does not allow.
    """

    kind = Kind(
        state_type=PuntoBancaState,
        turn_type=PuntoBancaTurn,
        inputs=coups.INPUTS.also(
            readings={device.CardCut: witness.on_cut, device.ShoeResult: witness.on_verdict},
            commands={person.CardsTurn: course.CARDS_TURN},
        ),
        show=show,
        history=dealt_game.history,
        prepare=prepare,
        choices=coups.choices,
        confidential=confidential,
    )
