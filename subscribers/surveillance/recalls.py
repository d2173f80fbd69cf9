"""What a table is asked, and what follows from its answer. Pure: the caller owns clock and wire.

A table is asked for the gaps that the archive has, and for what comes after its last event, until
nothing more comes. The last event itself is asked too: a journal that does not know what it told
was replaced, restored or cut.
"""

from __future__ import annotations

from typing import Any

import msgspec

from controller.contract.node import Checkpoint
from controller.contract.times import moment
from subscribers.surveillance.archive import Gap, Record
from subscribers.surveillance.findings import Finding, shown

RESTORED = "journal.restored"
"""The event that is the first of a table whose journal goes on from a backup."""
KEPT = 6 * 86_400.0
"""Seconds for which a daemon surely keeps what it told: it cuts days after a week."""


class Want(msgspec.Struct, frozen=True, kw_only=True):
    """Events of a table that are wanted: from ``first`` to ``last`` of a boot, or, without
    ``last``, all that follow. ``known``: the first of them is in the archive; ``swept``: all are,
    and are asked again to be compared.
    """

    table: str
    boot: str
    first: int
    last: int | None = None
    known: Record | None = None
    swept: bool = False

    def fields(self) -> dict[str, Any]:
        """The body of the recall."""
        told: dict[str, Any] = {"boot": self.boot, "from": self.first}
        return {**told, "onward": True} if self.last is None else {**told, "to": self.last}


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a table is asked."""

    want: Want | None = None
    """None: the hashes of the chain."""
    node: str = ""
    marks: tuple[Checkpoint, ...] = ()
    """The checkpoints at whose positions it is asked for the hashes."""


class TableState(msgspec.Struct, frozen=True):
    """The retained state of a table, as far as it is looked at."""

    boot: str
    seq: int
    time: str


class Next(msgspec.Struct, frozen=True):
    """What follows from an answer: what is wanted instead, and what was found."""

    wants: tuple[Want, ...] = ()
    findings: tuple[Finding, ...] = ()


def wants(table: str, gaps: list[Gap], last: Record | None, state: TableState | None) -> list[Want]:
    """All that is wanted of a table."""
    wanted = [Want(table=table, boot=each.boot, first=each.first, last=each.last) for each in gaps]
    if last is not None:
        wanted.append(Want(table=table, boot=last.boot, first=last.seq, known=last))
    elif state is not None:
        wanted.append(Want(table=table, boot=state.boot, first=1))
    return wanted


def again(table: str, told: list[Record], page: int) -> list[Want]:
    """These events once more, to be compared: by run, at most ``page`` at a time."""
    numbers: dict[str, list[int]] = {}
    for each in told:
        numbers.setdefault(each.boot, []).append(each.seq)
    return [
        Want(table=table, boot=boot, first=first, last=min(first + page - 1, max(of)), swept=True)
        for boot, of in numbers.items()
        for first in range(min(of), max(of) + 1, page)
    ]


def answered(want: Want, events: list[Record], state: TableState | None, now: str) -> Next:
    """What follows from the answer to ``want``. ``now``: UTC."""
    if want.last is not None:
        return _gap_answered(want, want.last, events, now)
    found: list[Finding] = []
    first = events[0] if events else None
    known = want.known
    if known is not None and (first is None or (first.boot, first.seq) != (known.boot, known.seq)):
        if any(map(handed_over, events)):
            pass  # the other daemon of the pair told it, and that one's journal has it
        elif first is not None and first.type == RESTORED:
            found.append(restored(first))
        elif moment(now) - moment(known.time) < KEPT:
            found.append(_unknown(known, first))
        if first is None and state is not None and state.boot != known.boot:
            return Next((Want(table=want.table, boot=state.boot, first=1),), tuple(found))
    if first is None or (known is not None and events[-1].key == known.key):
        return Next((), tuple(found))
    following = Want(table=want.table, boot=events[-1].boot, first=events[-1].seq + 1)
    return Next((following,), tuple(found))


def _gap_answered(want: Want, last: int, events: list[Record], now: str) -> Next:
    inside = [each for each in events if each.boot == want.boot and each.seq <= last]
    if not inside:
        return Next((), (_missing(want, want.first, last, now),))
    found, expected = [], want.first
    for each in inside:
        if each.seq > expected:
            found.append(_missing(want, expected, each.seq - 1, now))
        expected = each.seq + 1
    more = () if expected > last or want.swept else (msgspec.structs.replace(want, first=expected),)
    return Next(more, tuple(found))


def missing_key(gap: Gap) -> str:
    """The key of the record that says that a gap cannot be filled."""
    return f"events_missing:{gap.table}:{gap.boot}:{gap.first}-{gap.last}"


class _Restored(msgspec.Struct, frozen=True):
    """The event, as far as it is looked at."""

    source: str = "backup"
    journal: str = ""
    position: int = 0
    since: str = ""
    restored: str = ""


def handed_over(said: Record) -> bool:
    """Whether this is the event of a table that another daemon had before. It says so itself, which
    is no finding: nothing of it is believed but that this daemon cannot know what the other told.
    Raises ``ValueError`` for one that cannot be read.
    """
    if said.type != RESTORED:
        return False
    return msgspec.json.decode(said.body, type=_Restored).source == "other_daemon"


def restored(said: Record) -> Finding:
    """That a daemon goes on from a backup, as its tables tell it: one finding for all of them.
    Raises ``ValueError`` for an event that is none.
    """
    told = msgspec.json.decode(said.body, type=_Restored)
    return Finding(
        what="journal_restored",
        detail=(
            f"a daemon goes on from a backup of {told.since}, restored at {told.restored}, and "
            "says so. What its tables told after the backup is in this archive and no longer in "
            f"its journal; {said.table} was the first to tell it"
        ),
        name=f"{told.journal}:{told.position}:{told.restored}",
        evidence={"said": shown(said.body)},
        boot=said.boot,
    )


def _missing(want: Want, first: int, last: int, now: str) -> Finding:
    which = f"event {first}" if first == last else f"events {first} to {last}"
    return Finding(
        what="event_unknown" if want.swept else "events_missing",
        detail=(
            f"{want.table}: {which} of run {want.boot} came once, and the daemon does not know "
            "that any more. Its journal was replaced, restored or cut: keep it, and run `novamas "
            "verify` on it"
            if want.swept
            else f"{want.table}: {which} of run {want.boot} never came, and the daemon does not "
            "give it any more; its journal and its sealed days may have it"
        ),
        name=f"{want.table}:{want.boot}:{first}-{last}",
        evidence={"boot": want.boot, "first": first, "last": last, "asked": now},
        table=want.table,
        boot=want.boot,
        seq=first,
    )


def _unknown(known: Record, first: Record | None) -> Finding:
    instead = "nothing" if first is None else f"run {first.boot}, event {first.seq}"
    return Finding(
        what="event_unknown",
        detail=(
            f"{known.table}: the daemon told event {known.seq} of run {known.boot} at {known.time},"
            f" and does not know it any more; asked for it, it gives {instead}. Its journal was "
            "replaced, restored or cut: keep it, and run `novamas verify` on it"
        ),
        name=known.key,
        evidence={
            "archived": shown(known.body),
            "answered": None if first is None else shown(first.body),
        },
        table=known.table,
        boot=known.boot,
        seq=known.seq,
    )
