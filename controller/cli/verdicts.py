"""How the commands that judge a journal say what they found: the page or the JSON object, and the
exit status.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from controller.proof.outcome import Outcome
    from controller.proof.verdict import Verdict

STATUSES = "exit status: 0 it holds, 1 it does not hold, 3 it could not be judged, 2 the command was called wrongly"


def public_key(text: str) -> str:
    """A public Ed25519 key on the command line."""
    key = text.lower()
    if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a public key: it has 64 hexadecimal digits, as a checkpoint shows it"
        )
    return key


def conclude(outcome: Outcome, lines: list[str]) -> int:
    """Print the page. Gives the exit status: that of the verdict also where nobody reads to the
    end.
    """
    try:
        print("\n".join(map(_printable, lines)), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(
            f"novamas: the verdict ({outcome}) cannot be written: {error.strerror}", file=sys.stderr
        )
    return outcome.status


def share(part: int, whole: int) -> str:
    """In per cent, never rounded up to all."""
    return "0 %" if not whole else f"{part * 1000 // whole / 10:g} %"


def proof(verdict: Verdict) -> list[str]:
    """How much of it is signed, by whom, and what to do about the rest."""
    if not verdict.entries:
        return []
    if not verdict.trusted:
        end = f"No checkpoint vouches for the entries after {verdict.through}: others may have been cut off there. "
        return _wrapped(
            (end if verdict.through < verdict.head else "")
            + f"By whom it was written is not proved: the journal itself names the key ({'; '.join(verdict.keys) or 'none'})."
            " Take the public key from a checkpoint that was kept elsewhere, best when the table was installed, and verify again"
            " with --key PUBLICKEY."
        )
    if not verdict.unproved:
        return []
    left = verdict.entries - verdict.proved
    spans = ", ".join(f"{span.first} to {span.last}" for span in verdict.unproved[:5])
    return _wrapped(
        f"Not proved: entries {spans} ({left} of {verdict.entries}, {share(left, verdict.entries)}). No checkpoint signed with the"
        " key given covers them: anybody may have written them. If the daemon runs, verify again in a minute, for it signs every"
        " 30 seconds. Else look for a later checkpoint in the archive of a subscriber, and verify again with --witness ARCHIVE."
    )


def lacks(verdict: Verdict) -> list[str]:
    """What is not there, or could not be read."""
    return [
        *(f"Not judged: {each}" for each in verdict.unread),
        *(
            f"Missing: entries {span.first} to {span.last}. The journal does not say that they were removed when their time was"
            " over: put their sealed days back, or ask who removed them."
            for span in verdict.missing
        ),
    ]


def witness_wanted(verdict: Verdict, journal: Path) -> list[str]:
    """What is out of reach of every look at the journal alone, and how to reach it."""
    if not verdict.entries:
        return []
    topics = f"novamas{'-sim' if verdict.simulated else ''}/v1/{verdict.site or 'SITE'}"
    return [
        "",
        *_wrapped(
            "Whoever holds the signing key can change names, dates and results, swap entries or drop the last ones, and sign again."
            " Only a witness can find that: a subscriber on another machine that keeps what it hears:"
        ),
        f"  mosquitto_sub -h BROKER -i witness -c -q 1 -t '{topics}/+/event' -t '{topics}/node/+/checkpoint' >> archive.jsonl",
        f"  novamas verify {journal} --key PUBLICKEY --witness archive.jsonl",
    ]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 110, break_long_words=False, break_on_hyphens=False)


def _printable(line: str) -> str:
    """What a file of others holds moves no cursor."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)
