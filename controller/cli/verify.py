"""``novamas verify``: verifies that a journal has not been altered."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from common.contract.messages.messages import ENGLISH, LANGUAGES, text
from common.own_language import add_language
from controller.cli.progress import Percent
from controller.cli.verdicts import (
    add_journal,
    conclude,
    missing_parts,
    proof,
    share,
    wants_page,
    witness_wanted,
)

if TYPE_CHECKING:
    from controller.proof.verdict import Verdict


def arguments(parser: argparse.ArgumentParser) -> None:
    """JOURNAL [--key K] [--witness ARCHIVE] [--other JOURNAL] [--json | --text] [--jobs N]."""
    add_journal(parser)
    parser.add_argument(
        "--witness",
        type=Path,
        metavar="ARCHIVE",
        help="a subscriber's archive: events and checkpoints as JSON lines, in any order",
    )
    parser.add_argument(
        "--other",
        type=Path,
        metavar="JOURNAL",
        help="the journal of the other daemon of a pair: check that it has what was handed over",
    )
    add_language(parser, LANGUAGES)


def run(arguments: argparse.Namespace) -> int:
    """Print the verdict to stdout and return its exit status."""
    from controller.proof.hand_overs import compare
    from controller.proof.verify import verify
    from controller.proof.witness import Witness

    witness, unreadable = None, None
    if arguments.witness is not None:
        try:
            witness = Witness(arguments.witness)
        except OSError as error:
            unreadable = f"{arguments.witness}: {error.strerror}; name a subscriber's archive"
    with Percent("verifying") as percent:
        verdict = verify(
            arguments.journal,
            arguments.signer,
            () if witness is None else witness.checkpoints.values(),
            None if witness is None else witness.on_entry,
            percent.show,
            arguments.jobs,
        )
    if arguments.other is not None:
        compare(arguments.journal, arguments.other, verdict)
    if witness is not None:
        witness.add_evidence(verdict)
    if unreadable is not None:
        verdict.unread.append(unreadable)
    return conclude(
        verdict.outcome,
        _page(verdict, arguments.journal, arguments.witness, arguments.language)
        if wants_page(arguments)
        else [as_json(verdict)],
    )


def as_json(verdict: Verdict) -> str:
    """Encode the verdict as one JSON object."""
    outcome = {"outcome": verdict.outcome, "holds": verdict.holds}
    return msgspec.json.encode({**outcome, **msgspec.structs.asdict(verdict)}).decode()


def _page(verdict: Verdict, journal: Path, witness: Path | None, language: str) -> list[str]:
    if not verdict.entries and not verdict.problems:
        return headline(verdict, language)
    signed = verdict.checkpoints - verdict.unsigned - verdict.elsewhere
    whose = "given with --signer" if verdict.trusted else "named by the journal itself"
    lines = [
        f"Journal     {verdict.journal}",
        (
            f"Entries     {verdict.entries}, from {verdict.first or '-'} to {verdict.last or '-'}; "
            f"{verdict.segments} sealed days"
        ),
        (
            f"Checkpoints {signed} signed, {verdict.unsigned} not; vouched for up to entry "
            f"{verdict.through} of {verdict.head}"
        ),
        f"Keys        {', '.join(verdict.keys) or 'none'} ({whose})",
    ]
    lines += [f"Extension   {used}" for used in verdict.extensions]
    if witness is not None:
        lines.append(f"Witness     {witness}: {verdict.witnessed} events as in the journal")
    notes = list(verdict.notes)
    if verdict.elsewhere:
        notes.append(f"{verdict.elsewhere} checkpoints are of other journals, and were skipped")
    if verdict.disbelieved:
        notes.append(
            f"{verdict.disbelieved} checkpoints of the archive are not signed with a trusted key, "
            "and were ignored"
        )
    notes += [
        f"entries {span.first} to {span.last} were removed at the end of their term, as recorded "
        "in the journal"
        for span in verdict.removed
    ]
    lines += [f"Note        {note}" for note in notes]
    return [
        *lines,
        "",
        *headline(verdict, language),
        *([] if witness is not None else witness_wanted(verdict, journal)),
    ]


def headline(verdict: Verdict, language: str = ENGLISH) -> list[str]:
    """Return the verdict in words, with how much of the journal it covers: its first line in that
    language, the detail in English.
    """
    if verdict.problems:
        first = verdict.problems[0]
        lines = [
            text("terminal.does_not_hold", language, what=first.what),
            f"               in {first.source}",
        ]
        lines += [f"Also: {problem.what}" for problem in verdict.problems[1:]]
        lines += [f"And {verdict.more} more."] if verdict.more else []
        return [*lines, *missing_parts(verdict)]
    covered = text(
        "terminal.covered",
        language,
        proved=verdict.proved,
        entries=verdict.entries,
        share=share(verdict.proved, verdict.entries),
    )
    saved = (
        "The state from which each table resumes after a restart (table saved) is in no hash: "
        "`novamas audit` derives and compares it."
    )
    if verdict.holds and verdict.trusted:
        return [
            text("terminal.holds", language, covered=covered),
            saved,
        ]
    if verdict.holds:
        return [
            text("terminal.holds_together", language, entries=verdict.entries),
            saved,
            *proof(verdict),
        ]
    if not verdict.entries:
        why = "; ".join(verdict.unread) or text("terminal.no_entries", language)
        return [text("terminal.not_judged_why", language, why=why)]
    key = "not_judged_partly" if verdict.trusted else "not_judged"
    return [
        text(f"terminal.{key}", language, **({"covered": covered} if verdict.trusted else {})),
        *missing_parts(verdict),
        *proof(verdict),
    ]
