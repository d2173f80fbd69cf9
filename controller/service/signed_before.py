"""The signed commands that a journal has from the run before, so that none of them is followed
again.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from controller.contract.commands import Signature
from controller.journal.journal import Journal

AMONG = 20_000
"""Entries at the end of the journal that are searched: minutes, even of a large floor."""


class _Input(msgspec.Struct, frozen=True):
    signed: tuple[Signature, ...] = ()


_input = msgspec.json.Decoder(_Input)


def tokens(journal: Journal) -> Iterator[str]:
    """The signed commands, followed or refused. Those of tables whose cards are face down are
    sealed and not among them. Raises ``JournalUnusableError``.
    """
    for body in journal.recent_inputs(b'"token":"', AMONG):
        try:
            given = _input.decode(body)
        except (ValueError, RecursionError):
            continue
        yield from (each.token for each in given.signed)
