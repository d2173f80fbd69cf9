"""Craps in one decree: the struct of its table in the rulebook."""

from __future__ import annotations

from typing import Literal

import msgspec

from common.contract.commands import Role, VoidReason
from common.contract.events import Announcement
from controller.rulebooks.law import Law, LawDoubt


class CrapsBet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of bet.

    ``win``, ``lose`` and ``void`` are the totals that decide it with one throw; any other leaves it
    where it is. A bet with a ``side`` moves to a number: to the table's point, or (``on = "own"``)
    to one of ``numbers``. The ``right`` side then wins with the number and loses with 7, the
    ``wrong`` side the other way round.
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
    """The throws before which it may be placed."""
    base: str | None = None
    """The associated simple bet, which the same player must hold."""
    locked: bool = False
    """It may not be withdrawn."""
    pays: tuple[int, int] = (1, 1)
    """Payout to 1, as ``[numerator, denominator]``."""
    pays_on: dict[str, tuple[int, int]] = {}
    """Other payouts, by the bet's number, else by the winning total."""
    maximum: dict[str, int] = {}
    """The maximum stake, by number, in per cent of the ``base`` bet or of the maximum simple bet;
    absent: the decree does not say.
    """


class Craps(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The game."""

    title: Announcement
    article: str
    dice: int
    """Number of dice of a table in one session; two are in play."""
    side: tuple[int, int]
    """Minimum and maximum side of a die in tenths of a millimetre."""
    points: tuple[int, ...]
    bets: dict[str, CrapsBet]
    """By the name used here."""
    simple_limits: tuple[int, int]
    """Range of the maximum simple bet, as multiples of the table's minimum."""
    multiple_gain: tuple[int, int]
    """Range of the maximum gain on a multiple bet, as multiples of the gain on the maximum simple
    bet.
    """
    last_rounds: int | None = None
    """Number of last shooters announced before closing; None: the decree does not say."""
    announcements: dict[str, Announcement]
    """Calls: ``bets_closed void change last_rounds``; one that the decree does not word is
    absent.
    """
    void: dict[VoidReason, Law]
    """Reasons that void a throw, and their laws."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report, and behind each refusal that cites
    one.
    """
    doubts: dict[str, LawDoubt] = {}
    """By the table setting that decides it."""
