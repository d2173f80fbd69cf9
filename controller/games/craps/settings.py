"""The settings of one table of craps: what the decree leaves open, and what is reported to this
table.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games.amounts import Money


class CrapsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table's settings. A rulebook's ``doubts`` may state another default for any of them; a site
    has the last word.
    """

    rounds: Literal["keys", "dice"] = "keys"
    """Who opens and closes the bets: a person, for each throw; or they open by themselves and the
    moving dice close them.
    """
    serials: Literal["told", "unwatched"] = "told"
    """Whether the serial numbers of the dice are reported to the table; if so, no throw counts
    before they are.
    """
    shooter: Literal["told", "unwatched"] = "told"
    """Whether the shooter and their bets are reported to the table; if so, a throw without the
    shooter's Win or Don't Win bet waits for a person.
    """
    early_throw: Literal["ask", "void", "ignored"] = "ask"
    """A throw before the bets are closed: a person decides, it is void, or whatever the dice do
    before the call is ignored.
    """
    floor_die: Literal["two", "one"] = "two"
    """In place of a die that fell to the floor in a point series two are chosen from the reserve,
    or one.
    """
    place_eight: Literal["offered", "absent"] = "offered"
    """The list of place bets leaves out the 8, but its pay is there."""
    multiples: Literal["to_one", "for_one", "layout"] = "to_one"
    """«Paid so many times the bet»: the bet not included, or included; ``layout``: included for 15
    and 30 times only.
    """
    highest_simple: Money | None = None
    """The highest stake on a simple bet, as the authorisation has it, in minor units; the others
    follow from it. Where it is not stated, no stake may be above what the decree lets any
    authorisation have.
    """
    field_four: Literal["printed", "wins"] = "printed"
    """Where the decree leaves the 4 out of the field: it loses as it is printed, or wins as it
    usually does.
    """


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
    "dice_changed",
    "dice_colour",
    "dice_count",
    "dice_invalid",
    "dice_number",
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
)
"""The laws that the game cites: a rulebook has each of them."""
