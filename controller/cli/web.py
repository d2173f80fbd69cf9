"""``novamas web``: serves the displays of a configuration in the browser, connected by MQTT
only.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from common.new_file import replace_file
from controller.cli import CommandLineError
from controller.cli.configured import config_argument, configuration_at

if TYPE_CHECKING:
    from controller.configuration.settings import (
        ApiConfig,
        ArchiveConfig,
        BrokerConfig,
        CarrouselConfig,
        Configuration,
        WebConfig,
        WebhooksConfig,
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] [--listen HOST:PORT] ..."""
    config_argument(parser, ", or one with [site], [broker], the tables and [web]")
    parser.add_argument(
        "--listen", metavar="HOST:PORT", help="overrides `listen` of [web]; port 0: a free one"
    )
    parser.add_argument(
        "--archive",
        metavar="PATH",
        help="the archive of /wheels and /surveillance: a file or postgresql://...",
    )


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the web server. Raises :class:`CommandLineError`."""
    import msgspec

    server_settings = web_settings(arguments.config, arguments.listen)
    if arguments.archive is not None:
        server_settings["archive"] = arguments.archive
    if server_settings["pit"] is not None:
        server_settings["pit"]["laws"] = str(write_laws(Path(server_settings["state"])))
    settings = msgspec.json.encode(server_settings).decode()
    sys.stdout.flush()
    os.execv(  # noqa: S606 - no shell is wanted
        sys.executable, [sys.executable, "-m", "subscribers.web", f"--settings={settings}"]
    )


def web_settings(path: Path, listen: str | None = None) -> dict[str, Any]:
    """Return the settings of the server, without secrets."""
    return settings_of(configuration_at(path), listen)


def settings_of(configuration: Configuration, listen: str | None = None) -> dict[str, Any]:
    """Return the settings of the server from a loaded configuration, without secrets."""
    web = configuration.web
    host, port = address(listen or web.listen)
    return {
        "site": configuration.site.id,
        "broker": broker_login(configuration.broker, web, "web"),
        "tables": [{"id": table.id, "simulated": table.simulated} for table in configuration.table],
        "jackpots": [
            {"id": jackpot.id, "simulated": jackpot.simulated} for jackpot in configuration.jackpot
        ],
        "host": host,
        "port": port,
        "names": web.names,
        "cert_file": web.cert_file,
        "key_file": web.key_file,
        "tls": web.tls,
        "proxies": web.proxies,
        "base": web.base,
        "displays": web.displays,
        "streams": web.streams,
        "theme": web.theme,
        "house": web.house,
        "logo": web.logo,
        "letterhead": configuration.site.letterhead,
        "media": web.media,
        "also": web.also,
        "dealer": web.dealer,
        "state": web.path,
        "day_begins": web.day_begins,
        "log": configuration.log.format,
        "api": api_settings(configuration),
        "pit": pit_settings(configuration),
        "archive": _archive(configuration),
        "cards_key": configuration.archive.cards_key,
        "video": video_settings(configuration),
        "keypads": web.keypads,
    }


def _archive(configuration: Configuration) -> str | None:
    """Return the surveillance archive, if it is on this machine, or the address of its database."""
    archive = configuration.archive
    return archive.database or (archive.path if Path(archive.path).exists() else None)


def _ledger(configuration: Configuration) -> str | None:
    """Return the ledger of the jackpots, if it is on this machine."""
    path = configuration.carrousel.path
    return path if configuration.jackpot and Path(path).exists() else None


def video_settings(configuration: Configuration) -> dict[str, Any] | None:
    """Return the settings of camera recordings, or None."""
    import msgspec

    if configuration.video.folder is None:
        return None
    settings: dict[str, Any] = msgspec.to_builtins(configuration.video)
    return settings


def api_settings(configuration: Configuration) -> dict[str, Any] | None:
    """Return the settings of the HTTP API, or None."""
    api = configuration.api
    if api.tokens is None:
        return None
    return {
        "tokens": api.tokens,
        "origins": api.origins,
        "streams": api.streams,
        "token_streams": api.token_streams,
        "days": api.days,
        "events": api.events,
        "recall_key": api.recall_key,
        "recall_passphrase": passphrase_path(api, "api"),
        "recall_person": api.recall_person or "",
    }


def pit_settings(configuration: Configuration) -> dict[str, Any] | None:
    """Return the settings of the console, or None."""
    web, people = configuration.web, configuration.people
    if web.pin_keys is None:
        return None
    if people is None or people.file is None:
        raise CommandLineError("[web] pin_keys: signed commands need [people] with `file`")
    return {
        "people_file": people.file,
        "people_key": people.key,
        "currency": configuration.site.currency,
        "keys": web.pin_keys,
        "pepper": str(pepper_path(web)),
        "idle": web.idle,
        "longest": web.longest,
        "badge_signs": web.badge_signs,
        "ledger": _ledger(configuration),
        "receipt_printer": web.receipt_printer,
    }


def pepper_path(web: WebConfig) -> Path:
    """Return the file of the console's pepper."""
    if web.pepper_file is not None:
        return Path(web.pepper_file)
    if web.pepper_credential is None:
        raise CommandLineError("[web] pin_keys: `pepper_file` or `pepper_credential` is missing")
    directory = os.environ.get("CREDENTIALS_DIRECTORY")
    if directory is None:
        raise CommandLineError(
            f"[web] pepper_credential {web.pepper_credential!r}: no LoadCredential= in the unit"
        )
    return Path(directory, web.pepper_credential)


