"""Every numbered rule of the decrees: its article and words, what the table does about it, and the
tests that prove it.

``printed.tsv`` is extracted from the gazettes, and the mutant run writes ``proofs.tsv``. Tests
check both against their sources.
"""

from __future__ import annotations

from functools import cache

import msgspec

from controller.rulebooks import rows
from controller.rulebooks.chapters import head
from controller.rulebooks.dispositions import dispositions, subjects


class Proof(msgspec.Struct, frozen=True):
    """A test that claims to prove a rule."""

    test: str
    mutant: str
    """The change to the code that makes the test fail; empty if the rule is not enforced."""


class Numbered(msgspec.Struct, frozen=True):
    """A numbered rule."""

    id: str
    decree: str
    game: str
    disposition: str
    """One of ``KINDS``, or ``not_yet``."""
    wording: str
    """The rule in our own short words."""
    where: str
    """The setting, event, command or rulebook key that implements it."""
    reason: str
    """Why the rule is out of reach; empty if it is not."""
    article: str
    """The decree and article that print it."""
    lines: str
    """Its line numbers in the copy of the decree that we read."""
    printed: str
    """The decree's exact words."""
    proofs: tuple[Proof, ...]


@cache
def numbered() -> dict[str, Numbered]:
    """All rules of all decrees, by id."""
    words = {row["id"]: row for row in rows("printed.tsv", ("id", "article", "lines", "words"))}
    proofs: dict[str, tuple[Proof, ...]] = {}
    for row in rows("proofs.tsv", ("id", "test", "mutant")):
        proofs[row["id"]] = (*proofs.get(row["id"], ()), Proof(row["test"], row["mutant"]))
    found = {}
    for subject in subjects():
        for rule in subject.ids:
            answer = dispositions().get(rule)
            found[rule] = Numbered(
                id=rule,
                decree=subject.decree,
                game=answer.game if answer else subject.subject,
                disposition=answer.disposition if answer else "not_yet",
                wording=answer.wording if answer else "",
                where=answer.where if answer else "",
                reason=answer.reason if answer else "",
                article=f"{head(subject.decree).title}, {words[rule]['article']}",
                lines=words[rule]["lines"],
                printed=words[rule]["words"],
                proofs=proofs.get(rule, ()),
            )
    return found
