"""``novamas profile new``: proposes a profile for an unknown wheel from a recording."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from common.new_file import create_private
from common.typed_line import typed_line
from controller.cli import CommandLineError
from controller.cli.decode import read_whole
from devices.links import check_link
from devices.profiles.proposal.numbers import POCKETS, Shown
from devices.profiles.proposal.proposal import Proposal, propose
from devices.profiles.proposal.questions import open_questions
from devices.profiles.proposal.text import Head
from devices.recording import Recording

QUESTION = (
    "What did the wheel show during the recording? All numbers in their order, as in 17 4 0 "
    "(00 for the double zero); nothing if you do not know: "
)


def shown_numbers(text: str) -> tuple[Shown, ...]:
    """Parse the numbers that a wheel showed."""
    return tuple(_pocket(word) for word in re.split(r"[\s,;]+", text.strip()) if word)


def _pocket(word: str) -> Shown:
    if word == "00":
        return word
    if word.isascii() and word.isdigit() and int(word) in POCKETS:
        return int(word)
    raise argparse.ArgumentTypeError(f"{word} is no pocket; expected numbers from 0 to 36, or 00")


def create_profile(source: Path, output: Path | None, shown: tuple[Shown, ...] | None) -> int:
    """Write the profile that a recording proves. Return 1 if its number is not proved."""
    recording = read_whole(source)
    target = output or Path(f"{_slug(source.stem)}.toml")
    if target.exists():
        raise CommandLineError(f"{target}: already exists; name another with --output")
    if shown is None:
        shown = _ask() if sys.stdin.isatty() and sys.stdout.isatty() else ()
    proposal = _propose(recording, source, target, shown)
    try:
        create_private(target, proposal.text.encode())
    except OSError as error:
        raise CommandLineError(f"{target}: cannot be written: {error.strerror}") from error
    print("\n".join(_report(proposal, target)))
    if proposal.problem:
        print(f"novamas: {target}: {_remedy(proposal, source)}", file=sys.stderr)
    return 1 if proposal.problem else 0


def _propose(
    recording: Recording, source: Path, target: Path, shown: tuple[Shown, ...]
) -> Proposal:
    chunks = [(chunk.at, chunk.data) for chunk in recording if not chunk.sent]
    if not chunks:
        raise CommandLineError(f"{source}: the device sent nothing; record it while it works")
    line = re.sub(r",\s*", "&", recording.header.get("line-settings", ""))
    if check_link(f"serial:///port?{line}"):
        line = ""  # written by hand, or of another kind of link
    proposal = propose(
        chunks, shown, Head(_slug(target.stem), f"the recording {source.name}", line)
    )
    if not proposal.text:
        raise CommandLineError(
            f"{source}: {proposal.problem}. Is the speed right? `novamas identify` tries the usual "
            "ones; record some spins more at the right one."
        )
    return proposal


def _ask() -> tuple[Shown, ...]:
    while True:
        try:
            return shown_numbers(typed_line(QUESTION))
        except EOFError:
            return ()
        except argparse.ArgumentTypeError as error:
            print(error)


def _slug(text: str) -> str:
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-") or "wheel"


def _report(proposal: Proposal, target: Path) -> list[str]:
    questions = len(open_questions(proposal.text))
    return [
        *(
            f"{finding.text}: {finding.count} of {finding.of} {finding.unit}"
            for finding in proposal.findings
        ),
        (
            f"{target}: written, with {questions} open questions; `novamas profile check {target}` "
            "lists them"
        ),
    ]


def _remedy(proposal: Proposal, source: Path) -> str:
    more = f"; at least {proposal.missing} more spins are needed" if proposal.missing else ""
    return (
        f"it gives no number: {proposal.problem}{more}. Remove it and try `novamas profile new "
        f"{source} --shown NUMBERS` with all numbers that the wheel showed, or write the field "
        "from the maker's document."
    )
