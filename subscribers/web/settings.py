"""Settings of the web server. ``novamas web`` builds them from the configuration file."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any, Literal

import msgspec

from subscribers.console.settings import PitSettings
from subscribers.feed import BrokerLogin


class WebTable(msgspec.Struct, frozen=True):
    """One table that is shown."""

    id: str
    simulated: bool = False


class WebJackpot(msgspec.Struct, frozen=True):
    """One jackpot whose meter is shown."""

    id: str
    simulated: bool = False
    """Its tables are."""


class WebSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of it. No secret is in it: passwords and keys are in files."""

    site: str
    broker: BrokerLogin
    tables: tuple[WebTable, ...]
    jackpots: tuple[WebJackpot, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8080
    """0: a free one."""
    names: tuple[str, ...] = ()
    """The names under which browsers reach the server, besides its address."""
    cert_file: str | None = None
    key_file: str | None = None
    tls: Literal["proxy"] | None = None
    """Where TLS ends for browsers, if not here."""
    proxies: tuple[str, ...] = ()
    """The addresses and networks of reverse proxies: who asks through them is whom they name."""
    base: str = ""
    """The prefix of all addresses, as ``/novamas``; empty: none."""
    displays: Literal["open", "signed-in"] | None = None
    """Who may look at the displays: everybody who reaches the server, or who has signed in. None:
    everybody, if only this machine can reach it.
    """
    streams: int = 500
    """The most browsers that are served pictures at the same time."""
    patience: float = 20.0
    """Seconds for which a browser may not take what it is sent; then its connection ends."""
    pit: PitSettings | None = None
    """The console, or None."""
    archive: str | None = None
    """The archive of surveillance: the path of a file, or the address of a database; or None."""
    cards_key: str | None = None
    """The file of surveillance's private key; None: sealed cards are not opened here."""
    video: dict[str, Any] | None = None
    """Where recordings lie on this machine, as ``[video]`` says it; None: no clips are cut here."""
    keypads: dict[str, str] = {}
    """Table -> the USB keypad that belongs to it: a path below /dev/input."""
    theme: str | None = None
    """A style sheet of the site, which overrides variables of ``theme.css``."""
    state: str = "."
    """The folder of what the server keeps."""
    day_begins: str = "06:00"
    """When a day of play begins, in local time."""
    ready: str | None = None
    """A file that is written when the server answers: its address is in it."""
    log: Literal["json", "console"] = "json"

    @property
    def signed_in(self) -> bool:
        """Whether one must have signed in to look at the displays."""
        return self.displays != "open" and not (self.displays is None and self.local)

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the server: a proxy lets others in."""
        return on_loopback(self.host) and not self.proxies

    @property
    def secure(self) -> bool:
        """Whether browsers come over TLS."""
        return self.cert_file is not None or self.tls == "proxy"


def on_loopback(host: str) -> bool:
    """Whether only this machine can connect to the server."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
