"""The contract of a link, and the address that opens it."""

from __future__ import annotations

from functools import cache
from typing import Any, Protocol, TypeVar, runtime_checkable
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from common.errors import NovamasError
from common.plain_errors import choices, describe
from common.readings import escape
from common.suggestions import suggest

CONNECT_TIMEOUT_SECONDS = 3.0
"""Maximum time for opening a link over a network."""

WRITE_TIMEOUT_SECONDS = 1.0
"""Maximum time for a write. The longest device command takes a tenth of it at 9600 baud."""


MAX_SHOWN_GREETING_BYTES = 80
"""Maximum number of bytes shown that a server sent before it closed a new connection."""


class LinkFailedError(NovamasError):
    """The link cannot be opened, or is no longer usable. ``reason`` is for people: what happened,
    why if known, and what to do; it contains no received bytes.

    ``words``: bytes received on a connection that ended at once, mostly a device server's reason
    for refusing it. The text of the exception shows them; where cards lie face down they must not
    be shown, because they may contain a card.
    """

    def __init__(self, reason: str, words: bytes = b"") -> None:
        shown = escape(words[:MAX_SHOWN_GREETING_BYTES].strip())
        super().__init__(f'{reason}; it sent "{shown}"' if shown else reason)
        self.reason = reason
        self.words = words


class WriteTimedOutError(LinkFailedError):
    """A write was not finished in time and its rest was dropped. The link may still be readable."""


class Link(Protocol):
    """An open connection to one device. Blocking; one thread reads, another writes. Every failure
    is a :class:`LinkFailedError`.
    """

    def read(self, timeout: float) -> bytes:
        """Return received bytes; wait up to ``timeout`` seconds for the first one. Empty: nothing
        arrived.
        """
        ...

    def write(self, data: bytes) -> None:
        """Send all bytes. Raises :class:`WriteTimedOutError` if that takes too long."""
        ...

    def close(self) -> None:
        """Release the port. Never raises."""
        ...

    def describe(self) -> dict[str, str]:
        """Return facts about the connection: port, adapter (``usb`` vendor:product,
        ``serial_number``, ``product``, ``driver``), peer.
        """
        ...


@runtime_checkable
class SilenceAware(Protocol):
    """A link that knows when it last found nothing to read, however late its thread runs.

    ``silent_at``: what the last :meth:`Link.read` returned arrived after this time, which is one of
    :func:`devices.loop_watch.running_seconds`; if it returned nothing, nothing had arrived by then.
    ``poll_seconds``: time between two looks for what has arrived.
    """

    silent_at: float
    poll_seconds: float


class Address(msgspec.Struct, frozen=True):
    """The parts of an address ``scheme://host:port/path?options``."""

    url: str
    scheme: str
    host: str
    port: int | None
    path: str
    options: dict[str, str]


AddressOptions = TypeVar("AddressOptions", bound=msgspec.Struct)


def parse_address(url: str) -> Address:
    """Split an address into its parts. Raises ``ValueError`` describing the error."""
    parts = urlsplit(url)
    if not parts.scheme or "://" not in url:
        raise ValueError("an address begins with its scheme, as in serial:///dev/serial/by-id/...")
    if parts.username is not None:
        raise ValueError("an address must not contain a user or a password")
    if parts.fragment:
        raise ValueError(
            f"#{parts.fragment} is not allowed in an address; remove it, or write # as %23"
        )
    try:
        # in a USB address the product id is in the place of the port
        port = None if parts.scheme == "usb" else parts.port
    except ValueError:
        raise ValueError("the port is not a number from 0 to 65535") from None
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    twice = {key for key, _ in pairs if sum(key == other_key for other_key, _ in pairs) > 1}
    if twice:
        raise ValueError(f"{', '.join(sorted(twice))}: given more than once")
    host = parts.hostname or ""
    try:
        host.encode("idna")
    except UnicodeError:
        raise ValueError(f"{host[:80]!r} is not a valid host name") from None
    return Address(url, parts.scheme, host, port, unquote(parts.path), dict(pairs))


class InvalidOptionsError(NovamasError, ValueError):
    """Options of an address are invalid. ``mistakes``: one text for each."""

    def __init__(self, mistakes: tuple[str, ...]) -> None:
        super().__init__("; ".join(mistakes))
        self.mistakes = mistakes


def parse_options(address: Address, kind: type[AddressOptions]) -> AddressOptions:
    """Convert the options of an address to a struct ``kind``. Raises :class:`InvalidOptionsError`
    with every invalid option.
    """
    fields = _fields(kind)
    known = [field.name for field in fields]
    wrong = [
        f"unknown option {key!r}; {suggest(key, known)}"
        for key in address.options
        if key not in known
    ]
    for field in fields:
        if field.name in address.options:
            value = address.options[field.name]
            try:
                msgspec.convert(value, field.type, strict=False)
            except msgspec.ValidationError as error:
                wrong.append(f"{field.name}={value}: {_expected(field.type, error)}")
    if wrong:
        raise InvalidOptionsError(tuple(wrong))
    return msgspec.convert(address.options, kind, strict=False)


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of options. Cached, because resolving the annotations of a class takes longer than
    reading an address.
    """
    return msgspec.structs.fields(kind)


def _expected(kind: Any, error: msgspec.ValidationError) -> str:
    """Describe the allowed values of an option."""
    if words := choices(kind):
        return f"expected one of {', '.join(words)}"
    return "expected 0 or 1" if kind is bool else describe(error, kind)


def host_and_port(address: Address) -> tuple[str, int]:
    """Return host and port of a network address. Raises ``ValueError`` if one is missing or there
    is a path.
    """
    if not address.host or not address.port:
        raise ValueError(f"give a host and a port, as in {address.scheme}://192.0.2.7:4001")
    if address.path not in {"", "/"}:
        raise ValueError(f"remove the path {address.path}; this address has only a host and a port")
    return address.host, address.port
