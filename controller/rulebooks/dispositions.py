"""What becomes of each numbered rule of the decrees, and how many are still without an answer.

``rules.tsv`` counts the rules by decree and subject; ``dispositions.tsv`` has one line for each rule that has an answer.
A rule without a line is honestly *not yet*.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Literal

import msgspec

from controller.rulebooks import rows

Kind = Literal["enforced", "published", "asserted_by_person", "out_of_reach"]
"""``enforced``: the table acts on it or says the irregularity. ``published``: the fact or figure that the rule needs is
given to whoever applies it. ``asserted_by_person``: a person says it by a command. ``out_of_reach``: with its reason.
"""
KINDS: tuple[Kind, ...] = ("enforced", "published", "asserted_by_person", "out_of_reach")


class Disposition(msgspec.Struct, frozen=True):
    """The answer to one rule. ``where``: the setting, event, command or key of the rulebook that carries it; an
    ``out_of_reach`` rule has a ``reason``. ``wording``: the rule in our short words.
    """

    id: str
    game: str
    disposition: Kind
    wording: str
    where: str
    reason: str


class Subject(msgspec.Struct, frozen=True):
    """The rules ``first`` to ``last`` of a decree, all about one subject: a game, or what several games share."""

    decree: str
    first: int
    last: int
    subject: str

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its rules, in order."""
        return tuple(f"{self.decree}-{number:03}" for number in range(self.first, self.last + 1))


class Count(msgspec.Struct, frozen=True):
    """How the rules of one subject stand; the kinds and ``not_yet`` add up to ``total``."""

    decree: str
    subject: str
    enforced: int
    published: int
    asserted_by_person: int
    out_of_reach: int
    not_yet: int
    total: int


@cache
def dispositions() -> dict[str, Disposition]:
    """Every rule that has an answer, by id. Raises ``ValueError`` for a bad or repeated line."""
    found = msgspec.convert(rows("dispositions.tsv", Disposition.__struct_fields__), list[Disposition])
    repeated = [rule for rule, times in Counter(line.id for line in found).items() if times > 1]
    if repeated:
        raise ValueError(f"dispositions.tsv: more than one line for {', '.join(repeated)}")
    return {line.id: line for line in found}


@cache
def subjects() -> tuple[Subject, ...]:
    """All rules of all decrees, by decree and subject."""
    return tuple(msgspec.convert(rows("rules.tsv", Subject.__struct_fields__), list[Subject], strict=False))


def coverage() -> tuple[Count, ...]:
    """How the rules stand, one line per decree and subject."""
    counts = []
    for subject in subjects():
        kinds = Counter(dispositions()[rule].disposition for rule in subject.ids if rule in dispositions())
        counts.append(
            Count(
                decree=subject.decree,
                subject=subject.subject,
                **{kind: kinds[kind] for kind in KINDS},
                not_yet=len(subject.ids) - kinds.total(),
                total=len(subject.ids),
            )
        )
    return tuple(counts)
