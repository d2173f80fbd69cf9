"""Settings of the web server. ``novamas web`` builds them from the configuration file."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any, Literal

import msgspec

from subscribers.api.settings import ApiSettings
from subscribers.console.settings import PitSettings
from subscribers.feed.tables import BrokerLogin


class WebTable(msgspec.Struct, frozen=True):
    """A table to show."""

    id: str
    simulated: bool = False


class WebJackpot(msgspec.Struct, frozen=True):
    """A jackpot whose meter to show."""

    id: str
    simulated: bool = False
    """Whether its tables are simulated."""


class WebSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings. They contain no secrets: passwords and keys are in files."""

    site: str
    broker: BrokerLogin
    tables: tuple[WebTable, ...]
    jackpots: tuple[WebJackpot, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8080
    """0: any free port."""
    names: tuple[str, ...] = ()
    """The names under which browsers reach the server, besides its address."""
    cert_file: str | None = None
    key_file: str | None = None
    tls: Literal["proxy"] | None = None
    """Where TLS ends for browsers, if not here."""
    proxies: tuple[str, ...] = ()
    """The addresses and networks of reverse proxies, whose headers name the browser."""
    base: str = ""
    """The prefix of all addresses, such as ``/novamas``; empty: no prefix."""
    displays: Literal["open", "signed-in"] | None = None
    """Who may see the displays: everyone who can reach the server, or only signed-in people. None:
    everyone, if only this machine can reach it.
    """
    streams: int = 500
    """Maximum number of simultaneous streams of pictures."""
    send_timeout: float = 20.0
    """Seconds for which a browser may read nothing before its connection ends."""
    api: ApiSettings | None = None
    """The HTTP API, or None."""
    pit: PitSettings | None = None
    """The console, or None."""
    archive: str | None = None
    """The archive of surveillance: the path of a file, or the address of a database."""
    cards_key: str | None = None
    """The file of surveillance's private key; None: sealed cards are not opened here."""
    video: dict[str, Any] | None = None
    """The ``[video]`` settings with the recordings on this machine; None: no clips are made here.
    """
    keypads: dict[str, str] = {}
    """Table -> its USB keypad: a path below /dev/input."""
    theme: str | None = None
    """A style sheet of the site, which overrides variables of ``theme.css``."""
    house: str | None = None
    """The name of the house on the displays."""
    logo: str | None = None
    """A picture that is shown instead of that name."""
    letterhead: tuple[str, ...] = ()
    """The lines at the head of papers: name, address, tax number."""
    media: str | None = None
    """A folder of pictures that are shown where a table has nothing to show."""
    also: str | None = None
    """The second language of the displays; None: the decree's other one, if it has two."""
    dealer: bool = False
    """Whether the displays name the croupier."""
    state: str = "."
    """The folder in which the server stores its data."""
    day_begins: str = "06:00"
    """Time at which a gaming day begins, in local time."""
    ready: str | None = None
    """File to which the server's address is written once it accepts requests."""
    log: Literal["json", "console"] = "json"

    @property
    def signed_in(self) -> bool:
        """Whether the displays require a sign-in."""
        return self.displays != "open" and not (self.displays is None and self.local)

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the server, which is false with a proxy."""
        return on_loopback(self.host) and not self.proxies

    @property
    def secure(self) -> bool:
        """Whether browsers use TLS."""
        return self.cert_file is not None or self.tls == "proxy"


def on_loopback(host: str) -> bool:
    """Return whether ``host`` is a loopback address, which only this machine can reach."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
