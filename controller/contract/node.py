"""The retained topics of a daemon: `status`, `health` and `checkpoint`."""

from __future__ import annotations

import msgspec

from devices.health import DeviceHealth


class NodeStatus(msgspec.Struct, frozen=True):
    """Topic ``status`` of the node: birth, farewell and last will."""

    status: str
    boot: str


class BrokerConnection(msgspec.Struct):
    """How it stands with the broker, for ``health``. ``trouble``: why there is no connection.
    ``thrown_away``: messages to us that could not be read, or for which there was no room;
    ``foreign``: messages of others on our own retained topics.
    """

    connected: bool = False
    connects: int = 0
    published: int = 0
    refused: int = 0
    trouble: str | None = None
    thrown_away: int = 0
    foreign: int = 0


class LogHealth(msgspec.Struct, kw_only=True):
    """The log itself. ``lost``: lines that could not be written since the start; ``trouble``: why
    not, at present, or null.
    """

    lost: int = 0
    trouble: str | None = None


class JournalHealth(msgspec.Struct, kw_only=True):
    """``waiting``: records not yet on the disk. ``commit_p99_ms``: from an input to its place on
    the disk, of the latest ones.
    """

    state: str
    trouble: str | None
    position: int
    waiting: int
    commit_p99_ms: float | None


class OutboxHealth(msgspec.Struct, kw_only=True):
    """Events that the broker has not acknowledged: how many (at most 1000 are counted), and the
    seconds since the oldest.
    """

    depth: int
    oldest: float | None


class TableHealth(msgspec.Struct, kw_only=True):
    """One table. ``readings_lost``: not taken since too much waited for the disk. ``devices``: each
    as it says itself.
    """

    readings_lost: int
    devices: dict[str, DeviceHealth]


class Health(msgspec.Struct, kw_only=True):
    """Topic ``health``. ``uptime`` in seconds. ``commands_discarded``: nobody answered them,
    because too many waited; ``answers_withheld``: they were wanted where this daemon does not
    answer.
    """

    boot: str
    time: str
    uptime: float
    versions: dict[str, str]
    broker: BrokerConnection
    outbox: OutboxHealth
    journal: JournalHealth
    log: LogHealth
    commands_followed: int
    commands_refused: int
    commands_discarded: int
    answers_withheld: int
    tables: dict[str, TableHealth]


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Topic ``checkpoint``, the last line of each sealed segment, and the file
    ``<journal>.checkpoint``: the chain of ``journal`` has ``position`` entries, the last of which
    has this ``hash``. ``key`` and ``signature`` are null where the key could not be used.
    """

    journal: str
    boot: str
    time: str
    position: int
    hash: str
    key: str | None = None
    signature: str | None = None
