"""Commands about bank and dice, and about hands that are set, at pai gow."""

from __future__ import annotations

from common.contract.commands import (
    ButtonSet,
    CardsShow,
    CardsTurn,
    DiceSet,
    DiceTell,
    HandAct,
    SessionOpen,
)
from common.contract.events import DiceRegistered
from common.contract.refusals import RejectedError
from common.readings import (
    AnyReading,
    DiceFault,
    DiceRead,
)
from controller.games.banked import commands as banked_commands
from controller.games.banked import game as banked
from controller.games.banked import moves
from controller.games.banked import readings as banked_readings
from controller.games.dealt.guards import unstopped
from controller.games.guards import DEALING, FieldCheck, Refused, Row, between_rounds, is_open
from controller.games.machine import SILENCES
from controller.games.pai_gow.table import croupier, passed, who_at
from controller.games.pai_gow.turn import PaiGowTurn, banker, move_bank, set_hand, throw, unset_hand
from controller.games.poker.guards import one_of
from controller.games.roles import AT_THE_TABLE
from controller.games.session import sent


def open_session(turn: PaiGowTurn, command: SessionOpen) -> None:
    """Open the table; the croupier has the bank."""
    banked_commands.open_session(turn, command)
    turn.change(bank=None)


def set_bank(turn: PaiGowTurn, command: ButtonSet) -> None:
    """Move the bank to a player, or to the croupier, who must accept it in turn."""
    state, book, here = turn.state, turn.book, croupier(turn.book)
    there = (*state.boxes, here)
    to = command.seat
    if to is None:
        to = next(
            position
            for position in (*passed(book, banker(turn), banker(turn)), banker(turn))
            if position in there
        )
    if to not in there:
        raise RejectedError("bank_not_at_place", places=tuple(map(str, there)), croupier=here)
    if to == banker(turn):
        raise RejectedError("bank_unchanged", who=who_at(book, to))
    if here in passed(book, banker(turn), to):
        raise RejectedError("bank_passes_croupier", law=book.laws["bank_passed"].cited)
    move_bank(turn, to, command.by)


# Dice


def set_dice(turn: PaiGowTurn, command: DiceSet) -> None:
    """Register the dice of the session: their number, colour and size are the decree's."""
    least, most = turn.book.die
    turn.emit(DiceRegistered(serials=command.serials, by=command.by))
    wrong = {
        f"{len(command.serials)} dice": len(command.serials) != turn.book.dice
        or len(set(command.serials)) < len(command.serials),
        f"side {command.side}": command.side is not None and not least <= command.side <= most,
        "colours": command.same_colour is False,
    }
    for what, is_wrong in wrong.items():
        if is_wrong:
            turn.irregular("dice_wrong", detail=what)


def read_dice(turn: PaiGowTurn, reading: DiceRead) -> None:
    """Handle a throw read by a device. It counts once, live, and after "no more bets"."""
    turn.change(thrower=reading.device)
    deal = turn.state.current
    if deal is None or not deal.closed:
        turn.irregular("dice_before_close")
    elif not _right(turn, reading.values):
        turn.irregular("dice_wrong", detail=_spell(reading.values))
    elif reading.late:
        if not deal.dice and turn.state.stop is None:
            moves.doubt(turn, "dice_late", detail=_spell(reading.values))
    elif deal.dice:
        turn.irregular("dice_again", detail=f"{_spell(reading.values)}, after {_spell(deal.dice)}")
    elif turn.state.doubt != "dice_late":
        throw(turn, reading.values)


def tell_dice(turn: PaiGowTurn, command: DiceTell) -> None:
    """Record the dice as the croupier reports them: without a device, or against its reading."""
    deal = turn.current
    moves.resolve(turn, "dice_late")
    if deal.dice == command.values:
        raise RejectedError("dice_unchanged")
    if deal.dice:
        turn.irregular(
            "dice_differ", detail=f"{_spell(command.values)}, and not {_spell(deal.dice)}"
        )
    throw(turn, command.values)
    banked_readings.deal_waiting(turn)


def on_fault(turn: PaiGowTurn, reading: DiceFault) -> None:
    """Handle a fault of the dice reader, or its end."""
    turn.change(thrower=reading.device)
    if reading.active:
        turn.raise_alert(f"dice_{reading.fault}", reading, reading.detail)
    else:
        turn.clear_alert(f"dice_{reading.fault}")


def on_silence(turn: PaiGowTurn, reading: AnyReading) -> None:
    """Handle a silence. While only the dice reader is silent, no card goes unseen."""
    if reading.device != turn.state.thrower or not reading.device:
        banked_readings.on_silence(turn, reading)


def _right(turn: PaiGowTurn, values: tuple[int, ...]) -> bool:
    return len(values) == turn.book.dice and all(1 <= value <= 6 for value in values)


def _spell(values: tuple[int, ...]) -> str:
    return "-".join(map(str, values))


# Hands


def act(turn: PaiGowTurn, command: HandAct) -> None:
    """Record that a player has set the hand, or withdraw that."""
    (set_hand if command.valid else unset_hand)(turn, command.who, command.by)
    banked_readings.deal_waiting(turn)


# Guards


def values_right(turn: PaiGowTurn, command: DiceTell) -> None:
    """Reject values that these dice cannot show."""
    if not _right(turn, command.values):
        raise RejectedError("dice_values_wrong", dice=turn.book.dice)


def dice_wait(turn: PaiGowTurn) -> Refused | None:
    """Nothing else stops the round."""
    if turn.state.doubt not in (None, "dice_late"):
        return Refused("table_waits_for", {"commands": sent(turn.state.asks)})
    return None


def undealt(turn: PaiGowTurn) -> Refused | None:
    """No card of the round is dealt."""
    return Refused("cards_already_dealt") if turn.current.cards else None


def may_set(turn: PaiGowTurn) -> bool:
    """All cards are dealt, and no hand is face up."""
    dealt = bool(turn.current.dice) and not turn.current.due
    set_all = dealt and len(turn.current.set) == len(turn.current.boxes)
    return dealt and not (set_all and turn.current.low)


def never_turned(turn: PaiGowTurn) -> Refused:  # noqa: ARG001 - at any table
    """No hand is turned: it is shown set in two."""
    return Refused("show_with_low_hand")


INPUTS = banked.INPUTS.also(
    readings={
        DiceRead: read_dice,
        DiceFault: on_fault,
        **dict.fromkeys(SILENCES, on_silence),
    },
    commands={
        SessionOpen: banked_commands.COMMANDS[SessionOpen]._replace(apply=open_session),
        ButtonSet: Row(AT_THE_TABLE, (is_open, between_rounds), set_bank),
        DiceSet: Row(AT_THE_TABLE, (is_open,), set_dice),
        DiceTell: Row(
            AT_THE_TABLE, (*DEALING, FieldCheck(values_right), dice_wait, undealt), tell_dice
        ),
        HandAct: Row(AT_THE_TABLE, (*DEALING, unstopped, one_of("set", possible=may_set)), act),
        CardsTurn: Row(AT_THE_TABLE, (is_open, never_turned), None),
    },
    withdrawn=(HandAct,),
    leaves_out={CardsShow: (), HandAct: ("count", "amount")},
)
