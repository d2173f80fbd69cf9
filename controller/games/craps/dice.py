"""The six dice of a table of craps: their serial numbers, the two in play, and the lost ones."""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import DiceChoose, DieReport
from common.contract.commands import DiceSet as SetCommand
from common.contract.events import DiceChosen, DiceRegistered, DieLost
from common.contract.refusals import RejectedError
from controller.games.craps.commands import refuse
from controller.games.craps.state import CrapsDiceSet
from controller.games.craps.turn import CrapsTurn
from controller.games.guards import Refused


def set_dice(turn: CrapsTurn, command: SetCommand) -> None:
    """Register the dice of the session by serial number. Unfit ones are reported, and others
    requested.
    """
    serials, before = command.serials, turn.state.set
    retired = before.serials if before and (before.playing or before.lost) else ()
    used = (*turn.state.used, *retired)
    reused = sorted(set(serials) & {*used, *turn.state.past})
    low, high = turn.book.side
    wrong = {
        "dice_reused": ", ".join(reused),
        "dice_size": f"{command.side / 10:g} mm"
        if command.side is not None and not low <= command.side <= high
        else "",
        "dice_colour": "not of the same colour" if command.same_colour is False else "",
    }
    unfit = tuple(what for what, detail in wrong.items() if detail)
    turn.change(set=CrapsDiceSet(serials=serials, unfit=unfit), used=used)
    turn.emit(DiceRegistered(serials=serials, by=command.by))
    for what in unfit:
        turn.irregular(what, asks=("dice.set",), detail=wrong[what])


def choose_dice(turn: CrapsTurn, command: DiceChoose) -> None:
    """Let the shooter choose two of the six, or, if a die fell to the floor during a series, two of
    the four left. A broken one may be replaced.
    """
    dice = turn.state.set
    assert dice is not None
    call = turn.book.announcements.get("change") if dice.playing or dice.lost else None
    dice = replace(dice, playing=command.serials)
    turn.change(set=dice)
    turn.emit(
        DiceChosen(playing=command.serials, reserve=dice.reserve, by=command.by, announcement=call)
    )


def report_die(turn: CrapsTurn, command: DieReport) -> None:
    """Report a die that fell to the floor, or one that was found again."""
    dice, current, serial = turn.state.set, turn.state.current, command.serial
    fell = not command.found and (dice is None or serial is None or serial in dice.playing)
    if dice is not None:
        serial = serial or _the_only(dice.lost if command.found else dice.playing)
        if serial not in dice.serials:
            raise RejectedError("die_unknown", serial=serial, dice=dice.serials)
        if command.found == (serial not in dice.lost):
            raise RejectedError(
                "die_not_lost" if command.found else "die_lost_already", serial=serial
            )
        others = tuple(die for die in dice.lost if die != serial)
        playing = tuple(die for die in dice.playing if die != serial)
        lost = others if command.found else (*others, serial)
        unfit = tuple(why for why in dice.unfit if why != "die_lost" or lost)
        turn.change(set=replace(dice, lost=lost, playing=playing, unfit=unfit))
    turn.emit(
        DieLost(
            round=current.round if current else 0, serial=serial, found=command.found, by=command.by
        )
    )
    if current and current.closed and fell:
        turn.ask("die_off_table", detail=serial)


def _broken(turn: CrapsTurn) -> bool:
    """Whether the throw before was void because a die broke; a reserve die then replaces it."""
    last = turn.state.entries[-1:]
    return bool(last) and last[0].reason == "die_broken"


def _the_only(dice: tuple[str, ...]) -> str:
    if not dice:
        raise RejectedError("die_none")
    if len(dice) > 1:
        raise RejectedError("die_unnamed", dice=dice)
    return dice[0]


# Guards


def not_thrown(turn: CrapsTurn) -> Refused | None:
    """No throw is in progress."""
    if (current := turn.state.current) and current.closed:
        return Refused("dice_thrown", {"round": current.round})
    return None


def six_serials(turn: CrapsTurn, command: SetCommand) -> None:
    """Reject another number of dice, and dice without or with the same serial number."""
    serials = command.serials
    if len(set(serials)) != turn.book.dice or len(serials) != turn.book.dice or not all(serials):
        raise refuse(turn, "dice_number", "dice_serials", count=turn.book.dice).error()


def set_may_change(turn: CrapsTurn) -> Refused | None:
    """No series is being played, or the dice are no longer fit for it."""
    if turn.point is not None and turn.lacking() != "dice.set" and turn.state.set:
        return refuse(turn, "dice_change", "dice_change_in_series")
    return None


def set_fit(turn: CrapsTurn) -> Refused | None:
    """The dice are registered and fit."""
    dice = turn.state.set
    if dice is None or dice.unfit:
        return refuse(turn, "dice_unregistered", "dice_unregistered")
    return None


def two_dice(turn: CrapsTurn, command: DiceChoose) -> None:
    """Reject another number of dice."""
    chosen = command.serials
    if len(chosen) != 2 or len(set(chosen)) != 2:
        raise refuse(turn, "dice_count", "two_dice").error()


def pair_may_change(turn: CrapsTurn) -> Refused | None:
    """No series is being played, or one of its dice is lost or broke."""
    dice = turn.state.set
    assert dice is not None
    if turn.point is not None and len(dice.playing) == 2 and not _broken(turn):
        return refuse(turn, "dice_change", "dice_change_in_series")
    return None


def on_offer(turn: CrapsTurn, command: DiceChoose) -> None:
    """Reject dice that may not be chosen."""
    assert turn.state.set is not None
    offered = turn.on_offer(turn.state.set)
    if not set(command.serials) <= set(offered):
        raise RejectedError("dice_not_offered", dice=offered)


def any_on_offer(turn: CrapsTurn) -> bool:
    """Two dice may be chosen."""
    assert turn.state.set is not None
    return len(turn.on_offer(turn.state.set)) >= 2


def any_die(turn: CrapsTurn) -> bool:
    """A die can be lost or found."""
    dice = turn.state.set
    return dice is None or bool(dice.playing or dice.lost or dice.reserve)
