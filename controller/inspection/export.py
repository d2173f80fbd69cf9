"""Writes a page: some days of a journal, with what an audit of the whole journal found."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from common import clock
from common.contract.node import Checkpoint
from common.contract.times import format_utc
from common.contract.version import SOFTWARE
from common.errors import NovamasError
from common.new_file import replacing
from controller.inspection import excerpt
from controller.inspection.excerpt import ExcerptChain
from controller.inspection.packing import pack, pack_entry
from controller.inspection.page import (
    FORMAT,
    PageChain,
    PageHeader,
    StatedDifference,
    StatedProof,
    write_page,
)
from controller.proof.audit import Unseal, audit
from controller.proof.evidence import Evidence
from controller.proof.findings import Audit
from controller.proof.verdict import Verdict
from controller.proof.verify import verify
from controller.proof.witness import Witness

Progress = Callable[[str, int, int], None]
"""Called with the part of the work, how much of it is done, and its total."""


class NoEntriesError(NovamasError):
    """The journal has no entry of the wanted days. The message names its days."""


def export_page(
    journal: Path,
    days: str,
    output: Path,
    *,
    unseal: Unseal | None = None,
    witness: Witness | None = None,
    jobs: int = 1,
    progress: Progress = lambda _part, _done, _total: None,
) -> PageHeader:
    """Write the page of these days, such as ``2026-11-19`` or ``2026-11``. ``unseal``
    opens sealed bodies for the audit, and none of them for the page; ``witness``: a subscriber's
    archive, with which the journal is compared; ``jobs``: the number of processes that audit a
    large journal. Raises ``JournalUnusableError``,
    :class:`NoEntriesError`, :class:`~controller.inspection.packing.ExcerptError` and ``OSError``.
    """
    evidence = Evidence(journal)
    audited = audit(
        journal, unseal, lambda done, total: progress("auditing", done, total), None, jobs
    )
    compared = None if witness is None else _compared(journal, witness, progress)
    points = () if witness is None else witness.checkpoints.values()
    found = excerpt.find(evidence, days, points)
    if not found.chains:
        raise NoEntriesError(
            f"{journal}: no entry of {days}; its entries are from "
            f"{audited.chain.first[:10] or '-'} to {audited.chain.last[:10] or '-'}"
        )
    with (
        tempfile.TemporaryFile() as spool,
        replacing(output) as file,
    ):
        chains, sizes = list[PageChain](), list[int]()
        for chain in found.chains:
            lengths = [
                spool.write(block)
                for block in pack(excerpt.entries(evidence, chain), chain.previous)
            ]
            chains.append(_page_chain(chain, len(lengths)))
            sizes += lengths
        spool.seek(0)
        header = PageHeader(
            format=FORMAT,
            days=days,
            made=format_utc(clock.wall()),
            software=SOFTWARE,
            site=audited.chain.site,
            chains=tuple(chains),
            left_out=tuple(found.left_out),
            audit=_stated(audited.chain, audited),
            witness=None if compared is None else _stated(compared),
        )
        write_page(file, header, _points(found.chains), (spool.read(size) for size in sizes))
    return header


def _page_chain(chain: ExcerptChain, blocks: int) -> PageChain:
    setup = chain.setup
    return PageChain(
        journal=chain.journal,
        after=chain.after,
        last=chain.last,
        end=chain.end,
        head=chain.head,
        previous=chain.previous.hex(),
        blocks=blocks,
        setup=None if setup is None else base64.b64encode(pack_entry(setup, None)).decode(),
    )


def _points(chains: list[ExcerptChain]) -> Iterator[Checkpoint]:
    for chain in chains:
        yield from chain.checkpoints


def _compared(journal: Path, witness: Witness, progress: Progress) -> Verdict:
    """Compare the journal with the archive of a subscriber."""
    verdict = verify(
        journal,
        None,
        witness.checkpoints.values(),
        witness.on_entry,
        lambda done, total: progress("comparing", done, total),
    )
    witness.add_evidence(verdict)
    return verdict


def _stated(chain: Verdict, audited: Audit | None = None) -> StatedProof:
    """Return what an audit found, or a comparison alone."""
    against = [StatedDifference(each.what, each.position) for each in chain.problems]
    unjudged = [
        *chain.unread,
        *(f"entries {span.first} to {span.last} are missing" for span in chain.missing),
    ]
    if audited is None:
        return StatedProof(
            outcome=chain.outcome,
            against=tuple(against),
            unjudged=tuple(unjudged),
            notes=tuple(chain.notes),
            witnessed=chain.witnessed,
        )
    against += [
        StatedDifference(each.what, each.position, each.time, each.table)
        for each in audited.differences
    ]
    unjudged += [f"{count}: {why}" for why, count in audited.unproved.items()]
    unjudged += [f"no event of table {table} could be derived" for table in audited.unproved_tables]
    return StatedProof(
        outcome=audited.outcome,
        against=tuple(against),
        unjudged=tuple(unjudged),
        notes=(*chain.notes, *audited.notes),
        readings=audited.readings,
        proved_readings=audited.proved_readings,
        events=audited.events,
        proved_events=audited.proved_events,
        sealed=audited.sealed,
    )
