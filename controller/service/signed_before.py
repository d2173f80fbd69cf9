"""The signed commands in the journal of the previous run, so that none of them is executed
again.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from common.contract.commands import Signature
from controller.journal.journal import Journal

MAX_SEARCHED_ENTRIES = 20_000
"""Entries at the end of the journal to search: minutes of a large floor."""


class _SignedInput(msgspec.Struct, frozen=True):
    signed: tuple[Signature, ...] = ()


_decoder = msgspec.json.Decoder(_SignedInput)


def tokens(journal: Journal) -> Iterator[str]:
    """Yield the tokens of signed commands, executed or refused. Those of tables with face-down
    cards are sealed, and not included. Raises ``JournalUnusableError``.
    """
    for body in journal.ask(
        lambda reader: reader.recent_inputs(b'"token":"', MAX_SEARCHED_ENTRIES)
    ):
        try:
            item = _decoder.decode(body)
        except (ValueError, RecursionError):
            continue
        yield from (signature.token for signature in item.signed)
