"""Craps, as one decree has it: the struct behind its table in the rulebook."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.contract.commands import Role, VoidReason
from controller.contract.events import Announcement
from controller.rulebooks.law import Doubt, Law


class CrapsBet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of bet.

    ``win``, ``lose`` and ``void`` are totals that decide it at one throw; any other leaves it where
    it lies. A bet with a ``side`` comes to stand on a number: on the table's point, or (``on =
    "own"``) on one of its own, ``numbers`` being those that there are; the ``right`` side then wins
    with the number and loses with 7, the ``wrong`` side the other way round.
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
    """It may not be taken back."""
    pays: tuple[int, int] = (1, 1)
    """To 1, as a fraction ``[numerator, denominator]``."""
    pays_on: dict[str, tuple[int, int]] = {}
    """What it pays instead, by the number that it stands on, else by the total that wins."""
    maximum: dict[str, int] = {}
    """The highest stake, by number, in per cent: of the ``base`` bet, or of the highest simple bet;
    absent: not said.
    """


class Craps(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The game."""

    title: Announcement
    article: str
    dice: int
    """How many dice a table has in one session; two of them are in play."""
    side: tuple[int, int]
    """How long a side of a die is, from and to, in tenths of a millimetre."""
    points: tuple[int, ...]
    bets: dict[str, CrapsBet]
    """By our name."""
    simple_limits: tuple[int, int]
    """Between what multiples of the table's minimum the highest simple bet is."""
    multiple_gain: tuple[int, int]
    """Between what multiples of the gain on the highest simple bet the gain on the highest multiple
    bet is.
    """
    last_rounds: int | None = None
    """How many last shooters are announced before closing; None: not said."""
    announcements: dict[str, Announcement]
    """What is called: ``bets_closed void change last_rounds``; a call that the decree does not word
    is absent.
    """
    void: dict[VoidReason, Law]
    """What a throw is void for, and by what right."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report, and behind each refusal that cites
    one.
    """
    doubts: dict[str, Doubt] = {}
    """By the name of the table setting that decides it."""
