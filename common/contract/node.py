"""The retained topics of a daemon: `status`, `claim`, `health` and `checkpoint`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from common.device_health import DeviceHealth
from common.readings import Whole


class NodeStatus(msgspec.Struct, frozen=True):
    """The retained topic ``status`` of a daemon: published at the start and the end, and as last
    will.
    """

    status: str
    """``online`` or ``offline``."""
    boot: str
    """The run of the daemon."""


AssignedNumber = Annotated[int, msgspec.Meta(ge=0, le=2**52)]
"""An assigned number. Numbers that continue from it are still exact in JavaScript."""


class NodeClaim(msgspec.Struct, frozen=True, kw_only=True):
    """The retained topic ``claim`` of a daemon: the tables that it serves, so that no two daemons
    serve the same one. It is republished every 10 seconds.
    """

    boot: str
    """The run of the daemon."""
    tables: dict[str, str | None]
    """Table id to the time since which this daemon has the table, UTC, ISO 8601; null while another
    has it.
    """
    left: bool = False
    """The daemon has ended."""
    sessions: dict[str, AssignedNumber] = {}
    """Table id to the highest session number that this daemon has assigned, for the tables that it
    has. A daemon that takes over the table continues after it.
    """
    readings: dict[str, AssignedNumber] = {}
    """The highest reading numbers, for tables with face-down cards."""


class BrokerConnection(msgspec.Struct):
    """The state of the connection to the broker."""

    connected: bool = False
    """Whether there is a connection now."""
    connects: Whole = 0
    """Number of connections made."""
    published: Whole = 0
    """Events that the broker acknowledged."""
    refused: Whole = 0
    """Messages that the broker refused."""
    trouble: str | None = None
    """Why there is no connection, for a person; null if there is one."""
    thrown_away: Whole = 0
    """Messages to the daemon that could not be read, or for which there was no room."""
    foreign: Whole = 0
    """Messages of other clients on the daemon's own retained topics; each was corrected."""
    forbidden: dict[str, Whole] = {}
    """The number of topics by kind (``event``, ``alert``, ``node/health``) whose messages the
    broker is known not to deliver, because its rules forbid it.
    """


class ClockHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The machine's clock, as reported by the program that controls it: see
    docs/technician/time.md.
    """

    bound: float | None
    """Seconds by which the site allows times to be wrong; null if it sets no limit."""
    stated_by: Literal["chrony", "kernel"] | None
    """The source of the following values; null if there is none."""
    source: str | None
    """The address or the name of chrony's source; null if chrony is not used or has no source."""
    synchronised: bool | None
    """Whether the clock is synchronised to a source; null if unknown."""
    offset: float | None
    """Seconds by which the clock is ahead of its source, as far as that is known."""
    estimated: float | None
    """Seconds by which it is probably wrong; null if unknown."""
    error: float | None
    """Maximum seconds by which it may be wrong; null if unknown."""
    corrected: float | None
    """Seconds since a source corrected it, as far as this run of the daemon saw it."""
    crossed: str | None
    """When ``error`` exceeds ``bound`` if nothing corrects the clock: UTC, ISO 8601. Null if it
    already does, or if the site sets no limit.
    """
    steps: Whole
    """Number of times it was set while the daemon ran."""
    doubt: str | None
    """Why the time of day is not trusted, for a person: until it is, no day of the journal is
    sealed. Null if it is trusted.
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
    """The problem, for a person; null if there is none."""
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
    """The input and its events are on the disk, so that they may be published."""
    acknowledged: StageTimes | None
    """The broker has acknowledged the event. Events that waited for a connection do not count."""


class OutboxHealth(msgspec.Struct, kw_only=True):
    """Events that the broker has not acknowledged."""

    depth: Whole
    """Their number, counted up to 1000."""
    oldest: float | None
    """Age of the oldest of them in seconds; null if there are no such events."""


class TableHealth(msgspec.Struct, kw_only=True):
    """The health of one table."""

    readings_lost: Whole
    """Readings that were dropped because too many waited for the disk."""
    devices: dict[str, DeviceHealth]
    """Device id to its health."""
    elsewhere: str | None = None
    """The node that has the table, where it is not this one: nothing of the table is published
    here, and no command is executed.
    """


class PeopleHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The people file in force."""

    number: Whole
    """Its number, which increases with each change."""
    sha256: str
    """Its digest, in hexadecimal."""
    since: str
    """When the daemon applied it: UTC, ISO 8601."""
    persons: Whole
    """How many people are in it and not revoked."""
    trouble: str | None
    """Why a later file was rejected, for a person; null if no file was."""


class ReloadHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the last reload of the configuration."""

    time: str
    """When it was read: UTC, ISO 8601."""
    trouble: str | None = None
    """Why it was not applied, for a person; null if it was."""
    added: tuple[str, ...] = ()
    """The tables that were added."""
    removed: tuple[str, ...] = ()
    """The tables that were removed."""
    changed: dict[str, tuple[str, ...]] = {}
    """The tables that were changed, with the keys that differed."""
    waiting: dict[str, str] = {}
    """The tables that were not changed although the file differs, with what to do, for a person."""
    restart: tuple[str, ...] = ()
    """The keys that differ and take effect when the daemon is restarted."""
    others: dict[str, tuple[str, ...]] = {}
    """The sections that differ and take effect when another command is restarted, by that command.
    """


class StandbyHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The lease under which a daemon of a pair serves the tables."""

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
    """Commands executed since the start."""
    commands_refused: Whole
    """Commands refused since the start."""
    refusals: dict[str, Whole]
    """Commands refused since the start by reason: the key of the refusal, ``unreadable`` or
    ``failed``.
    """
    people: PeopleHealth | None
    """The people file; null if commands need no signature."""
    commands_discarded: Whole
    """Commands discarded without an answer since the start, because too many waited."""
    answers_withheld: Whole
    """Answers not sent since the start, because the response topic is not allowed."""
    tables: dict[str, TableHealth]
    """Table id to its health."""
    reload: ReloadHealth | None = None
    """The last reload of the configuration; null if there was no reload."""
    standby: StandbyHealth | None = None
    """The lease under which the daemon serves the tables; null if it is not one of a pair."""


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The retained topic ``checkpoint`` of a daemon, the last line of each sealed segment, and the
    file ``<journal>.checkpoint``: the signed end of the journal.
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
