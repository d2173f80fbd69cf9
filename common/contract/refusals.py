"""The reason why a command is refused: a key of the messages and its fields, for any language.

The catalogue has the text under ``refusal.<key>``. A rule is quoted after it in the words of the
decree, never translated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from common.contract.messages.messages import ENGLISH, catalogue, text
from common.errors import NovamasError
from common.readings import Whole

Field = str | Whole | tuple[str, ...]
"""A value to fill in a text: a name, a number, or a list of names."""


WORD_PREFIXES = {"why": "jackpot.out_of_play."}
"""Fields that are words of the wire, and the prefix of their keys in the messages. All other fields
are shown as they are.
"""
ROLE_PREFIXES = dict.fromkeys(("role", "roles", "others"), "role.")
"""Fields that are roles, and the prefix of their keys. Only texts for people translate roles."""


AMOUNT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "amount_above_zero": ("amount",),
    "award_due": ("due", "amount"),
    "award_left": ("left", "amount"),
    "award_paid_in_part": ("paid",),
    "award_paid_meanwhile": ("paid", "said"),
    "bet_above_maximum": ("most",),
    "bet_below_minimum": ("least",),
    "bet_locked_lower": ("amount",),
    "box_above_maximum": ("most",),
    "box_below_minimum": ("least",),
    "highest_of_bet": ("highest",),
    "highest_stake": ("highest",),
    "jackpot_stake_required": ("stake",),
    "jackpot_stake_wrong": ("amount", "stake"),
    "meter_holds": ("meter", "amount"),
    "minimum_above_zero": ("minimum",),
    "minimum_already": ("minimum",),
    "minimum_announced": ("minimum",),
    "minimum_may_only_rise": ("minimum",),
    "minimum_not_authorised": ("minimum", "allowed"),
    "second_bet_amount": ("second", "ante"),
}
"""The fields of each refusal that are amounts, in minor units."""


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Part of a reply, for a program that shows it in the language of its user."""

    key: str
    """The text ``refusal.<key>`` of ``novamas messages``."""
    fields: dict[str, Field] = {}
    """The values to fill in the text."""
    law: str | None = None
    """The rule and where it is printed, if the decree refuses it."""

    def with_amounts(self, written: Callable[[int], str]) -> Refusal:
        """Return the refusal with its amounts formatted for a person by ``written``, which takes
        minor units.
        """

        def amount(value: Field) -> Field:
            if isinstance(value, tuple):
                return tuple(written(int(each)) for each in value)
            return written(value) if isinstance(value, int) else value

        fields = {
            name: amount(value) if name in AMOUNT_FIELDS.get(self.key, ()) else value
            for name, value in self.fields.items()
        }
        return msgspec.structs.replace(self, fields=fields)

    def message(self, language: str = ENGLISH) -> str:
        """Return the text in that language, with the names of roles, and the rule."""
        return self._filled(language, WORD_PREFIXES | ROLE_PREFIXES)

    def error(self) -> str:
        """Return the English text of a reply, with roles as commands spell them."""
        return self._filled(ENGLISH, WORD_PREFIXES)

    def _filled(self, language: str, words: Mapping[str, str]) -> str:
        texts = catalogue(language)

        def shown(name: str, value: Field) -> Field:
            if isinstance(value, tuple):
                return ", ".join(str(shown(name, each)) for each in value) or "–"
            return texts.get(f"{words[name]}{value}", value) if name in words else value

        filled = {name: shown(name, value) for name, value in self.fields.items()}
        sentence = text(f"refusal.{self.key}", language, **filled)
        return sentence if self.law is None else f"{sentence}: {self.law}"


class RejectedError(NovamasError, ValueError):
    """A command that cannot be executed now, or not by this role.

    ``law``: the rule that forbids it, as ``{rule}, {article}``. The message is the English text.
    """

    def __init__(self, key: str, *, law: str | None = None, **fields: Field) -> None:
        self.refusal = Refusal(key, fields, law)
        super().__init__(key)

    def __str__(self) -> str:
        return self.refusal.error()  # a guard that is only asked needs no text
