"""The events of games that are played with dice."""

from __future__ import annotations

from typing import Literal

from controller.contract.event_fields import Announcement, Event


class DiceRegistered(Event, frozen=True, tag="dice.registered"):
    """The dice of the session, by serial number."""

    serials: tuple[str, ...]
    by: str


class DiceChosen(Event, frozen=True, tag="dice.chosen"):
    """The dice that are played with, and those in reserve."""

    playing: tuple[str, ...]
    reserve: tuple[str, ...]
    by: str
    announcement: Announcement | None = None


class DieLost(Event, frozen=True, tag="die.lost"):
    """A die left the table, or (``found``) it was found."""

    serial: str | None
    found: bool = False
    by: str | None = None


class DiceThrown(Event, frozen=True, tag="dice.thrown"):
    """What dice that decide no bet show: ``seat`` is the seat they choose, where they choose one
    (pai gow).
    """

    values: tuple[int, ...]
    total: int
    seat: int | None = None


class ShooterChanged(Event, frozen=True, tag="shooter.changed"):
    """The dice go to another seat; null: to nobody yet. ``last``: this shooter is announced as the
    last one.

    ``why``: what took them from the one before; ``corrected``: a corrected result gives them back.
    """

    seat: int | None
    why: Literal["first", "seven", "refused", "withdrawn", "corrected"]
    last: bool = False
    by: str | None = None


class PointSet(Event, frozen=True, tag="point.set"):
    """The point of the series; null: there is none any more."""

    point: int | None
    announcement: Announcement | None = None
