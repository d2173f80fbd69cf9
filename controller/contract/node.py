"""The retained topics of a daemon: `status`, `claim`, `health` and `checkpoint`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from devices.health import DeviceHealth
from devices.readings import Whole


class NodeStatus(msgspec.Struct, frozen=True):
    """The retained topic ``status`` of a daemon: birth, farewell and last will."""

    status: str
    """``online`` or ``offline``."""
    boot: str
    """The run of the daemon."""


Given = Annotated[int, msgspec.Meta(ge=0, le=2**52)]
"""A number that was given. Those that go on beyond it are still whole numbers in JavaScript."""


class NodeClaim(msgspec.Struct, frozen=True, kw_only=True):
    """The retained topic ``claim`` of a daemon: which tables it serves, so that no two serve the
    same. It is published again every 10 seconds.
    """

    boot: str
    """The run of the daemon."""
    tables: dict[str, str | None]
    """Table id to since when this daemon has the table, UTC, ISO 8601; null while another has
    it.
    """
    left: bool = False
    """The daemon has ended."""
    sessions: dict[str, Given] = {}
    """Table id to the highest number of a session that this daemon has given there: of the tables
    that it has. Whoever takes the table after it goes on beyond that.
    """
    readings: dict[str, Given] = {}
    """The same of readings, for tables with face-down cards."""


class BrokerConnection(msgspec.Struct):
    """The state of the connection to the broker."""

    connected: bool = False
    """Whether there is a connection now."""
    connects: Whole = 0
    """How often a connection was made."""
    published: Whole = 0
    """Events that the broker acknowledged."""
    refused: Whole = 0
    """Messages that the broker refused."""
    trouble: str | None = None
    """Why there is no connection, for a person; null if there is one."""
    thrown_away: Whole = 0
    """Messages to the daemon that could not be read, or for which there was no room."""
    foreign: Whole = 0
    """Messages of others on the daemon's own retained topics; each was corrected."""
    forbidden: dict[str, Whole] = {}
    """The number of topics by kind (``event``, ``alert``, ``node/health``) whose messages the
    broker does not pass on, as far as it is known: its rules forbid it.
    """


class ClockHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The machine's clock, as who keeps it states it: see docs/technician/time.md."""

    bound: float | None
    """Seconds by which the site lets times be wrong; null: it asks nothing."""
    stated_by: Literal["chrony", "kernel"] | None
    """Who states what follows; null: nobody answers."""
    source: str | None
    """The address or the name of chrony's source; null where chrony is not asked or has none."""
    synchronised: bool | None
    """Whether a source keeps the clock; null: unknown."""
    offset: float | None
    """Seconds by which the clock is ahead of its source, as far as that is known."""
    estimated: float | None
    """Seconds by which it is probably wrong; null: unknown."""
    error: float | None
    """Seconds by which it may be wrong at most; null: nobody knows."""
    corrected: float | None
    """Seconds since a source corrected it, as far as this run of the daemon saw it."""
    crossed: str | None
    """When ``error`` exceeds ``bound`` if nothing corrects the clock: UTC, ISO 8601. Null where it
    does already, or the site asks nothing.
    """
    steps: Whole
    """How often it was set while the daemon ran."""
    doubt: str | None
    """Why the time of day is not believed, for a person: no day of the journal is sealed until it
    is. Null if it is believed.
    """


class LogHealth(msgspec.Struct, kw_only=True):
    """The state of the log."""

    lost: Whole = 0
    """Lines that could not be written since the start: a full disk, a closed pipe, a stopped
    reader.
    """
    trouble: str | None = None
    """Why lines cannot be written now, for a person; null if they can."""


class JournalHealth(msgspec.Struct, kw_only=True):
    """The state of the journal."""

    state: str
    """``ok`` or ``failed``."""
    trouble: str | None
    """What is wrong, for a person; null if nothing is."""
    position: Whole
    """Records in the journal."""
    waiting: Whole
    """Records that are not yet on the disk."""


class StageTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds from the read of a device's bytes, or of a command, to the end of a stage; of
    the latest thousand inputs that led to an event.
    """

    p50_ms: float
    """The median."""
    p99_ms: float
    """99 in 100 were at least as fast."""
    max_ms: float
    """The slowest."""


class StagesHealth(msgspec.Struct, frozen=True, kw_only=True):
    """How fast the daemon is, stage by stage. A stage is null before its first input."""

    decided: StageTimes | None
    """The rules have been applied."""
    committed: StageTimes | None
    """The input and its events are on the disk, so that they may leave."""
    acknowledged: StageTimes | None
    """The broker has acknowledged the event. Events that waited for a connection do not count."""


class OutboxHealth(msgspec.Struct, kw_only=True):
    """Events that the broker has not acknowledged."""

    depth: Whole
    """How many; at most 1000 are counted."""
    oldest: float | None
    """Seconds since the oldest of them; null if there is none."""


class TableHealth(msgspec.Struct, kw_only=True):
    """The health of one table."""

    readings_lost: Whole
    """Readings that were dropped because too many waited for the disk."""
    devices: dict[str, DeviceHealth]
    """Device id to its health."""
    elsewhere: str | None = None
    """The node that has the table, where it is not this one: nothing of the table is published
    here, and no command is followed.
    """


class PeopleHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The people file in force."""

    number: Whole
    """Its number, which each change raises."""
    sha256: str
    """Its digest, in hexadecimal."""
    since: str
    """When the daemon took it over: UTC, ISO 8601."""
    persons: Whole
    """How many people are in it and not revoked."""
    trouble: str | None
    """Why a later file was refused, for a person; null if none was."""


class ReloadHealth(msgspec.Struct, frozen=True, kw_only=True):
    """How the configuration was taken over when it was last read again."""

    time: str
    """When it was read: UTC, ISO 8601."""
    trouble: str | None = None
    """Why nothing of it was taken over, for a person; null if it was."""
    added: tuple[str, ...] = ()
    """The tables that were added."""
    removed: tuple[str, ...] = ()
    """The tables that were removed."""
    changed: dict[str, tuple[str, ...]] = {}
    """The tables that were changed, with the keys that differed."""
    waiting: dict[str, str] = {}
    """The tables that stay as they were though the file has them otherwise, with what to do, for a
    person.
    """
    restart: tuple[str, ...] = ()
    """The keys that differ and take effect when the daemon is started again."""
    others: dict[str, tuple[str, ...]] = {}
    """The sections that differ and take effect when another command is started again, by that
    command.
    """


class StandbyHealth(msgspec.Struct, frozen=True, kw_only=True):
    """By which right a daemon of a pair serves the tables."""

    instance: str
    """Its name in the pair."""
    term: Whole
    """How many times the lease of the tables was taken, this time included."""
    since: str
    """When it was taken: UTC, ISO 8601."""


class Health(msgspec.Struct, kw_only=True):
    """The retained topic ``health`` of a daemon."""

    boot: str
    """The run of the daemon."""
    time: str
    """UTC, ISO 8601 with microseconds."""
    uptime: float
    """Seconds since the start."""
    versions: dict[str, str]
    """The software that runs: name to version."""
    broker: BrokerConnection
    """The connection to the broker."""
    outbox: OutboxHealth
    """Events that the broker has not acknowledged."""
    journal: JournalHealth
    """The journal."""
    stages: StagesHealth
    """How fast the daemon is."""
    clock: ClockHealth
    """The machine's clock."""
    log: LogHealth
    """The log."""
    commands_followed: Whole
    """Commands followed since the start."""
    commands_refused: Whole
    """Commands refused since the start."""
    refusals: dict[str, Whole]
    """The same by reason: the key of the refusal, or ``unreadable`` and ``failed``."""
    people: PeopleHealth | None
    """Who may act; null: commands need no signature."""
    commands_discarded: Whole
    """Commands discarded without an answer since the start, because too many waited."""
    answers_withheld: Whole
    """Answers not sent since the start, because the response topic is not allowed."""
    tables: dict[str, TableHealth]
    """Table id to its health."""
    reload: ReloadHealth | None = None
    """The last reload of the configuration; null: it is as it was at the start."""
    standby: StandbyHealth | None = None
    """By which right the daemon serves the tables; null: it is none of a pair."""


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The retained topic ``checkpoint`` of a daemon, the last line of each sealed segment, and the
    file ``<journal>.checkpoint``: how far the journal goes, signed.
    """

    journal: str
    """The journal file's id. Another file has another chain."""
    boot: str
    """The run of the daemon."""
    time: str
    """UTC, ISO 8601 with microseconds."""
    position: Whole
    """The number of entries in the journal's chain."""
    hash: str
    """The hash of the last entry, in hexadecimal."""
    key: str | None = None
    """The daemon's public Ed25519 key, in hexadecimal; null where the key could not be used."""
    signature: str | None = None
    """The signature by that key, in hexadecimal; null where the key could not be used."""
