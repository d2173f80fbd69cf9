"""The format of a list of results, described in TOML: which rows and columns of a CSV file hold
time and number.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from common.errors import NovamasError
from common.plain_errors import describe
from common.suggestions import unknown_word

FORMATS = files("controller.shadow") / "formats"
"""The formats that come with the program."""
MAX_FORMAT_BYTES = 65_536

Column = Annotated[int, Meta(ge=1, le=1000)] | Annotated[str, Meta(min_length=1)]
"""A column by its number, from 1, or by its heading."""


class ListFormatError(NovamasError):
    """A format cannot be used. The message says which, where and why."""


class ListFormat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A format. ``source``: where its facts are from; ``evidence``: whether a vendor documents it
    or it is only plausible.

    ``comment``: beginning of lines that are no rows; ``skip``: lines before the headings or the
    first row; ``headings``: the next line names the
    columns; ``newest_first``: order of the rows. ``time``, ``date``: columns; without ``date`` the
    column ``time`` holds both or, if ``time_format`` has no day, a time of the compared day;
    without ``time`` the rows have only an order. ``time_format``: as in ``strptime``, for date and
    time with a space between them. ``zone``: IANA name of the zone of the times; None for the
    machine's. ``table``: column that names the table, for lists of several. ``numbers``: spellings
    that differ from the results of this system; ``no_result``: contents of the number's column in
    rows that are no results. ``clock_seconds``: how exactly a row has the time of its result.
    """

    source: Annotated[str, Meta(min_length=1)]
    evidence: Literal["documented", "plausible"]
    encoding: Literal["utf-8", "utf-16", "cp1252", "iso-8859-15"] = "utf-8"
    delimiter: Annotated[str, Meta(min_length=1, max_length=1)] = ";"
    comment: Annotated[str, Meta(min_length=1, max_length=8)] | None = None
    skip: Annotated[int, Meta(ge=0, le=1000)] = 0
    headings: bool = True
    newest_first: bool = False
    time: Column | None = None
    date: Column | None = None
    time_format: str = "%Y-%m-%d %H:%M:%S"
    zone: str | None = None
    table: Column | None = None
    number: Column
    numbers: dict[str, str] = {}
    no_result: tuple[str, ...] = ()
    clock_seconds: Annotated[int, Meta(ge=1, le=120)] = 15

    def __post_init__(self) -> None:
        if self.date is not None and self.time is None:
            raise ValueError("`date` needs a column `time` beside it")
        columns = (self.time, self.date, self.table, self.number)
        if not self.headings and any(isinstance(column, str) for column in columns):
            raise ValueError("without headings, columns are named by their numbers, from 1")
        if self.zone is not None:
            zone_of(self.zone)

    @property
    def has_day(self) -> bool:
        """Whether the times have their day."""
        return "%d" in self.time_format or "%j" in self.time_format


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone. Raises ``ValueError`` for an unknown name."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise ValueError(f"{name!r} is no time zone, such as Europe/Madrid") from None


def format_names() -> tuple[str, ...]:
    """Return the names of the formats that come with the program."""
    return tuple(
        sorted(
            each.name.removesuffix(".toml")
            for each in FORMATS.iterdir()
            if each.name.endswith(".toml")
        )
    )


def read_format(name: str) -> tuple[ListFormat, bytes]:
    """Return the format with this name, or in this file, and its text. Raises
    :class:`ListFormatError`.
    """
    if not name.endswith(".toml"):
        names = format_names()
        if name not in names:
            raise ListFormatError(
                f"{unknown_word('format', name, names)}; a file of your own ends in .toml"
            )
        data = (FORMATS / f"{name}.toml").read_bytes()
        return parse_format(data, name), data
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise ListFormatError(f"{name}: {error.strerror or error}") from None
    return parse_format(data, name), data


def parse_format(data: bytes, name: str) -> ListFormat:
    """Parse a format; ``name`` is for errors. Raises :class:`ListFormatError`."""
    if len(data) > MAX_FORMAT_BYTES:
        raise ListFormatError(f"{name}: longer than {MAX_FORMAT_BYTES} bytes, so it is no format")
    try:
        return msgspec.toml.decode(data, type=ListFormat)
    except (ValueError, TypeError, RecursionError) as error:
        raise ListFormatError(f"{name}: {describe(error, ListFormat)}") from None
