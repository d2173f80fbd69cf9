"""Craps, as one decree has it: the struct behind its table in the rulebook."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.contract.commands import Role, VoidReason
from controller.contract.events import Announcement
from controller.rulebooks.law import Doubt, Law


class CrapsBet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of bet.

    ``win``, ``lose`` and ``void`` are the totals that decide it with one throw; any other leaves it
    where it is. A bet with a ``side`` moves to a number: to the table's point, or (``on = "own"``)
    to one of its own, ``numbers`` being those available. The ``right`` side then wins with the
    number and loses with 7, the ``wrong`` side the other way round.
    """

    name: Announcement
    kind: Literal["simple", "multiple", "associated", "place"]
    win: tuple[int, ...] = ()
    lose: tuple[int, ...] = ()
    void: tuple[int, ...] = ()
    hard: bool = False
    """Wins by a double only; the same total made otherwise loses."""
    side: Literal["right", "wrong"] | None = None
    on: Literal["point", "own"] | None = None
    numbers: tuple[int, ...] = ()
    when: Literal["any", "come_out", "point"] = "any"
    """Before which throws it may be placed."""
    base: str | None = None
    """The simple bet that it is associated with: the same player must hold it."""
    locked: bool = False
    """It may not be withdrawn."""
    pays: tuple[int, int] = (1, 1)
    """To 1, as a fraction ``[numerator, denominator]``."""
    pays_on: dict[str, tuple[int, int]] = {}
    """What it pays instead, by the number that it is on, else by the total that wins."""
    maximum: dict[str, int] = {}
    """The highest stake, by number, in per cent: of the ``base`` bet, or of the highest simple bet;
    absent: the decree does not say.
    """


class Craps(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The game."""

    title: Announcement
    article: str
    dice: int
    """How many dice a table has in one session; two are in play."""
    side: tuple[int, int]
    """The side of a die in tenths of a millimetre: from, to."""
    points: tuple[int, ...]
    bets: dict[str, CrapsBet]
    """By our name."""
    simple_limits: tuple[int, int]
    """The highest simple bet as multiples of the table's minimum: from, to."""
    multiple_gain: tuple[int, int]
    """The highest gain on a multiple bet as multiples of that on the highest simple bet: from, to.
    """
    last_rounds: int | None = None
    """How many last shooters are announced before closing; None: the decree does not say."""
    announcements: dict[str, Announcement]
    """Calls: ``bets_closed void change last_rounds``; one that the decree does not word is absent.
    """
    void: dict[VoidReason, Law]
    """Reasons that void a throw, and their laws."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report, and behind each refusal that cites
    one.
    """
    doubts: dict[str, Doubt] = {}
    """By the name of the table setting that decides it."""
