"""The page: one HTML file of a shell, which is the same for every journal, and of lines of data.

The shell is style, texts and scripts. It depends on the release alone, so its digest proves that a
page checks what it says it checks. A line of data has nothing but a name and base64. The names:
``header``, a :class:`PageHeader` in JSON; ``checkpoints``, the stored checkpoints as JSON lines,
compressed with gzip; ``block``, entries as :mod:`controller.inspection.packing` packs them.
"""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO

import msgspec

from common.chain.checkpoint import read_checkpoint
from common.contract.node import Checkpoint
from controller.inspection.packing import MAX_BLOCK_BYTES, ExcerptError
from controller.inspection.words import page_texts
from controller.rulebooks.chapters import chapter, decrees, games_of, head

FORMAT = "novamas page 1"
_DATA_MARK = "<!-- data -->\n"
"""The line of the shell in whose place the data is."""
_LINE = re.compile(
    rb'<script type="text/plain" class="(header|checkpoints|block)">([\w+/=]*)</script>\n'
)


class StatedDifference(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an audit or a witness found: where, and what."""

    what: str
    position: int | None = None
    time: str = ""
    table: str = ""


class StatedProof(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the machine that wrote the page found in the whole journal, which the page cannot check.
    ``outcome`` as in :class:`controller.proof.outcome.ProofOutcome`; ``unjudged``: why it could not
    judge a part.
    """

    outcome: str
    against: tuple[StatedDifference, ...] = ()
    unjudged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    readings: int = 0
    proved_readings: int = 0
    events: int = 0
    proved_events: int = 0
    sealed: int = 0
    witnessed: int = 0


class PageChain(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The entries of one chain, in the next ``blocks`` blocks. Fields as in
    :class:`controller.inspection.excerpt.ExcerptChain`; ``setup``: the record of the latest
    ``boot`` entry before them, in base64.
    """

    journal: str
    after: int
    last: int
    end: int
    head: int
    previous: str
    blocks: int
    setup: str | None = None


class PageHeader(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the page has. ``days``: such as ``2026-11-19`` or ``2026-11``, in UTC; ``made``: when it
    was written, ``software``: by which release; ``left_out``: parts of the journal that could not
    be read; ``audit`` and ``witness``: what was found in the journal.
    """

    format: str
    days: str
    made: str
    software: str
    site: str
    chains: tuple[PageChain, ...]
    left_out: tuple[str, ...] = ()
    audit: StatedProof | None = None
    witness: StatedProof | None = None


class ReadPage(msgspec.Struct, frozen=True):
    """A page that was read: its shell, and its data."""

    shell: bytes
    header: PageHeader
    checkpoints: tuple[Checkpoint, ...]
    blocks: tuple[bytes, ...]

    def chains(self) -> Iterator[tuple[PageChain, Sequence[bytes]]]:
        """Yield the chains with their blocks. Raises :class:`ExcerptError`."""
        at = 0
        for chain in self.header.chains:
            yield chain, self.blocks[at : at + chain.blocks]
            at += chain.blocks
        if at != len(self.blocks) or any(chain.blocks < 0 for chain in self.header.chains):
            raise ExcerptError(f"it has {len(self.blocks)} blocks, and its header names {at}")


@cache
def shell() -> bytes:
    """Return the shell of this release."""
    style, script = map(_static, ("page.css", "page.js"))
    checker = "\n".join(map(_static, ("inflate.js", "checker.js")))
    parts = {
        "style": style,
        "style_digest": _policy_digest(style),
        "script": script,
        "script_digest": _policy_digest(script),
        "checker": checker,
        "texts": _json(page_texts()),
        "laws": _json(_laws()),
    }
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: parts[found[1]], _static("page.html")).encode()


def digest(page_shell: bytes) -> str:
    """Return the digest of a shell, in hexadecimal."""
    return sha256(page_shell).hexdigest()


def write_page(
    file: BinaryIO,
    header: PageHeader,
    checkpoints: Iterable[Checkpoint],
    blocks: Iterable[bytes],
) -> None:
    """Write a page. Raises ``OSError``."""
    before, after = shell().split(_DATA_MARK.encode())
    file.write(before)
    file.write(_line("header", msgspec.json.encode(header)))
    lines = b"".join(msgspec.json.encode(point) + b"\n" for point in checkpoints)
    file.write(_line("checkpoints", gzip.compress(lines, mtime=0)))
    file.writelines(_line("block", block) for block in blocks)
    file.write(_DATA_MARK.encode() + after)


def read_page(path: Path) -> ReadPage:
    """Read a page, whatever its shell is. Raises :class:`ExcerptError` and ``OSError``."""
    parts: dict[bytes, list[bytes]] = {b"header": [], b"checkpoints": [], b"block": []}
    rest = list[bytes]()
    with path.open("rb") as file:
        for line in file:
            found = _LINE.fullmatch(line)
            if found is None:
                rest.append(line)
                continue
            try:
                parts[found[1]].append(base64.b64decode(found[2], validate=True))
            except ValueError:
                raise ExcerptError(f"{path}: a line of its data is damaged") from None
    headers, points = parts[b"header"], parts[b"checkpoints"]
    if len(headers) != 1 or len(points) != 1:
        raise ExcerptError(f"{path}: not a page of `novamas export --page`, or it was cut off")
    try:
        header = msgspec.json.decode(headers[0], type=PageHeader)
    except (ValueError, RecursionError):
        raise ExcerptError(f"{path}: the header of its data is damaged") from None
    if header.format != FORMAT:
        raise ExcerptError(
            f"{path}: written in the format {header.format[:40]!r}; this release reads {FORMAT!r}"
        )
    journals = {chain.journal for chain in header.chains}
    checkpoints = tuple(_checkpoints(points[0], journals, path))
    return ReadPage(b"".join(rest), header, checkpoints, tuple(parts[b"block"]))


def _checkpoints(packed: bytes, journals: set[str], path: Path) -> Iterator[Checkpoint]:
    inflater = zlib.decompressobj(wbits=31)
    try:
        lines = inflater.decompress(packed, MAX_BLOCK_BYTES)
    except zlib.error as error:
        raise ExcerptError(f"{path}: its checkpoints are damaged: {error}") from None
    if not inflater.eof or inflater.unused_data:
        raise ExcerptError(f"{path}: its checkpoints are cut off or too many")
    for line in filter(None, lines.split(b"\n")):
        point = read_checkpoint(line)
        if point is None or point.journal not in journals:
            raise ExcerptError(f"{path}: one of its checkpoints is damaged")
        yield point


def _line(name: str, data: bytes) -> bytes:
    encoded = base64.b64encode(data)
    return b'<script type="text/plain" class="%b">%b</script>\n' % (name.encode(), encoded)


def _static(name: str) -> str:
    return (files("controller.inspection") / "static" / name).read_text(encoding="utf-8")


def _policy_digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def _json(content: object) -> str:
    """Return JSON that cannot end the element that it is in."""
    text = msgspec.json.encode(content).decode()
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _laws() -> dict[str, dict[str, object]]:
    """Return the title of each decree, and where the rules of each of its games are printed."""
    return {
        decree: {
            "title": head(decree).title,
            "games": {
                game: getattr(chapter(decree, game), "article", "")
                for game in sorted(games_of(decree))
            },
        }
        for decree in decrees()
    }
