"""What the journal stores so that everything can be derived again: the setup of the daemon, and the
state a table started with.
"""

from __future__ import annotations

import platform
from typing import Any, Literal

import msgspec

from controller.configuration.settings import Configuration
from controller.contract.json_bodies import Stored
from controller.contract.node import Checkpoint
from controller.contract.version import SOFTWARE

StartReason = Literal["boot", "lost", "day", "aside", "reload", "restored"]
"""``boot``: the daemon started; ``lost``: inputs were lost, the table was taken up from what is
stored; ``day``: a day began, nothing changes; ``aside``: the file before had to be set aside while
the daemon ran; ``reload``: the daemon placed the table, maybe anew, while it ran; ``restored``: a
backup was restored.
"""


class DeviceSetup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What determines how the bytes of a device are read."""

    id: str
    driver: str
    stale_after: float
    options: dict[str, Any] = {}


class TableSetup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What determines what a table makes of its inputs."""

    id: str
    game: str
    decree: str
    simulated: bool = False
    speed: float = 1.0
    settings: dict[str, Any] = {}
    jackpot: str | None = None
    devices: tuple[DeviceSetup, ...] = ()


class ClockState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the daemon knew of the time. ``counted``: seconds for which daemons have run with this
    journal, by the monotonic clock.

    ``believed``: the wall clock's time (UTC), or what it should be by the last time that was
    believed; null: none was yet. ``confirmed``: that time was synchronised; ``synchronised``: what
    the kernel says now; null: nothing. ``doubt``: why the wall clock, which stamps the entries, is
    not believed; null: it is.
    """

    counted: Stored
    believed: str | None
    confirmed: bool = False
    synchronised: bool | None = None
    doubt: str | None = None


class RemovedDay(msgspec.Struct, frozen=True, kw_only=True):
    """A sealed day that was kept for its time, told before it is removed: the entries ``first`` to
    ``last`` of ``journal``.

    ``hash``: of the last of them; ``segment``: the name of the file, and ``sha256`` its digest. The
    days of a journal go in order, the oldest first, so that nothing is left before it.
    """

    journal: str
    day: str
    first: Stored
    last: Stored
    hash: str
    segment: str
    sha256: str


class PeopleSetup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who may act from here on. ``file``: the people file as it was read; null: there is none.
    ``key``: the public key of the site that signed it. ``required``, ``two_persons`` and
    ``may``: as in the configuration.
    """

    file: str | None = None
    key: str | None = None
    required: bool | Literal["accept-the-risk"] = True
    two_persons: tuple[str, ...] = ()
    may: dict[str, tuple[str, ...]] = {}


class RestoredBackup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The backup that a journal goes on from: up to the entry ``position`` of ``journal``, which
    has this ``hash`` and was stored at ``since``.

    ``sessions``: by table the highest number of a session that the backup tells of, for a table
    whose state cannot be read; ``file``: the name of the backup's journal, beside this one;
    ``at``: when it was restored; ``by``: the software that did; ``through``: the last entry that
    was written with it, after which every table tells the gap first.
    """

    journal: str
    position: Stored
    hash: str
    since: str
    file: str
    at: str
    by: str
    sessions: dict[str, Stored] = {}
    through: Stored = 0


class HandOver(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The daemon that had the tables before, as it last said in the store of the pair:
    ``instance``, ``boot``, ``journal`` and ``term``; ``since``: when it said so; ``checkpoint``:
    the end of its journal, signed by it. ``forgotten``: the store had lost what it knew, and nobody
    knows what another daemon did.

    ``sessions`` and ``readings``: by table the highest numbers that it had given; ``at``: when the
    tables were taken over; ``through``: the last entry of this journal before that, after which
    every table tells the hand-over first.
    """

    instance: str = ""
    boot: str = ""
    journal: str = ""
    term: Stored = 0
    since: str = ""
    checkpoint: Checkpoint | None = None
    sessions: dict[str, Stored] = {}
    readings: dict[str, Stored] = {}
    forgotten: bool = False
    at: str = ""
    through: Stored = 0


class Tenure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """By which right a daemon of a pair serves the tables: it holds their lease in this ``term``.
    ``before``: the last hand-over to this journal; null: there was none.
    """

    instance: str
    term: Stored
    before: HandOver | None = None


class Boot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of the kind ``boot``. ``key``: the public key of this run's checkpoints, in
    hexadecimal; null: none could be used. ``continues``: no start of the daemon, but of a new file
    or a new day while it ran, of a doubt about the clock or its end, of the removal of days,
    which are ``removed`` then, of another people file, of other tables, or of a journal that goes
    on from a backup, which is ``restored`` then. ``clock``: null in a release that did not look at
    it; ``people``: null where no command needs a signature. ``reloaded``: from here on other
    ``tables`` are there, or the same with other devices. ``standby``: null where the daemon is none
    of a pair.
    """

    software: str
    python: str
    site: str
    node: str
    key: str | None
    tables: tuple[TableSetup, ...]
    continues: bool = False
    clock: ClockState | None = None
    removed: tuple[RemovedDay, ...] = ()
    people: PeopleSetup | None = None
    reloaded: bool = False
    restored: RestoredBackup | None = None
    standby: Tenure | None = None


class TableStart(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the kind ``state``: the state a table continued from; null: it started anew."""

    why: StartReason
    saved: msgspec.Raw


def boot(
    configuration: Configuration,
    key: str | None,
    *,
    continues: bool = False,
    clock: ClockState | None = None,
    removed: tuple[RemovedDay, ...] = (),
    people: PeopleSetup | None = None,
    reloaded: bool = False,
    standby: Tenure | None = None,
) -> bytes:
    """The body of a ``boot`` entry: the setup of this run of the daemon."""
    made = Boot(
        software=SOFTWARE,
        python=platform.python_version(),
        site=configuration.site.id,
        node=configuration.site.node,
        key=key,
        continues=continues,
        clock=clock,
        removed=removed,
        people=people,
        reloaded=reloaded,
        standby=standby,
        tables=tuple(
            TableSetup(
                id=table.id,
                game=table.game,
                decree=table.decree,
                simulated=table.simulated,
                speed=table.speed,
                settings=table.settings,
                jackpot=table.jackpot,
                devices=tuple(
                    DeviceSetup(
                        id=device.id,
                        driver=device.driver,
                        stale_after=device.stale_after,
                        options=device.options,
                    )
                    for device in table.device
                ),
            )
            for table in configuration.table
        ),
    )
    return msgspec.json.encode(made)


def table_start(why: StartReason, saved: bytes | None) -> bytes:
    """The body of a ``state`` entry."""
    return msgspec.json.encode(
        TableStart(why=why, saved=msgspec.Raw(b"null" if saved is None else saved))
    )


def continued(body: bytes) -> bytes:
    """The ``boot`` entry of a file that replaces another."""
    return _continued(body, None)


def restored_boot(body: bytes, restored: RestoredBackup) -> bytes:
    """The ``boot`` entry of a journal that goes on from a backup; ``body``: the backup's last
    one.
    """
    return _continued(body, restored)


def _continued(body: bytes, restored: RestoredBackup | None) -> bytes:
    before = msgspec.json.decode(body, type=Boot)
    again = msgspec.structs.replace(
        before, continues=True, removed=(), reloaded=False, restored=restored
    )
    if restored is not None:  # whatever the pair did after the backup is another's
        again = msgspec.structs.replace(again, standby=None)
    return msgspec.json.encode(again)
