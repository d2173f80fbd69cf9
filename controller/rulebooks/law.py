"""Where a rule is printed, and where the law leaves a question open: what every game's rulebook
consists of.
"""

from __future__ import annotations

import msgspec


class Law(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a rule is printed: its number in ``rules.tsv`` and the place in the decree, as an
    inspector would cite it.
    """

    rule: str
    article: str

    @property
    def cited(self) -> str:
        """The rule and its article, as a refusal cites them."""
        return f"{self.rule}, {self.article}"


class Doubt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the law is silent or ambiguous: the question, the choices, what we do by default and
    why.
    """

    question: str
    choices: tuple[str, ...]
    default: str
    why: str
    lines: str
    """Where the digest shows it, e.g. ``L298-303``."""
