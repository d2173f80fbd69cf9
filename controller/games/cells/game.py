"""Boule and the wheel of fortune: games of a wheel that reports places, whose values are in the
table's map.

They are games of a wheel (see ``wheels``). The head of the table or the croupier opens the bets,
the wheel is set going, the last call follows where it is about to settle, the croupier closes the
bets, and where it lies is the result. No decree knows a void spin here: what goes wrong is for the
person in charge to decide.
"""

from __future__ import annotations

from common.contract.commands import BetsOpen
from common.readings import WheelCell, WheelFault, WheelNumber, WheelPhase
from controller.games.cells import commands, readings
from controller.games.wheels import commands as wheel_commands
from controller.games.wheels import game as wheels

INPUTS = wheels.INPUTS.also(
    readings={
        WheelPhase: readings.on_phase,
        WheelNumber: readings.on_place,
        WheelCell: readings.on_place,
        WheelFault: readings.on_fault,
    },
    commands={BetsOpen: wheel_commands.COMMANDS[BetsOpen]._replace(apply=commands.open_bets)},
)