def write_laws(folder: Path) -> Path:
    """Write the printed text of every rule, which the console shows beside an article."""
    from controller.rulebooks.numbered import printed_rules

    path = folder / "laws.json"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, printed_rules())
    except OSError as error:
        raise CommandLineError(f"{path}: {error.strerror}") from None
    return path


def address(text: str, key: str = "listen") -> tuple[str, int]:
    """Parse ``host:port``, an IPv6 address in brackets. Raises :class:`CommandLineError`."""
    from controller.configuration.listening import address as read

    try:
        return read(text)
    except ValueError as error:
        raise CommandLineError(f"{key}: {text!r}: {error}", 2) from None


def broker_login(
    broker: BrokerConfig,
    own: WebConfig | CarrouselConfig | ArchiveConfig | WebhooksConfig,
    section: str,
) -> dict[str, Any]:
    """Return how a program beside the daemon logs in to the broker: as the daemon, or as the user
    in its ``section`` of the configuration.
    """
    import msgspec

    from common.broker.login import BrokerUnusableError, password_path

    if own.username is not None:
        broker = msgspec.structs.replace(
            broker,
            username=own.username,
            password_file=own.password_file,
            password_credential=own.password_credential,
            cert_file=own.broker_cert_file or broker.cert_file,
            key_file=own.broker_key_file or broker.key_file,
        )
    try:
        path = password_path(broker)
    except BrokerUnusableError as error:
        advice = f"give `username` and `password_file` in [{section}]"
        raise CommandLineError(f"{error}; {advice}") from None
    url = urlsplit(broker.url)
    return {
        "url": f"{'mqtt' if url.scheme == 'embedded' else url.scheme}://{url.netloc}",
        "username": broker.username,
        "password_file": None if path is None else str(path),
        "ca_file": broker.ca_file,
        "cert_file": broker.cert_file,
        "key_file": broker.key_file,
        "wildcards_retained": broker.wildcards_retained,
    }


def passphrase_path(
    section: CarrouselConfig | ArchiveConfig | WebhooksConfig | ApiConfig, name: str = "carrousel"
) -> str | None:
    """Return the file with the passphrase of the key that signs recalls."""
    credential = section.recall_passphrase_credential
    if credential is None:
        return section.recall_passphrase_file
    directory = os.environ.get("CREDENTIALS_DIRECTORY")
    if directory is None:
        raise CommandLineError(
            f"[{name}] recall_passphrase_credential {credential!r}: no LoadCredential= in the unit"
        )
    return str(Path(directory, credential))
