"""What the HTTP API of the web server answers: the retained topics of tables and jackpots, with
whether they are current.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from common.contract.events import ResultCorrected, RoundResult
from common.contract.history import AnyLine
from common.contract.jackpot import JackpotState
from common.contract.retained import Alert, Info, ShoeTopic, State
from common.readings import Whole

NotCurrentReason = Literal[
    "no_broker",
    "no_daemon",
    "daemon_offline",
    "daemon_silent",
    "no_table",
    "unreadable",
    "stale",
    "fault",
]
"""Why a table is not current.

``no_broker``: the web server has no connection to the broker; ``no_daemon``: it has not received
the status of any daemon; ``daemon_offline``: the table's daemon is offline, or another run of it
has started; ``daemon_silent``: neither the table nor its daemon has published anything for 75
seconds; ``no_table``: nothing of the table was received; ``unreadable``: a message of the table
cannot be decoded; ``stale`` and ``fault``: the ``status`` of the table.
"""
JackpotNotCurrentReason = Literal["no_broker", "unreadable", "unsaid", "expired"]
"""Why a jackpot is not current.

``no_broker``: the web server has no connection to the broker; ``unreadable``: its last message
cannot be decoded; ``unsaid``: nothing was received; ``expired``: the last statement of its
controller is no longer valid.
"""


class NotCurrent(msgspec.Struct, frozen=True):
    """Why a table must not be shown as current."""

    why: NotCurrentReason
    """The reason."""
    since: str
    """Since when: UTC, ISO 8601."""


class JackpotNotCurrent(msgspec.Struct, frozen=True):
    """Why a jackpot must not be shown as current."""

    why: JackpotNotCurrentReason
    """The reason."""
    since: str | None
    """Since when: UTC, ISO 8601; null if unknown."""


class TableBody(msgspec.Struct, frozen=True, kw_only=True):
    """One table: its retained topics. What was not received is null."""

    table: str
    """The table's id."""
    simulated: bool
    """The table plays with simulated devices."""
    current: bool
    """Whether all of this is true now. If not, do not show it as the present state."""
    not_current: NotCurrent | None
    """Why not; null if it is."""
    info: Info | None
    """The retained topic ``info``."""
    state: State | None
    """The retained topic ``state``."""
    result: RoundResult | ResultCorrected | None
    """The retained topic ``result``: the last result of the table."""
    shoe: ShoeTopic | None
    """The retained topic ``shoe``."""
    alerts: tuple[Alert, ...]
    """The open alerts."""


class TablesBody(msgspec.Struct, frozen=True):
    """All tables that the token may read."""

    tables: tuple[TableBody, ...]
    """In the order of the server's configuration."""


class HistoryBody(msgspec.Struct, frozen=True, kw_only=True):
    """The latest rounds of a table."""

    table: str
    """The table's id."""
    current: bool
    """Whether a later round cannot be missing."""
    not_current: NotCurrent | None
    """Why one may be; null if none can."""
    session: Whole | None
    """The session of these rounds; null if nothing was received."""
    results: tuple[AnyLine, ...]
    """The latest rounds of the session, oldest first."""


class JackpotBody(msgspec.Struct, frozen=True, kw_only=True):
    """One jackpot."""

    jackpot: str
    """The jackpot's id."""
    simulated: bool
    """Its tables are simulated."""
    current: bool
    """Whether the meter is the present one."""
    not_current: JackpotNotCurrent | None
    """Why not; null if it is."""
    state: JackpotState | None
    """The last statement of its controller; null if none was received."""
    alerts: tuple[Alert, ...]
    """The open alerts."""


class JackpotsBody(msgspec.Struct, frozen=True):
    """All jackpots."""

    jackpots: tuple[JackpotBody, ...]
    """In the order of the server's configuration."""


class HttpProblem(msgspec.Struct, frozen=True, kw_only=True):
    """An error, as RFC 9457 has it."""

    title: str
    """What the status means."""
    status: int
    """The status of the response."""
    detail: str
    """What is wrong, and what to do, in English."""


GAP_TYPE = "gap"
"""The ``type`` of a gap, among those of events."""


class StreamPosition(msgspec.Struct, frozen=True):
    """An event of a table."""

    boot: str
    """The run of the daemon."""
    seq: Whole
    """The number of the event in that run; 0: before the first."""


class StreamGap(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag=GAP_TYPE):
    """Events may be missing here: those after ``after`` and before ``before``."""

    site: str
    """The site's id."""
    table: str | None
    """The table's id; null: of any table of the stream."""
    time: str
    """When the gap was noticed: UTC, ISO 8601."""
    why: Literal["not_recalled", "expired", "unknown_id"]
    """``not_recalled``: the table's daemon no longer has them, or did not return them;
    ``expired``: the server no longer has what came after ``Last-Event-ID``; ``unknown_id``: it has
    never had that event, or has lost its memory.
    """
    after: StreamPosition | None
    """The last event before the gap; null if unknown."""
    before: StreamPosition | None
    """The first event after the gap; null if there is none yet."""


EndReason = Literal["shutdown", "token", "slow", "log"]
"""Why a stream ends. ``shutdown``: the server ends; ``token``: the token was revoked or has
expired; ``slow``: the reader is too far behind; ``log``: the server cannot store events.
"""


class StreamEnd(msgspec.Struct, frozen=True):
    """The last message of a stream that the server ends. Connect again, with ``Last-Event-ID``."""

    why: EndReason
    """The reason."""
