"""The settings of one craps table: what the decree leaves open, and what is reported to it."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games.amounts import Money


class CrapsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of one table. A rulebook's ``doubts`` may change any default; the site's own
    setting prevails over both.
    """

    rounds: Literal["keys", "dice"] = "keys"
    """How bets open and close. ``keys``: a person does both for each throw; ``dice``: bets open by
    themselves, and the moving dice close them.
    """
    serials: Literal["told", "unwatched"] = "told"
    """Whether the dice's serial numbers are reported to the table. If so, no throw counts until
    they are.
    """
    shooter: Literal["told", "unwatched"] = "told"
    """Whether the shooter and the shooter's bets are reported to the table. If so, a throw without
    the shooter's Win or Don't Win bet waits for a person.
    """
    early_throw: Literal["ask", "void", "ignored"] = "ask"
    """What happens to a throw before bets are closed: a person decides, it is void, or it is
    ignored.
    """
    floor_die: Literal["two", "one"] = "two"
    """How many reserve dice are chosen when a die falls to the floor during a point series."""
    place_eight: Literal["offered", "absent"] = "offered"
    """Whether the 8 has a place bet. The decree omits it from the list of bets but states what it
    pays.
    """
    multiples: Literal["to_one", "for_one", "layout"] = "to_one"
    """Whether the decree's multiples of the bet include the bet itself. ``to_one``: no;
    ``for_one``: yes; ``layout``: only for 15 and 30 times.
    """
    highest_simple: Money | None = None
    """The highest authorised stake on a simple bet, in minor units; other limits follow from it.
    None: the highest that the decree allows any authorisation.
    """
    field_four: Literal["printed", "wins"] = "printed"
    """Whether a 4 on the field loses, as the decree prints it, or wins, as is usual."""


LAWS = (
    "bet_after_close",
    "bet_locked",
    "bet_maximum",
    "bet_minimum",
    "bet_maximum_multiple",
    "bet_maximum_place",
    "bet_maximum_simple",
    "bet_time",
    "bet_time_associated",
    "bet_time_come",
    "dice_change",
    "dice_colour",
    "dice_count",
    "dice_invalid",
    "dice_number",
    "dice_reread",
    "dice_reused",
    "dice_size",
    "dice_unchanged",
    "dice_unread",
    "dice_unregistered",
    "die_cocked",
    "die_lost",
    "die_off_table",
    "series_unfinished",
    "shooter_missing",
    "shooter_no_bet",
    "shooter_order",
    "shooter_withdrawn",
    "throw_before_close",
    "throw_out_of_round",
    "witnesses_disagree",
)
"""The laws that the game cites. Every rulebook must have each of them."""
