"""What a person asks the archive for, as queries of it. Without clock or I/O."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import msgspec

from controller.contract.events import EVENTS
from devices.suggestions import unknown_word
from subscribers.surveillance.archive import Kind, Query
from subscribers.surveillance.items import MARKS, Mark, known_words

TYPES = frozenset(str(kind.__struct_config__.tag) for kind in EVENTS)
"""The types of events."""
KINDS: frozenset[str] = frozenset(get_args(Kind))
OF_MARK: dict[Mark, tuple[str, ...]] = {
    mark: tuple(kind for kind, of in MARKS.items() if of == mark) for mark in get_args(Mark)
}
SAID: tuple[Kind, ...] = ("event", "alert", "reply", "finding", "access")
"""What is looked for where nothing is named: sealed cards and checkpoints say nothing by
themselves.
"""
NOTABLE = "notable"
"""Everything that has a mark of its own, results excepted."""
_NOTABLE = tuple(kind for kind, mark in MARKS.items() if mark != "result")


class AskedError(ValueError):
    """What was asked cannot be looked for. The message says why, and what to write instead."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asks for."""

    sites: tuple[str, ...] = ()
    """None: all of them."""
    tables: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    what: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """Rules, articles and persons: all of them must be there."""
    session: int | None = None
    round: int | None = None
    after: int = 0
    latest: bool = False
    """The last one first."""
    limit: int | None = None


def queries(asked: Asked) -> tuple[Query, ...]:
    """The queries whose answers, together, are what is asked for. Raises :class:`AskedError`."""
    base = Query(
        sites=asked.sites,
        tables=asked.tables,
        words=asked.words,
        since=asked.since,
        until=asked.until,
        session=asked.session,
        round=asked.round,
        after=asked.after,
        order="latest" if asked.latest else "time",
        limit=asked.limit,
    )
    if not asked.what:
        return (msgspec.structs.replace(base, kinds=SAID),)
    return tuple(each for what in dict.fromkeys(asked.what) for each in _of(what, base))


def _of(what: str, base: Query) -> Iterable[Query]:
    """The queries of one word of ``what``."""
    change = msgspec.structs.replace
    if what == NOTABLE:
        return (
            change(base, kinds=("event",), types=_NOTABLE),
            change(base, kinds=("finding", "access")),
        )
    mark: Mark | None = next((each for each in OF_MARK if each == what), None)
    if mark is not None and OF_MARK[mark]:
        found = [change(base, kinds=("event",), types=OF_MARK[mark])]
        if mark == "alert":
            found.append(change(base, kinds=("alert",)))
        return found
    kind: Kind | None = next((each for each in get_args(Kind) if each == what), None)
    if kind is not None:
        return (change(base, kinds=(kind,)),)
    if what in TYPES:
        return (change(base, kinds=("event",), types=(what,)),)
    if what in known_words():
        return (change(base, words=(*base.words, what)),)
    raise AskedError(unknown_word("such thing", what, sorted(known_whats())))


def known_whats() -> frozenset[str]:
    """Everything that ``what`` may be."""
    marks = {mark for mark, kinds in OF_MARK.items() if kinds}
    return frozenset({NOTABLE, *marks, *KINDS, *TYPES, *known_words()})
