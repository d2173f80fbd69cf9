"""How each numbered rule of the decrees is handled, and how many rules are not handled yet.

``rules.tsv`` has the ranges of rule numbers in the digests, by decree and subject; the numbers
never change. ``own_rules.tsv`` has the rules that the digests lack, found on a second reading of
the decrees: ``ARA02-E01`` is the first such rule of ARA02. ``dispositions.tsv`` has one line for
each rule that is handled; a rule without a line counts as *not yet*.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Literal

import msgspec

from controller.rulebooks import rows

Kind = Literal["enforced", "published", "asserted_by_person", "out_of_reach"]
"""How a rule is handled.
- ``enforced``: the table acts on it or reports the irregularity; for a jackpot's meter, its
  controller does.
  controller does.
- ``published``: the table publishes the fact or figure that a person needs to apply it.
- ``asserted_by_person``: a person reports it by a command.
- ``out_of_reach``: the table cannot handle it, for the reason given.
"""
KINDS: tuple[Kind, ...] = ("enforced", "published", "asserted_by_person", "out_of_reach")


class Disposition(msgspec.Struct, frozen=True):
    """How one rule is handled."""

    id: str
    game: str
    disposition: Kind
    wording: str
    """Summary of the rule in our own words."""
    where: str
    """The setting, event, command or rulebook key that implements it."""
    reason: str
    """Why the rule is out of reach; empty if it is not."""


class OwnRule(msgspec.Struct, frozen=True):
    """A rule that the digests lack: its lines in the decree, and a summary."""

    id: str
    subject: str
    lines: str
    rule: str


class Subject(msgspec.Struct, frozen=True):
    """The ids, in order, of a decree's rules about one subject: a game, or a topic that several
    games share.
    """

    decree: str
    subject: str
    ids: tuple[str, ...]


class RuleCount(msgspec.Struct, frozen=True):
    """Number of rules of a subject by kind; the kinds and ``not_yet`` add up to ``total``."""

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
    """Return every rule that is handled, by id. Raises ``ValueError`` for an invalid line."""
    lines = msgspec.convert(
        rows("dispositions.tsv", Disposition.__struct_fields__), list[Disposition]
    )
    repeated = [rule for rule, times in Counter(line.id for line in lines).items() if times > 1]
    if repeated:
        raise ValueError(f"dispositions.tsv: more than one line for {', '.join(repeated)}")
    return {line.id: line for line in lines}


@cache
def own_rules() -> dict[str, OwnRule]:
    """Return the rules that the digests lack, by id. Raises ``ValueError`` for an invalid line."""
    lines = msgspec.convert(rows("own_rules.tsv", OwnRule.__struct_fields__), list[OwnRule])
    return {rule.id: rule for rule in lines}


@cache
def subjects() -> tuple[Subject, ...]:
    """Return all rules by decree and subject: for each decree first those of the digests, then
    those that they lack.
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


def coverage() -> tuple[RuleCount, ...]:
    """Return the number of rules by kind, for each decree and subject."""
    counts = []
    for subject in subjects():
        kinds = Counter(
            dispositions()[rule].disposition for rule in subject.ids if rule in dispositions()
        )
        counts.append(
            RuleCount(
                decree=subject.decree,
                subject=subject.subject,
                **{kind: kinds[kind] for kind in KINDS},
                not_yet=len(subject.ids) - kinds.total(),
                total=len(subject.ids),
            )
        )
    return tuple(counts)
