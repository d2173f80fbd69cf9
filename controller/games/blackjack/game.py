"""Black jack, and the triple game: one state machine; the rulebook makes the difference.

A round begins when a person sets its boxes (``boxes.set``), or opens or closes its bets; its first
card closes them. Cards go where the rules say; the croupier's keys say what a hand does
(``hand.…``). ``card.expected`` says where the next card belongs. The result comes by itself when no
hand and no rule wants another card.

At a table without keys (``keys = false``) the shoe is counted and the cut card reported; a round
ends when the next begins or with ``round.confirm``. Then the dealer's hand is published only where
boxes and cards leave one possibility; else it is unresolved.

In the triple game each play of the dealer against the same hands is a round with its own
settlement; only the first opens its bets.

Where to read on: ``blackjack.course`` for the rules of a round, ``blackjack.moves`` for the moves,
``blackjack.readings`` for what the shoe reports, ``blackjack.commands`` and ``blackjack.decisions``
for what people command.
"""

from __future__ import annotations

from common import readings as device
from common.contract import commands as person
from common.contract.shown import BlackjackHand, BlackjackShown
from controller.games import shoe, stakes, talla
from controller.games.blackjack import bets, commands, course, readings
from controller.games.blackjack.course import BlackjackRules
from controller.games.blackjack.hands import points
from controller.games.blackjack.moves import BlackjackTurn, bands
from controller.games.blackjack.settings import BlackjackSettings, faults
from controller.games.blackjack.state import BlackjackState
from controller.games.dealt import game as dealt
from controller.games.dealt.arrivals import on_card, on_silence
from controller.games.jackpot import on_standing
from controller.games.machine import SILENCES, Choices, Inputs, Kind, Machine
from controller.rulebooks.blackjack import Blackjack

INPUTS = Inputs(
    readings={
        device.CardDrawn: on_card,
        device.CardCut: readings.on_cut,
        device.ShoeReset: readings.on_reset,
        device.JackpotStanding: on_standing,
        device.ShoeFault: talla.report_fault,
        **dict.fromkeys(SILENCES, on_silence),
    },
    commands=commands.COMMANDS,
    leaves_out={
        person.RoundConfirm: ("number", "winner", "dice"),
        person.BetsClose: ("banco",),
        person.RoundVoid: ("alone",),
        person.CardDecide: ("fault",),
    },
)


def prepare(book: Blackjack, settings: BlackjackSettings) -> Blackjack:
    """Return the page. Raise ``ValueError`` for settings that the decree does not allow."""
    if wrong := faults(settings, book):
        raise ValueError(f"{'; '.join(wrong)}: {book.article}")
    stakes.refuse_unlawful(settings.highest, bands(book, settings))
    return book


def jackpot_bet(game: BlackjackGame) -> str | None:
    """The bet on a jackpot, if this table has one."""
    return "accumulated" if game.settings.accumulated_bets else None


def choices(game: BlackjackGame) -> Choices:
    """The bets."""
    offered = tuple(bets.offered(game.turn(game.begin()), ""))
    return {
        person.BetPlace: {"bet": offered},
        person.BetWithdraw: {"bet": offered},
    }


def show(game: BlackjackGame, state: BlackjackState) -> BlackjackShown:
    """The retained state. Every card on the table is face up."""
    deal, common = state.current, dealt.common(game, state)
    to_act = course.turn(game.rules, deal) if deal else None
    del common["unresolved"]  # the result of a round cannot be given later
    return BlackjackShown(
        **common,
        turn=to_act.who if to_act and not state.doubt else None,
        hands={
            seat.who: BlackjackHand(seat.cards, course.worth(game.rules, seat))
            for seat in deal.seats
        }
        if deal
        else {},
        dealer=BlackjackHand(deal.dealer, points(deal.dealer)) if deal and deal.dealer else None,
        bets=deal.bets if deal else (),
        insurance=bool(deal and deal.insurance),
        even_money=tuple(course.even_money_hands(game.rules, deal)) if deal else (),
        play=deal.play if deal else None,
        last_round=deal.last if deal else False,
        last_shoe=state.last_shoe,
        shoe=shoe.show(state.shoe),
        boxes=game.rules.boxes,
        next_minimum=state.limit.minimum if state.limit else None,
        rounds_at_this_minimum=state.limit.left if state.limit else None,
        jackpot_standing=state.jackpot,
    )


class BlackjackGame(Machine[Blackjack, BlackjackSettings, BlackjackState, BlackjackTurn]):
    """The game under one decree with one table's settings. Raises ``ValueError`` for settings that
    the decree does not allow.

    Every card is dealt face up except the burn cards; a card that waits for a decision is not
    published either.
    """

    rules: BlackjackRules
    kind = Kind(
        state_type=BlackjackState,
        turn_type=BlackjackTurn,
        inputs=INPUTS,
        show=show,
        history=dealt.history,
        choices=choices,
        jackpot_bet=jackpot_bet,
        prepare=prepare,
        rules=BlackjackRules,
    )
