"""How the commands that judge a journal report: a page on a terminal, or else a JSON object, and
the exit status.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from controller.cli.numbers import count
from controller.cli.progress import in_colours

if TYPE_CHECKING:
    from controller.proof.outcome import Outcome
    from controller.proof.verdict import Verdict

STATUSES = "exit status: 0 it holds, 1 it does not hold, 2 wrong usage, 3 it could not be judged"


COLOURS: Mapping[tuple[str, ...], str] = {
    ("HOLDS", "PROVED"): "1;32",
    ("DOES NOT HOLD", "NOT PROVED"): "1;31",
    ("COULD NOT BE JUDGED", "Not judged", "Missing", "Not proved"): "33",
    ("Also", "And "): "31",
}
"""How a line of the page begins -> its colour on a terminal."""


def public_key(text: str) -> str:
    """A public Ed25519 key given on the command line."""
    key = text.lower()
    if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a public key: it has 64 hexadecimal digits, as a checkpoint shows it"
        )
    return key


def add_journal(parser: argparse.ArgumentParser) -> None:
    """The arguments ``JOURNAL``, ``--key K``, ``--json``, ``--text`` and ``--jobs N``."""
    parser.epilog = STATUSES
    parser.add_argument(
        "journal", type=Path, metavar="JOURNAL", help="the SQLite file; a daemon may be using it"
    )
    parser.add_argument(
        "--key",
        type=public_key,
        metavar="PUBLICKEY",
        help="the public key to trust, from a checkpoint (64 digits)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_true",
        help="the verdict as one JSON object, on a terminal too; anywhere else it is one anyway",
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


def on_a_page(given: argparse.Namespace) -> bool:
    """Whether the verdict is for a person: on a terminal, unless the command line says otherwise.
    Otherwise it is one JSON object.
    """
    return given.text or (sys.stdout.isatty() and not given.json)


def conclude(outcome: Outcome, lines: list[str]) -> int:
    """Print the page or the object, on a terminal in colours. Returns the exit status of the
    verdict, even if the output could not be written.
    """
    coloured = in_colours(sys.stdout)
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
    """A line of the page: what it says of the journal in the colour of its verdict."""
    colour = next((each for words, each in COLOURS.items() if line.startswith(words)), None)
    return line if colour is None else f"\033[{colour}m{line}\033[0m"


def share(part: int, whole: int) -> str:
    """A percentage, never rounded up to 100."""
    return "0 %" if not whole else f"{part * 1000 // whole / 10:g} %"


def proof(verdict: Verdict) -> list[str]:
    """How much is signed, by whom, and what to do about the rest."""
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
            "elsewhere, best from when the table was installed, and verify again with --key "
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


def lacks(verdict: Verdict) -> list[str]:
    """What is missing or could not be read."""
    return [
        *(f"Not judged: {each}" for each in verdict.unread),
        *(
            f"Missing: entries {span.first} to {span.last}. The journal does not say that they "
            "were removed because their time was over: put their sealed days back, or ask who "
            "removed them."
            for span in verdict.missing
        ),
    ]


def witness_wanted(verdict: Verdict, journal: Path) -> list[str]:
    """What no inspection of the journal alone can find, and how to find it."""
    if not verdict.entries:
        return []
    topics = f"novamas{'-sim' if verdict.simulated else ''}/v1/{verdict.site or 'SITE'}"
    return [
        "",
        *_wrapped(
            "Whoever holds the signing key can change names, dates and results, swap entries or "
            "drop the last ones, and sign again. Only a witness can find that: a subscriber on "
            "another machine that keeps what it hears:"
        ),
        (
            f"  mosquitto_sub -h BROKER -i witness -c -q 1 -t '{topics}/+/event' "
            f"-t '{topics}/node/+/checkpoint' >> archive.jsonl"
        ),
        f"  novamas verify {journal} --key PUBLICKEY --witness archive.jsonl",
    ]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 110, break_long_words=False, break_on_hyphens=False)


def _printable(line: str) -> str:
    """The line with control characters escaped: a foreign file must not move the cursor."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)
