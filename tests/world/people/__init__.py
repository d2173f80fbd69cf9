"""People who give signed commands, the console and the keypads, and those who abuse commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.world.people import faults
from tests.world.people.site import Site

__all__ = ["faults", "join"]

if TYPE_CHECKING:
    from tests.world.world import World


def join(world: World) -> None:
    """Let people act in a world whose daemons require signatures."""
    site = Site(world)
    world.people = site.staff.section()
    world.programs.append(site.program)
    world.checkers.append(site.commands)
