"""The burn: the first card of a shoe is shown and determines how many are burned unseen."""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import CardDecide
from common.contract.events import CardDealt, CardsBurned, CardTurned
from common.contract.refusals import RejectedError
from controller.games import shoe, talla
from controller.games.cards import is_card, pips
from controller.games.coups.moves import CoupTurn
from controller.games.dealt.state import Held
from controller.games.punto_banca.settings import PuntoBancaSettings
from controller.games.punto_banca.state import PuntoBancaBurn, PuntoBancaState
from controller.rulebooks.punto_banca import PuntoBanca

Turn = CoupTurn[PuntoBanca, PuntoBancaSettings, PuntoBancaState]


def begin(turn: Turn) -> None:
    """Begin to burn cards, unless the shoe shuffles continuously."""
    turn.change(burn=None if turn.settings.continuous else PuntoBancaBurn())


def on_card(turn: Turn, held: Held) -> None:
    """Handle a card that came during the burn."""
    if held.given.to in ("player", "banker"):
        turn.course.hold(
            turn, held, "card_misplaced", f"burn expected, the shoe says {held.given.to}"
        )
    else:
        burn_card(turn, held)


def burn_card(turn: Turn, held: Held) -> None:
    """Burn the card: the first one face up."""
    now, card = turn.state.burn, held.given.card
    assert now is not None
    if held.trouble is not None:
        turn.irregular(held.trouble)
    if now.drawn == 0:
        card = card if card is not None and is_card(card) else None
        turn.change(burn=replace(now, drawn=1, shown=card))
        turn.emit(CardDealt(to="burn", index=1, card=card))
        if card is None:
            turn.irregular("card_unread", asks=turn.state.asks, detail="burn 1")
    else:
        turn.change(burn=replace(now, drawn=now.drawn + 1))
    finish(turn)


def finish(turn: Turn, *, anyway: bool = False) -> None:
    """End the burn once its number of cards has come, or by a person's decision (``anyway``)."""
    now = turn.state.burn
    assert now is not None
    due = None if now.shown is None else count(turn, now.shown)
    if anyway or not (now.gap or due is None or now.drawn < due):
        if due is not None and not now.gap and now.drawn != due:
            turn.irregular("burn", detail=f"{now.drawn} cards came, {due} were due")
        turn.change(burn=None)
        turn.emit(CardsBurned(count=max(0, now.drawn - 1), shown=now.shown))
    turn.course.expect(turn)


def count(turn: Turn, shown: str) -> int:
    """The number of cards that leave the shoe before the first round: the value of the shown one,
    plus that one if it does not count.
    """
    return pips(shown) + (turn.settings.burn_card == "apart")


def miss(turn: Turn, now: PuntoBancaBurn) -> None:
    """Record that a silence may have hidden a burned card: a person decides when the burn is
    over.
    """
    if not now.gap:
        turn.irregular("silence", asks=("card.decide",), detail="burn")
    turn.change(burn=replace(now, gap=True))


def decide(turn: Turn, command: CardDecide, now: PuntoBancaBurn) -> None:
    """Read the first burn card, or end the burn, by a person's decision."""
    if command.action == "read" and now.drawn and now.shown is None:
        card = talla.read_card(command)
        if turn.state.shoe is not None:
            turn.change(shoe=shoe.read(turn.state.shoe, card)[0])
        turn.change(burn=replace(now, shown=card))
        turn.emit(CardTurned(to="burn", index=1, card=card))
        finish(turn)
    elif command.action == "accept":
        finish(turn, anyway=True)
    else:
        raise RejectedError("burn_undecided")
