"""What happens to each numbered rule of the decrees, and how many are still without an answer.

``rules.tsv`` counts the rules of the digests by decree and subject: their numbers are fixed.
``own_rules.tsv`` has those that the digests lack, found when the decrees were read again:
``ARA02-E01`` is the first such rule of ARA02. ``dispositions.tsv`` has one line for each rule that
has an answer. A rule without a line is honestly *not yet*.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Literal

import msgspec

from controller.rulebooks import rows

Kind = Literal["enforced", "published", "asserted_by_person", "out_of_reach"]
"""``enforced``: the table acts on it or says the irregularity. ``published``: the fact or figure
that the rule needs is given to whoever applies it. ``asserted_by_person``: a person says it by a
command. ``out_of_reach``: with its reason.
"""
KINDS: tuple[Kind, ...] = ("enforced", "published", "asserted_by_person", "out_of_reach")


class Disposition(msgspec.Struct, frozen=True):
    """The answer to one rule. ``where``: the setting, event, command or key of the rulebook that
    carries it; an ``out_of_reach`` rule has a ``reason``. ``wording``: the rule in our short words.
    """

    id: str
    game: str
    disposition: Kind
    wording: str
    where: str
    reason: str


class OwnRule(msgspec.Struct, frozen=True):
    """A rule that the digests lack: where the decree prints it, and what it says."""

    id: str
    subject: str
    lines: str
    rule: str


class Subject(msgspec.Struct, frozen=True):
    """The rules of a decree, by id in order, that are about one subject: a game, or what several
    games share.
    """

    decree: str
    subject: str
    ids: tuple[str, ...]


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
    found = msgspec.convert(
        rows("dispositions.tsv", Disposition.__struct_fields__), list[Disposition]
    )
    repeated = [rule for rule, times in Counter(line.id for line in found).items() if times > 1]
    if repeated:
        raise ValueError(f"dispositions.tsv: more than one line for {', '.join(repeated)}")
    return {line.id: line for line in found}


@cache
def own_rules() -> dict[str, OwnRule]:
    """The rules that the digests lack, by id. Raises ``ValueError`` for a bad line."""
    found = msgspec.convert(rows("own_rules.tsv", OwnRule.__struct_fields__), list[OwnRule])
    return {rule.id: rule for rule in found}


@cache
def subjects() -> tuple[Subject, ...]:
    """All rules of all decrees, by decree and subject: of each those of the digests, then those
    that they lack.
    """
    numbered = [
        Subject(
            row["decree"],
            row["subject"],
            tuple(
                f"{row['decree']}-{number:03}"
                for number in range(int(row["first"]), int(row["last"]) + 1)
            ),
        )
        for row in rows("rules.tsv", ("decree", "first", "last", "subject"))
    ]
    own: dict[tuple[str, str], tuple[str, ...]] = {}
    for rule in own_rules().values():
        key = (rule.id.split("-")[0], rule.subject)
        own[key] = (*own.get(key, ()), rule.id)
    decrees = list(dict.fromkeys(subject.decree for subject in numbered))
    lacking = [Subject(decree, subject, ids) for (decree, subject), ids in own.items()]
    return tuple(sorted((*numbered, *lacking), key=lambda subject: decrees.index(subject.decree)))


def coverage() -> tuple[Count, ...]:
    """How the rules stand, one line per decree and subject."""
    counts = []
    for subject in subjects():
        kinds = Counter(
            dispositions()[rule].disposition for rule in subject.ids if rule in dispositions()
        )
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
