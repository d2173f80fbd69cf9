"""Output of the commands that verify a journal: a page on a terminal, or else a JSON object, and
the exit status.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from common.contract.messages.messages import LANGUAGES, catalogue
from controller.cli.numbers import count
from controller.cli.progress import use_colours

if TYPE_CHECKING:
    from controller.proof.outcome import ProofOutcome
    from controller.proof.verdict import Verdict

STATUS_HELP = "exit status: 0 it holds, 1 it does not hold, 2 wrong usage, 3 it could not be judged"


COLOURS: Mapping[tuple[str, ...], str] = {
    ("PROVED",): "1;32",
    ("NOT PROVED",): "1;31",
    ("Not judged", "Missing", "Not proved"): "33",
    ("Also", "And "): "31",
}
"""Beginnings of a line on the page -> its colour on a terminal."""


def public_key(text: str) -> str:
    """Parse a public Ed25519 key."""
    key = text.lower()
    if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a public key: it has 64 hexadecimal digits, as a checkpoint shows it"
        )
    return key


def add_journal(parser: argparse.ArgumentParser) -> None:
    """Add the arguments ``JOURNAL``, ``--signer K``, ``--json``, ``--text`` and ``--jobs N``."""
    parser.epilog = STATUS_HELP
    parser.add_argument(
        "journal", type=Path, metavar="JOURNAL", help="the SQLite file; a daemon may be using it"
    )
    parser.add_argument(
        "--signer",
        type=public_key,
        metavar="PUBLICKEY",
        help="the public key to trust, from a checkpoint (64 digits)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_true",
        help="the verdict as one JSON object on a terminal too; elsewhere this is the default",
    )
    form.add_argument(
        "--text", action="store_true", help="the verdict as a page of text, also in a pipe or file"
    )
    cores = len(os.sched_getaffinity(0))
    parser.add_argument(
        "--jobs",
        type=count,
        default=cores,
        metavar="N",
        help="processes that share a large journal, by days (default: one for each core, here "
        f"{cores})",
    )


def wants_page(arguments: argparse.Namespace) -> bool:
    """True if the verdict is printed for a person: by default on a terminal. Otherwise it is one
    JSON object.
    """
    return arguments.text or (sys.stdout.isatty() and not arguments.json)


def conclude(outcome: ProofOutcome, lines: list[str]) -> int:
    """Print the page or the object, in colours on a terminal. Returns the exit status of the
    verdict, even if the output could not be written.
    """
    coloured = use_colours(sys.stdout)
    try:
        print(
            "\n".join(_coloured(line) if coloured else line for line in map(_printable, lines)),
            flush=True,
        )
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(
            f"novamas: the verdict ({outcome}) cannot be written: {error.strerror}", file=sys.stderr
        )
    return outcome.status


def _coloured(line: str) -> str:
    """Colour a line of the page by its beginning."""
    colours = {**COLOURS, **_verdict_colours()}
    colour = next((found for words, found in colours.items() if line.startswith(words)), None)
    return line if colour is None else f"\033[{colour}m{line}\033[0m"


@cache
def _verdict_colours() -> Mapping[tuple[str, ...], str]:
    """Beginnings of a verdict in all languages -> its colour."""
    colours = {"holds": "1;32", "holds_together": "1;32", "does_not_hold": "1;31"}
    found: dict[tuple[str, ...], str] = {}
    for key, colour in {**colours, "not_judged": "33"}.items():
        sentences = [catalogue(language)[f"terminal.{key}"] for language in LANGUAGES]
        found[tuple(re.split("[:.]", sentence)[0] for sentence in sentences)] = colour
    return found


def share(part: int, whole: int) -> str:
    """A percentage, never rounded up to 100."""
    return "0 %" if not whole else f"{part * 1000 // whole / 10:g} %"


def proof(verdict: Verdict) -> list[str]:
    """Describe how much is signed, by whom, and what to do about the rest."""
    if not verdict.entries:
        return []
    if not verdict.trusted:
        end = (
            f"No checkpoint vouches for the entries after {verdict.through}: later ones may have "
            "been cut off. "
        )
        return _wrapped(
            (end if verdict.through < verdict.head else "")
            + "Who wrote it is not proved: the journal itself names the key "
            f"({'; '.join(verdict.keys) or 'none'}). Take the public key from a checkpoint kept "
            "elsewhere, best from when the table was installed, and verify again with --signer "
            "PUBLICKEY."
        )
    if not verdict.unproved:
        return []
    left = verdict.entries - verdict.proved
    spans = ", ".join(f"{span.first} to {span.last}" for span in verdict.unproved[:5])
    return _wrapped(
        f"Not proved: entries {spans} ({left} of {verdict.entries}, "
        f"{share(left, verdict.entries)}). No checkpoint signed with the given key covers them: "
        "anybody may have written them. If the daemon is running, verify again in a minute: it "
        "signs every 30 seconds. If not, look for a later checkpoint in a subscriber's archive, "
        "and verify again with --witness ARCHIVE."
    )


def missing_parts(verdict: Verdict) -> list[str]:
    """Describe what is missing or could not be read."""
    return [
        *(f"Not judged: {reason}" for reason in verdict.unread),
        *(
            f"Missing: entries {span.first} to {span.last}. No entry of the journal records their "
            "removal at the end of their term: put their sealed days back, or ask who removed "
            "them."
            for span in verdict.missing
        ),
    ]


def witness_wanted(verdict: Verdict, journal: Path) -> list[str]:
    """Describe what an inspection of the journal alone cannot find, and how to find it."""
    if not verdict.entries:
        return []
    topics = f"novamas{'-sim' if verdict.simulated else ''}/v1/{verdict.site or 'SITE'}"
    return [
        "",
        *_wrapped(
            "Anyone with the signing key can change names, dates and results, swap entries or "
            "drop the last ones, and sign again. Only a witness can detect that: a subscriber on "
            "another machine that stores what it receives:"
        ),
        (
            f"  mosquitto_sub -h BROKER -i witness -c -q 1 -t '{topics}/+/event' "
            f"-t '{topics}/node/+/checkpoint' >> archive.jsonl"
        ),
        f"  novamas verify {journal} --signer PUBLICKEY --witness archive.jsonl",
    ]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 110, break_long_words=False, break_on_hyphens=False)


def _printable(line: str) -> str:
    """Escape control characters: a file from elsewhere must not move the cursor."""
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in line
    )
