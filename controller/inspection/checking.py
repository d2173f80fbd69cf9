"""Checks a page without its own code: the entries in it are verified and derived again as those of
a journal are, and its shell is compared with that of this release.
"""

from __future__ import annotations

import base64
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import msgspec

from common.chain.checkpoint import signature_problem
from common.chain.schema import SCHEMA, VERSION, Entry
from common.contract.node import Checkpoint
from controller.inspection.packing import ExcerptError, unpack, unpack_entry
from controller.inspection.page import PageChain, PageHeader, StatedProof, digest, read_page, shell
from controller.journal.setup import Boot
from controller.proof.audit import Auditor, Unseal
from controller.proof.findings import NO_BEGINNING, Audit
from controller.proof.outcome import ProofOutcome, conclude
from controller.proof.verdict import Verdict
from controller.proof.verify import verify


class PageCheck(msgspec.Struct, kw_only=True):
    """The findings. ``code``: the digest of the page's shell; ``known``: it is that of this
    release; ``audits``: of each chain; ``damage``: why its data cannot be read.
    """

    page: str
    code: str = ""
    known: bool = False
    header: PageHeader | None = None
    audits: list[Audit] = []
    damage: str = ""

    @property
    def outcome(self) -> ProofOutcome:
        """The verdict on the data, and on what the page states of the audit of its journal; the
        shell has no part in it.
        """
        outcomes = [
            *(audit.outcome for audit in self.audits),
            *(found.outcome for _, found in self.stated()),
        ]
        return conclude(
            against=bool(self.damage) or ProofOutcome.DOES_NOT_HOLD in outcomes,
            lacking=not self.audits
            or ProofOutcome.NOT_JUDGED in outcomes
            or bool(self.header and self.header.left_out),
        )

    def stated(self) -> list[tuple[str, StatedProof]]:
        """Return what the page states of its journal, by the name of what found it."""
        if self.header is None:
            return []
        found = ("audit", self.header.audit), ("witness", self.header.witness)
        return [(name, each) for name, each in found if each is not None]

    def against(self) -> list[str]:
        """Return what contradicts the page."""
        return [
            *([f"its data is damaged: {self.damage}"] if self.damage else []),
            *(problem.what for audit in self.audits for problem in audit.chain.problems),
            *(
                f"entry {each.position}: {each.what}"
                for audit in self.audits
                for each in audit.differences
            ),
            *(
                f"the {name} of the journal found: {each.what}"
                for name, found in self.stated()
                for each in found.against
            ),
        ]

    def lacking(self) -> list[str]:
        """Return why a part could not be judged."""
        return [
            *(why for audit in self.audits for why in audit.chain.unread),
            *(f"{audit.sealed} entries are sealed" for audit in self.audits if audit.sealed),
            *(
                f"{count} entries are covered by no checkpoint that the key given has signed"
                for audit in self.audits
                if audit.chain.trusted and (count := audit.chain.entries - audit.chain.proved)
            ),
            *(f"left out: {each}" for each in (self.header.left_out if self.header else ())),
            *(
                f"the {name} of the journal: {each}"
                for name, found in self.stated()
                for each in found.unjudged
            ),
        ]


class ExcerptAuditor(Auditor):
    """Derives the entries from the first ``boot`` entry on. Those before belong to a run whose
    beginning the page does not have.
    """

    _begun = False

    def on_entry(self, entry: Entry) -> None:
        """Audit the next entry."""
        self._begun = self._begun or entry.kind == "boot"
        if self._begun:
            super().on_entry(entry)
            return
        self.audit.entries += 1
        self.audit.readings += entry.kind == "input"
        self.audit.events += entry.kind == "event"
        if entry.kind in ("input", "event"):
            unproved = self.audit.unproved
            unproved[NO_BEGINNING] = unproved.get(NO_BEGINNING, 0) + 1


def check_page(path: Path, key: str | None = None, unseal: Unseal | None = None) -> PageCheck:
    """Check a page. ``key``: the public key to trust; ``unseal`` opens sealed bodies. Raises
    ``OSError``.
    """
    check = PageCheck(page=str(path))
    try:
        page = read_page(path)
        check.code, check.header = digest(page.shell), page.header
        check.known = page.shell == shell()
        with tempfile.TemporaryDirectory() as folder:
            for number, (chain, blocks) in enumerate(page.chains()):
                journal = Path(folder) / f"{number}.sqlite3"
                previous = bytes.fromhex(chain.previous)
                _write(
                    journal,
                    {
                        "version": str(VERSION),
                        "id": chain.journal,
                        "cut": str(chain.after),
                        "cut_hash": chain.previous,
                    },
                    unpack(blocks, previous),
                )
                points = [each for each in page.checkpoints if each.journal == chain.journal]
                auditor = ExcerptAuditor(path, unseal)
                verdict = verify(journal, key, points, auditor, excerpt=_named_before(chain))
                _add_missing(verdict, chain)
                _add_signatures(verdict, points)
                check.audits.append(auditor.conclude(verdict))
    except (ExcerptError, ValueError, sqlite3.Error, OverflowError) as error:
        check.damage = str(error)
    return check


def _named_before(chain: PageChain) -> list[str]:
    """Return the public key that the ``boot`` entry before the page names. Raises
    :class:`ExcerptError`.
    """
    if chain.setup is None:
        return []
    try:
        entry = unpack_entry(base64.b64decode(chain.setup, validate=True))
        boot = msgspec.json.decode(entry.body, type=Boot)
    except (ValueError, RecursionError):
        raise ExcerptError("the setup before its first entry is damaged") from None
    return [] if boot.key is None else [boot.key]


def _add_missing(verdict: Verdict, chain: PageChain) -> None:
    """Add what is wrong if the entries do not end where the header of the page says."""
    if verdict.head != chain.last:
        what = f"the entries end at {verdict.head}; the page names {chain.last} as the last one"
        verdict.wrong(verdict.journal, verdict.head + 1, what)


def _add_signatures(verdict: Verdict, points: Iterable[Checkpoint]) -> None:
    """Add what is wrong with signed checkpoints, if there is a key to check them with. The page has
    none of which that is expected.
    """
    for point in points if verdict.keys else ():
        wrong = signature_problem(point, frozenset(verdict.keys))
        if wrong is not None and point.signature is not None:
            what = f"the checkpoint of {point.time[:40]}, entry {point.position}: {wrong}"
            verdict.wrong(verdict.journal, point.position, what)


def _write(path: Path, meta: dict[str, str], entries: Iterable[Entry]) -> None:
    """Write a journal with these entries as they are. Raises :class:`ExcerptError`."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {SCHEMA}")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        try:
            connection.executemany(
                "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (msgspec.structs.astuple(entry) for entry in entries),
            )
        except sqlite3.IntegrityError:
            raise ExcerptError("two entries have one position") from None
        connection.execute("COMMIT")
