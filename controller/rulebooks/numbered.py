"""Each numbered rule with all that is known of it: the article and its words, what the table does,
and what proves it.

``printed.tsv`` is made from the gazettes, ``proofs.tsv`` by the run of the mutants; tests hold both
to what they come from.
"""

from __future__ import annotations

from functools import cache

import msgspec

from controller.rulebooks import rows
from controller.rulebooks.dispositions import dispositions, subjects
from controller.rulebooks.rulebook import rulebook


class Proof(msgspec.Struct, frozen=True):
    """A ``test`` that claims the rule, and what was broken to see it fail; ``mutant`` is empty for
    what is not enforced.
    """

    test: str
    mutant: str


class Numbered(msgspec.Struct, frozen=True):
    """A rule. ``disposition``: one of ``KINDS``, or ``not_yet``. ``wording``: the rule in our short
    words, ``where``: what carries it, ``reason``: why it is out of reach. ``article``: where the
    decree prints it; ``lines``: of the copy that we read; ``printed``: its words, as they stand
    there.
    """

    id: str
    decree: str
    game: str
    disposition: str
    wording: str
    where: str
    reason: str
    article: str
    lines: str
    printed: str
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
                article=f"{rulebook(subject.decree).title}, {words[rule]['article']}",
                lines=words[rule]["lines"],
                printed=words[rule]["words"],
                proofs=proofs.get(rule, ()),
            )
    return found
