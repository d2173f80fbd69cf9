"""Who may take part in a world beside the daemons, their wheels and the broker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
UNSIGNED = "people: all commands must be signed, and the croupiers of this part sign nothing"
UNSIGNED_RECALLS = "people: all commands must be signed, and the recorder signs no recall"
SEALED = "audit: it has no key of surveillance, and the cards of this part are sealed"
REFUSED_BESIDE = {
    ("cards", "audit"): SEALED,
    ("carrousel", "audit"): SEALED,
    ("carrousel-eus96", "audit"): SEALED,
    ("carrousel-pair", "audit"): SEALED,
    ("cards", "people"): UNSIGNED,
    ("carrousel", "people"): UNSIGNED,
    ("carrousel-eus96", "people"): UNSIGNED,
    ("carrousel-pair", "people"): UNSIGNED,
    ("dice", "people"): UNSIGNED,
    ("recorder", "people"): UNSIGNED_RECALLS,
    ("shufflers", "audit"): SEALED,
    ("shufflers", "people"): UNSIGNED,
    ("statistics", "people"): UNSIGNED_RECALLS,
}
"""By two parts that do not take part in one world: the second one, and why."""


def refusal(parts: Sequence[str]) -> str | None:
    """Return why these parts do not make a world, or None if they do."""
    for part in parts:
        if part not in PARTS:
            return f"there is no part {part!r}; choose from {', '.join(PARTS)}"
    for (part, other), why in REFUSED_BESIDE.items():
        if part in parts and other in parts:
            return f"{part!r} does not go with {why}; leave one of them out"
    return None
