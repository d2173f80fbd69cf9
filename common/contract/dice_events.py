"""The events of games played with dice."""

from __future__ import annotations

from typing import Literal

from common.contract.event_fields import Announcement, Event
from common.readings import Whole


class DiceRegistered(Event, frozen=True, tag="dice.registered"):
    """The dice of the session were registered."""

    serials: tuple[str, ...]
    """Their serial numbers."""
    by: str
    """The person who registered them."""


class DiceChosen(Event, frozen=True, tag="dice.chosen"):
    """The dice to play with were chosen."""

    playing: tuple[str, ...]
    """The serial numbers of the two that are played with."""
    reserve: tuple[str, ...]
    """The serial numbers of the others."""
    by: str
    """The person who reported it."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class DieLost(Event, frozen=True, tag="die.lost"):
    """A die left the table, or one that had left it was found."""

    serial: str | None
    """The serial number; null where it is not known."""
    found: bool = False
    """``true``: it was found again."""
    by: str | None = None
    """The person who reported it."""


class DiceThrown(Event, frozen=True, tag="dice.thrown"):
    """Dice that decide no bet were thrown (pai gow)."""

    values: tuple[Whole, ...]
    """One number for each die."""
    total: Whole
    """Their sum."""
    seat: Whole | None = None
    """The seat that they choose, where they choose one."""


class ShooterChanged(Event, frozen=True, tag="shooter.changed"):
    """The dice pass to another seat."""

    seat: Whole | None
    """The seat that throws now; null if there is none yet."""
    why: Literal["first", "seven", "refused", "withdrawn", "corrected"]
    """Why they pass."""
    last: bool = False
    """This shooter is announced as the last one."""
    by: str | None = None
    """The person who reported it."""


class PointSet(Event, frozen=True, tag="point.set"):
    """The point of the series was set, made or lost."""

    point: Whole | None
    """The point; null if it is over."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""
