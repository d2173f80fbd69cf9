"""Every numbered rule of the decrees: its article and words, how the table handles it, and the
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


class RuleProof(msgspec.Struct, frozen=True):
    """A test that claims to prove a rule."""

    test: str
    mutant: str
    """The change to the code that makes the test fail; empty if the rule is not enforced."""


class NumberedRule(msgspec.Struct, frozen=True):
    """A numbered rule."""

    id: str
    decree: str
    game: str
    disposition: str
    """One of ``KINDS``, or ``not_yet``."""
    wording: str
    """Summary of the rule in our own words."""
    where: str
    """The setting, event, command or rulebook key that implements it."""
    reason: str
    """Why the rule is out of reach; empty if it is not."""
    article: str
    """The decree and article that print it."""
    lines: str
    """Line numbers in our copy of the decree."""
    printed: str
    """The decree's exact words."""
    language: str
    """The language in which the decree is printed."""
    proofs: tuple[RuleProof, ...]


@cache
def numbered() -> dict[str, NumberedRule]:
    """Return all rules of all decrees, by id."""
    words = {row["id"]: row for row in rows("printed.tsv", ("id", "article", "lines", "words"))}
    proofs: dict[str, tuple[RuleProof, ...]] = {}
    for row in rows("proofs.tsv", ("id", "test", "mutant")):
        proofs[row["id"]] = (*proofs.get(row["id"], ()), RuleProof(row["test"], row["mutant"]))
    rules = {}
    for subject in subjects():
        for rule in subject.ids:
            disposition = dispositions().get(rule)
            rules[rule] = NumberedRule(
                id=rule,
                decree=subject.decree,
                game=disposition.game if disposition else subject.subject,
                disposition=disposition.disposition if disposition else "not_yet",
                wording=disposition.wording if disposition else "",
                where=disposition.where if disposition else "",
                reason=disposition.reason if disposition else "",
                article=f"{head(subject.decree).title}, {words[rule]['article']}",
                lines=words[rule]["lines"],
                printed=words[rule]["words"],
                language=head(subject.decree).languages[0],
                proofs=proofs.get(rule, ()),
            )
    return rules


def printed_rules() -> bytes:
    """Return the printed words of every rule and their language, by id, as JSON: for programs
    beside the daemon, which show them next to an article.
    """
    return msgspec.json.encode(
        {
            name: {"words": rule.printed, "language": rule.language}
            for name, rule in numbered().items()
        }
    )
