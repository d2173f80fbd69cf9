"""Checks of the surveillance archive in a configuration."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from common.broker.address import addresses
from common.places import KeyPath
from controller.configuration.settings import (
    ApiConfig,
    ArchiveConfig,
    ArchiveSite,
    Configuration,
    WebhooksConfig,
)

Flaws = Iterator[tuple[KeyPath, str]]

POSTGRES = ("postgresql", "postgres")


def archives(configuration: Configuration) -> Flaws:
    """Yield all errors."""
    archive = configuration.archive
    yield from _database(archive)
    yield from recall_flaws(archive, "archive")
    yield from one_password(archive, ("archive",))
    if configuration.table and archive.node == configuration.site.node:
        problem = f"{archive.node!r} is the daemon's own node; choose another id"
        yield ("archive", "node"), problem
    if configuration.jackpot and archive.node == configuration.carrousel.node:
        problem = f"{archive.node!r} is the node of the jackpots' controller; choose another id"
        yield ("archive", "node"), problem
    ids = [configuration.site.id]
    for index, site in enumerate(archive.site):
        at: KeyPath = ("archive", "site", index)
        if site.id in ids:
            yield (*at, "id"), f"the site {site.id} is archived already; name each once"
        ids.append(site.id)
        yield from _site(site, at)


def _database(archive: ArchiveConfig) -> Flaws:
    if archive.database is None:
        return
    place: KeyPath = ("archive", "database")
    try:
        address = urlsplit(archive.database)
        password = address.password
    except ValueError as error:
        yield place, f"not an address: {error}"
        return
    if address.scheme not in POSTGRES:
        yield place, "write postgresql://USER@HOST/DATABASE; for a file of SQLite use `path`"
    if password is not None or "password=" in address.query:
        problem = "remove the password; put it into a file and name that by ?passfile=FILE"
        yield place, problem


def recall_flaws(config: ArchiveConfig | WebhooksConfig | ApiConfig, section: str) -> Flaws:
    """Yield what is wrong with the key that signs recalls."""
    file, credential = config.recall_passphrase_file, config.recall_passphrase_credential
    if file and credential:
        problem = "`recall_passphrase_file` is set too; remove one of them"
        yield (section, "recall_passphrase_credential"), problem
    if config.recall_key and not (file or credential):
        problem = "`recall_passphrase_file` or `recall_passphrase_credential` is required too"
        yield (section, "recall_key"), problem
    if config.recall_key and not config.recall_person:
        problem = "`recall_person` is required too: the id of the key's owner in the people file"
        yield (section, "recall_key"), problem


def one_password(config: ArchiveConfig | ArchiveSite | WebhooksConfig, at: KeyPath) -> Flaws:
    """Yield that there are two passwords."""
    if config.password_file and config.password_credential:
        yield (*at, "password_credential"), "`password_file` is set too; remove one of them"


def _is_broker_url(url: str) -> bool:
    try:
        address = urlsplit(url)
        fine = address.scheme in ("mqtt", "mqtts") and bool(address.hostname)
        return fine and address.username is None and address.port != 0
    except ValueError:
        return False


def _site(archive_site: ArchiveSite, at: KeyPath) -> Flaws:
    if not all(map(_is_broker_url, addresses(archive_site.url))):
        yield (*at, "url"), "write mqtt://host:port or mqtts://host:port, without a user"
    if archive_site.username is not None and not (
        archive_site.password_file or archive_site.password_credential
    ):
        problem = "`password_file` or `password_credential` is required too"
        yield (*at, "username"), problem
    yield from one_password(archive_site, at)
