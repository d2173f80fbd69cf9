"""References to printed rules, and questions that the law leaves open; used by every game's
rulebook.
"""

from __future__ import annotations

import msgspec


class Law(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a rule is printed: its number in ``rules.tsv``, and the place in the decree as an
    inspector would cite it.
    """

    rule: str
    article: str

    @property
    def cited(self) -> str:
        """The rule and its article, as cited in a refusal."""
        return f"{self.rule}, {self.article}"


class LawDoubt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A point on which the law is silent or ambiguous: the question, the choices, the default and
    its reason.
    """

    question: str
    choices: tuple[str, ...]
    default: str
    why: str
    lines: str
    """Lines in the digest, e.g. ``L298-303``."""
