"""Checks of a configuration that involve several values. Each check yields the errors that it
finds, with their paths.

A field that is empty or has its default here may have been invalid in the file; that error was
noted when the file was read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from common.broker.address import addresses
from common.broker.loopback import NotLoopbackError, loopback
from common.confidential.boxes import parse_public_key
from common.places import KeyPath
from common.sections import Notes
from controller.configuration.archives import archives, recall_flaws
from controller.configuration.flaws import Flaws, duplicates, text_of
from controller.configuration.jackpots import jackpots, signs
from controller.configuration.lights import lights
from controller.configuration.listening import listening
from controller.configuration.outputs import outputs, ports
from controller.configuration.pairs import standby
from controller.configuration.people_checks import people_flaws
from controller.configuration.pictures import pictures
from controller.configuration.secrets import CREDENTIALS_FOLDER
from controller.configuration.settings import (
    BROKER_FILES,
    ApiConfig,
    BrokerConfig,
    ClockConfig,
    Configuration,
    SiteConfig,
)
from controller.configuration.table_checks import (
    deals_face_down,
    device_flaws,
    suitability_flaws,
    table_flaws,
)
from controller.configuration.webhooks import webhooks
from controller.rulebooks.chapters import games_of

_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?")
NO_TABLE = "no table is configured; add [[table]]"


def flaws(
    configuration: Configuration,
    file: Callable[[KeyPath], str] = lambda _: "",
    sections: Container[str] = (),
) -> Notes:
    """Return all errors in the configuration. ``file`` returns the name of the file that contains a
    path; ``sections``: names of the sections that are present.
    """
    tables = list(enumerate(configuration.table))
    devices = [
        (("table", t, "device", d), device)
        for t, table in tables
        for d, device in enumerate(table.device)
    ]
    return [
        *(
            []
            if tables or configuration.jackpot or configuration.webhook or "archive" in sections
            else [(("table",), NO_TABLE)]
        ),
        *_site(configuration.site),
        *_broker(configuration.broker),
        *_clock(configuration.clock),
        *_surveillance(configuration),
        *people_flaws(configuration),
        *_web(configuration),
        *_api(configuration.api),
        *jackpots(configuration),
        *signs(configuration),
        *pictures(configuration),
        *archives(configuration),
        *webhooks(configuration),
        *listening(configuration),
        *standby(configuration),
        *duplicates(
            [(("table", t, "id"), table.id) for t, table in tables],
            "another table has the id",
            file,
        ),
        *duplicates(
            [(("jackpot", j, "id"), jackpot.id) for j, jackpot in enumerate(configuration.jackpot)],
            "another jackpot has the id",
            file,
        ),
        *(flaw for t, table in tables for flaw in table_flaws(("table", t), table)),
        *(flaw for at, device in devices for flaw in device_flaws(at, device)),
        *(flaw for t, table in tables for flaw in suitability_flaws(("table", t), table)),
        *duplicates(
            [((*at, "link"), _target(device.link)) for at, device in devices],
            "another device is on",
            file,
        ),
        *outputs(configuration),
        *lights(configuration),
        *ports(configuration),
    ]


def _site(site: SiteConfig) -> Flaws:
    if site.decree is not None:
        try:
            games_of(site.decree)
        except KeyError as error:
            yield ("site", "decree"), text_of(error)


def _broker(broker: BrokerConfig) -> Flaws:
    for url in addresses(broker.url):
        yield from _address(url, alone=url == broker.url)
    scheme = broker.url.partition("://")[0]
    if (broker.cert_file is None) != (broker.key_file is None):
        has_settings, lacks = (
            ("cert_file", "key_file") if broker.key_file is None else ("key_file", "cert_file")
        )
        yield ("broker", has_settings), f"`{lacks}` is required too"
    if broker.password_file and broker.password_credential:
        yield (
            ("broker", "password_credential"),
            "`password_file` is set too; remove one of them",
        )
    if (broker.password_file or broker.password_credential) and not broker.username:
        yield ("broker",), "a password is set without `username`"
    for key in ("ca_file", "cert_file", "key_file"):
        if getattr(broker, key) and scheme != "mqtts":
            yield (
                ("broker", key),
                "is used only with an mqtts:// address; change `url`, or remove the key",
            )
    for key in BROKER_FILES:
        name = getattr(broker, key)
        if name and not name.startswith(CREDENTIALS_FOLDER) and not os.access(name, os.R_OK):
            yield ("broker", key), f"cannot be read: {name}"


def _address(url: str, *, alone: bool) -> Flaws:
    """Check the address of one broker node; ``alone``: it is the only one."""
    try:
        address = urlsplit(url)
        scheme, host, _ = address.scheme, address.hostname, address.port
    except ValueError as error:
        yield ("broker", "url"), f"is not an address: {error}"
        return
    if address.username is not None or address.password is not None:
        yield (
            ("broker", "url"),
            (
                "contains a user name or password; use `username`, and `password_file` or "
                "`password_credential`"
            ),
        )
    if (
        scheme not in ("mqtt", "mqtts", "embedded")
        or not host
        or address.path.strip("/")
        or address.query
        or address.fragment
    ):
        yield (
            ("broker", "url"),
            (
                "expected mqtt://host:port, mqtts://host:port or embedded://127.0.0.1:port; the "
                "nodes of a cluster as mqtt://host:port,host:port"
            ),
        )
    elif scheme == "embedded" and not alone:
        yield ("broker", "url"), "a broker inside the daemon has one address"
    elif scheme == "embedded":
        try:
            loopback(host)
        except NotLoopbackError as error:
            yield ("broker", "url"), text_of(error)


def _clock(clock: ClockConfig) -> Flaws:
    """Check the address of chrony. A host name is not allowed: resolving it could block."""
    if not clock.chrony:
        return
    try:
        url = urlsplit(f"//{clock.chrony}")
        ip_address(url.hostname or "")
        sound = bool(url.port) and clock.chrony == url.netloc and "@" not in clock.chrony
    except ValueError:
        sound = False
    if not sound:
        yield (
            ("clock", "chrony"),
            'expected an address and a port, as "127.0.0.1:323", or "" for no chrony',
        )


def _surveillance(configuration: Configuration) -> Flaws:
    """Check that there is a key to seal face-down cards with. Simulated tables create their own."""
    key = configuration.surveillance.public_key
    if key is not None:
        try:
            parse_public_key(key)
        except ValueError as error:
            yield ("surveillance", "public_key"), text_of(error)
        return
    for t, table in enumerate(configuration.table):
        if not table.simulated and deals_face_down(table):
            yield (
                ("table", t, "game"),
                (
                    f"{table.game} deals cards face down; set surveillance.public_key (`novamas "
                    "keygen` makes one)"
                ),
            )


def _web(configuration: Configuration) -> Flaws:
    """Check the proxies of the web server, and that people can sign in at its console."""
    web, people = configuration.web, configuration.people
    if (web.cert_file is None) != (web.key_file is None):
        has_settings, lacks = (
            ("key_file", "cert_file") if web.key_file else ("cert_file", "key_file")
        )
        yield ("web", has_settings), f"`{lacks}` is required too"
    if web.tls is not None and web.cert_file is not None:
        yield ("web", "tls"), "`cert_file` is set too: TLS ends here or at the proxy; remove one"
    for key in ("tls", "base"):
        if getattr(web, key) and not web.proxies:
            yield ("web", key), "`proxies` is required too: the addresses from which the proxy asks"
    for index, proxy in enumerate(web.proxies):
        try:
            ip_network(proxy)
        except ValueError:
            at = ("web", "proxies", index)
            yield at, f"{proxy!r} is not an address or network; write 10.20.0.1 or 10.20.0.0/24"
    if web.pepper_file and web.pepper_credential:
        yield ("web", "pepper_credential"), "`pepper_file` is set too; remove one of them"
    if web.pin_keys is None:
        return
    if not (web.pepper_file or web.pepper_credential):
        yield ("web", "pin_keys"), "`pepper_file` or `pepper_credential` is required too"
    if people is None or people.file is None:
        yield ("web", "pin_keys"), "signed commands need [people] with `file`"


def _api(api: ApiConfig) -> Flaws:
    """Check the origins whose pages may read the HTTP API, and its key for recalls."""
    for index, origin in enumerate(api.origins):
        if not _ORIGIN.fullmatch(origin):
            at = ("api", "origins", index)
            yield at, f"{origin!r} is not an origin; write https://shop.example, without a path"
    yield from recall_flaws(api, "api")


def _target(link: str) -> str:
    """Return the target of a link, to compare it with other links: without settings, with a path in
    /dev resolved. Empty for replayed recordings, which several devices may share.
    """
    scheme, _, rest = link.partition("://")
    target = (
        rest.partition("?")[0].lower()
        if scheme != "serial"
        else os.path.realpath(rest.partition("?")[0])
    )
    return "" if scheme == "replay" else target
