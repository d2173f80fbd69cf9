"""Translates a person's search request to archive queries. No clock, no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import msgspec

from common.contract.events import EVENTS
from common.suggestions import unknown_word
from subscribers.surveillance.archive import Kind, Query
from subscribers.surveillance.items import EVENT_MARKS, Mark, known_words

EVENT_TYPES = frozenset(str(kind.__struct_config__.tag) for kind in EVENTS)
"""The types of events."""
RECORD_KINDS: frozenset[str] = frozenset(get_args(Kind))
TYPES_BY_MARK: dict[Mark, tuple[str, ...]] = {
    mark: tuple(kind for kind, kind_mark in EVENT_MARKS.items() if kind_mark == mark)
    for mark in get_args(Mark)
}
DEFAULT_KINDS: tuple[Kind, ...] = ("event", "alert", "reply", "finding", "access")
"""Kinds searched if the request names none. Sealed cards and checkpoints are not readable by
themselves.
"""
NOTABLE = "notable"
"""Search term for everything with a mark, except results."""
_NOTABLE = tuple(kind for kind, mark in EVENT_MARKS.items() if mark != "result")


class SearchRequestError(ValueError):
    """The request cannot be answered. The message states why, and what to write instead."""


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A search request of a person."""

    sites: tuple[str, ...] = ()
    """Empty for all sites."""
    tables: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    what: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """Rules, articles and persons; a record must match all of them."""
    on_duty: str | None = None
    """Only what happened at a table while this person was on duty there, by the person's name."""
    session: int | None = None
    round: int | None = None
    after: int = 0
    latest: bool = False
    """Newest first."""
    limit: int | None = None


def queries(request: SearchRequest) -> tuple[Query, ...]:
    """Return the queries whose merged results answer the request. Raise
    :class:`SearchRequestError`.
    """
    base = Query(
        sites=request.sites,
        tables=request.tables,
        words=request.words,
        since=request.since,
        until=request.until,
        session=request.session,
        round=request.round,
        after=request.after,
        order="latest" if request.latest else "time",
        limit=request.limit,
    )
    if not request.what:
        return (msgspec.structs.replace(base, kinds=DEFAULT_KINDS),)
    return tuple(
        query for term in dict.fromkeys(request.what) for query in _term_queries(term, base)
    )


def _term_queries(term: str, base: Query) -> Iterable[Query]:
    """Return the queries of one search term."""
    replace = msgspec.structs.replace
    if term == NOTABLE:
        return (
            replace(base, kinds=("event",), types=_NOTABLE),
            replace(base, kinds=("finding", "access")),
        )
    mark: Mark | None = next((candidate for candidate in TYPES_BY_MARK if candidate == term), None)
    if mark is not None and TYPES_BY_MARK[mark]:
        result = [replace(base, kinds=("event",), types=TYPES_BY_MARK[mark])]
        if mark == "alert":
            result.append(replace(base, kinds=("alert",)))
        return result
    kind: Kind | None = next((candidate for candidate in get_args(Kind) if candidate == term), None)
    if kind is not None:
        return (replace(base, kinds=(kind,)),)
    if term in EVENT_TYPES:
        return (replace(base, kinds=("event",), types=(term,)),)
    if term in known_words():
        return (replace(base, words=(*base.words, term)),)
    raise SearchRequestError(unknown_word("search term", term, sorted(search_terms())))


def search_terms() -> frozenset[str]:
    """Return every valid search term."""
    marks = {mark for mark, kinds in TYPES_BY_MARK.items() if kinds}
    return frozenset({NOTABLE, *marks, *RECORD_KINDS, *EVENT_TYPES, *known_words()})
