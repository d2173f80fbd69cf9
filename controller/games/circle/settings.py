"""The settings of one table of circle poker, and the irregularities that the game names."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games.amounts import Count, Money, Times


class CircleSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of one table. The site's value wins, then the default of the rulebook's
    ``doubts``, then the one here.
    """

    direction: Literal["clockwise", "anticlockwise"] = "anticlockwise"
    """The direction of the deal and the button, if the decree leaves it open."""
    numbers: Literal["from_right", "from_left"] = "from_right"
    """From which side of the croupier the places are numbered: with ``from_right`` the numbers rise
    against the clock.
    """
    first_card: Literal["hand", "next"] = "hand"
    """Who gets the first card: the player with the button, or the next one."""
    after_misdeal: Literal["stays", "moves"] = "stays"
    """Whether the button moves on before a round that is dealt again."""
    common: Literal["laid", "drawn"] = "laid"
    """Synthetic poker, where the decree does not say it: all common cards are laid down covered
    with the deal, or each is drawn from the pack when its turn comes.
    """
    low_hand: Literal["eight_or_better", "common_eight"] = "eight_or_better"
    """Omaha high and low, where the decree speaks of three common cards up to 8 alone: whether a
    player's own cards of the low hand may be higher.
    """
    first_common: Literal["with_flop", "with_deal"] = "with_flop"
    """Omaha with five cards: whether the first common card is shown with the deal."""
    pack: Literal["by_players", "deck_52", "deck_32"] = "by_players"
    """Draw, where the decree does not say with how many players which pack is used: by their
    number, or always the same.
    """
    deck_check_rounds: Times = 30
    """Rounds after which a pack that has to be looked at now and then was not looked at for too
    long.
    """
    rake: Literal["pot", "session", "hand"] | None = None
    """Which way the house takes its share, of those that the decree has; None: unknown."""
    rake_percent: Count | None = None
    limit: Literal["split", "pot", "fixed", "none"] | None = None
    """How bets are limited, of the ways that the decree has; None: unknown."""
    maximum: Money | None = None
    """The table's highest bet, in minor units; None: unknown."""
    ante: Money | None = None
    """The ante, in minor units; None: unknown."""
    duration: Times | None = None
    """Minutes that a match lasts, where the house has set it; None: it has not."""


LAWS = (
    "deck_unchecked",
    "deck_defective",
    "players_too_few",
    "players_too_many",
    "rest_too_long",
    "limits",
    "raise_limit",
    "card_out_of_round",
    "card_unread",
    "card_duplicate",
    "card_foreign",
    "shown_differs",
    "silence",
    "burn_missing",
    "cards_lacking",
    "showdown",
    "deal_order",
    "deal_too_many",
    "deal_too_few",
    "deal_wrong_hand",
    "deal_exposed",
    "deal_shown_by_player",
    "deal_exposed_in_cut",
    "deal_exposed_in_deck",
    "deal_missing_card",
    "deal_foreign_card",
    "deal_defective",
    "deal_premature",
    "deal_extra_common",
    "deal_absent",
    "deal_touched",
)
"""The laws that every variant cites: a rulebook has each of them, and those of the errors that are
its own.
"""
