"""Who may take part in a world beside the daemons, their wheels and the broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.world import (
    audit,
    backup,
    cards,
    carrousel,
    dice,
    disk,
    floor,
    nodes,
    people,
    recorder,
    shufflers,
    statistics,
    terminal,
)
from tests.world.carrousel import pair as controllers
from tests.world.wheels import asked
from tests.world.witnesses import part as witnesses

if TYPE_CHECKING:
    from tests.world.world import World

PARTS: dict[str, Callable[[World], object]] = {
    "asked": asked.join,
    "audit": audit.join,
    "backup": backup.join,
    "cards": cards.join,
    "carrousel": carrousel.join,
    "carrousel-eus96": carrousel.join_eus96,
    "carrousel-pair": controllers.join,
    "dice": dice.join,
    "floor": floor.join,
    "node": nodes.join_second_node,
    "people": people.join,
    "recorder": recorder.join,
    "rival": nodes.join_rival,
    "shufflers": shufflers.join,
    "sqlite": disk.join,
    "statistics": statistics.join,
    "terminal": terminal.join,
    "twin": nodes.join_twin,
    "witnesses": witnesses.join,
}
"""Name of each part, and how it joins a world: it adds what it needs before anything starts."""
SAME_FAULTS = {"carrousel-eus96": "carrousel", "statistics": "recorder"}
"""By part, another one whose faults it has."""
