"""The bodies of ``boot`` and ``state`` entries: the daemon's setup, a table's initial state.

With them, all events can be derived again.
"""

from __future__ import annotations

import platform
from typing import Any, Literal

import msgspec

from common.chain.hand_over import Tenure
from common.contract.json_bodies import Stored
from common.contract.version import SOFTWARE
from common.extensions import ExtensionRecord
from controller.configuration.codec_options import codec_options
from controller.configuration.extensions import used_extensions
from controller.configuration.round_requests import round_requests
from controller.configuration.settings import Configuration

StartReason = Literal["boot", "lost", "day", "aside", "reload", "restored"]
"""Why a table started from a stored state.

``boot``: the daemon started; ``lost``: inputs were lost, and the table was restored from its stored
state; ``day``: a new day, without a change; ``aside``: the previous file was set aside while the
daemon ran; ``reload``: the running daemon added the table or changed it; ``restored``: a backup was
restored.
"""


class DeviceSetup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings that determine how the bytes of a device are decoded. ``answers_within``: the
    seconds in which a second witness reports a round that has ended; null: it is no witness.
    ``requested``: the daemon asks it about each round by number.
    """

    id: str
    driver: str
    stale_after: float
    options: dict[str, Any] = {}
    answers_within: float | None = None
    requested: bool = False


class TableSetup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings that determine which events result from a table's inputs.
    ``keypad_answers_within``: the seconds in which its people report, as a second witness, a round
    that has ended; null: they are no witness.
    """

    id: str
    game: str
    decree: str
    simulated: bool = False
    speed: float = 1.0
    settings: dict[str, Any] = {}
    jackpot: str | None = None
    devices: tuple[DeviceSetup, ...] = ()
    keypad_answers_within: float | None = None


class ClockState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of the clocks when the entry was written.

    ``counted``: seconds for which daemons have run with this journal, by the monotonic clock.
    ``believed``: the time of the wall clock (UTC), or, if that is in doubt, the last trusted time
    plus the time elapsed since; null if no time was ever trusted. ``confirmed``: that time was
    synchronised. ``synchronised``: the state that the kernel reports now; null if unknown.
    ``doubt``: why the wall clock, which stamps the entries, is not trusted; null if it is.
    """

    counted: Stored
    believed: str | None
    confirmed: bool = False
    synchronised: bool | None = None
    doubt: str | None = None


class RemovedDay(msgspec.Struct, frozen=True, kw_only=True):
    """A sealed day whose retention has ended, recorded before it is removed: the entries ``first``
    to ``last`` of ``journal``.

    ``hash``: the hash of the last entry; ``segment``: the name of the segment file; ``sha256``: its
    digest. The days of a journal are removed in order, the oldest first.
    """

    journal: str
    day: str
    first: Stored
    last: Stored
    hash: str
    segment: str
    sha256: str


class PeopleSetup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The people and rights that apply from here on. ``file``: the text of the people file; null if
    there is none. ``key``: the public key of the site, which signed it. ``required``,
    ``two_persons`` and ``may``: as in the configuration.
    """

    file: str | None = None
    key: str | None = None
    required: bool | Literal["accept-the-risk"] = True
    two_persons: tuple[str, ...] = ()
    may: dict[str, tuple[str, ...]] = {}


class RestoredBackup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The backup that a journal continues. The last entry of the backup is ``position`` of
    ``journal``, has this ``hash`` and was stored at ``since``.

    ``sessions``: the highest session number in the backup by table, for tables whose state cannot
    be read. ``file``: the name of the backup's journal, beside this one. ``at``: when it was
    restored; ``by``: the software that restored it. ``through``: the last entry that the restore
    wrote; every table first reports the gap after it.
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


class Boot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The body of an entry of the kind ``boot``.

    ``key``: the public key that verifies this run's checkpoints, in hexadecimal; null if no key
    could be used. ``continues``: the daemon did not start here. The entry then begins a new file or
    a new day while it ran, or records that a doubt about the clock began or ended, that days are
    ``removed``, that the people file or the tables changed, or that the journal continues a
    ``restored`` backup. ``clock``: null in releases that did not check it. ``people``: null if no
    command needs a signature. ``reloaded``: ``tables`` or their devices differ from here on.
    ``standby``: null if the daemon is not one of a pair. ``extensions``: the drivers from outside
    that decode the devices of ``tables``.
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
    extensions: tuple[ExtensionRecord, ...] = ()


class TableStart(msgspec.Struct, frozen=True, kw_only=True):
    """The body of an entry of the kind ``state``. ``saved``: the state from which the table
    continued; null if it started from nothing.
    """

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
    """Return the body of a ``boot`` entry with the setup of this run of the daemon."""
    entry = Boot(
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
        extensions=used_extensions(configuration),
        tables=tuple(
            TableSetup(
                id=table.id,
                game=table.game,
                decree=table.decree,
                simulated=table.simulated,
                speed=table.speed,
                settings=table.settings,
                jackpot=table.jackpot,
                keypad_answers_within=(
                    None if table.witness_keypad is None else table.witness_keypad.answers_within
                ),
                devices=tuple(
                    DeviceSetup(
                        id=device.id,
                        driver=device.driver,
                        stale_after=device.stale_after,
                        options=codec_options(device),
                        answers_within=device.witness_seconds,
                        requested=device.witness and bool(round_requests(device)),
                    )
                    for device in table.device
                ),
            )
            for table in configuration.table
        ),
    )
    return msgspec.json.encode(entry)


def table_start(why: StartReason, saved: bytes | None) -> bytes:
    """Return the body of a ``state`` entry."""
    return msgspec.json.encode(
        TableStart(why=why, saved=msgspec.Raw(b"null" if saved is None else saved))
    )


def continued(body: bytes) -> bytes:
    """Return the body of the ``boot`` entry of a file that replaces another."""
    return _continued(body, None)


def restored_boot(body: bytes, restored: RestoredBackup) -> bytes:
    """Return the body of the ``boot`` entry of a journal that continues a backup. ``body`` is that
    of the backup's last one.
    """
    return _continued(body, restored)


def _continued(body: bytes, restored: RestoredBackup | None) -> bytes:
    previous = msgspec.json.decode(body, type=Boot)
    entry = msgspec.structs.replace(
        previous, continues=True, removed=(), reloaded=False, restored=restored
    )
    if restored is not None:  # the lease at the time of the backup no longer applies
        entry = msgspec.structs.replace(entry, standby=None)
    return msgspec.json.encode(entry)
