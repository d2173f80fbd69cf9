"""Locations of the secrets of a configuration: files, and systemd credentials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from common import places
from controller.configuration.settings import (
    ApiConfig,
    ArchiveConfig,
    ArchiveSite,
    BookmarkConfig,
    BrokerConfig,
    CarrouselConfig,
    Configuration,
    StandbyConfig,
    WebConfig,
    WebhookConfig,
    WebhooksConfig,
)
from devices.links.link import parse_address

SECRET_FILES: Mapping[type, tuple[str, ...]] = {
    BrokerConfig: ("password_file", "key_file"),
    WebConfig: ("password_file", "broker_key_file", "key_file", "pin_keys", "pepper_file"),
    ApiConfig: ("tokens", "recall_key", "recall_passphrase_file"),
    CarrouselConfig: (
        "password_file", "broker_key_file", "key", "recall_key", "recall_passphrase_file",
    ),
    ArchiveConfig: (
        "password_file", "broker_key_file", "recall_key", "recall_passphrase_file", "cards_key",
    ),
    ArchiveSite: ("password_file", "key_file"),
    BookmarkConfig: ("secret_file",),
    WebhooksConfig: ("password_file", "broker_key_file", "recall_key", "recall_passphrase_file"),
    WebhookConfig: ("address_file", "secret_file"),
    StandbyConfig: ("creds_file", "key_file"),
}  # fmt: skip
"""Keys of each section that name a secret file or a folder of secrets."""

CREDENTIALS_FOLDER = "/run/credentials/"
"""systemd shows files below this folder to the running service only."""

SECRET_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "mqtt": ("password_file",),
    "http": ("secret_file",),
    "https": ("secret_file", "key_file"),
}
"""Options of a device's address that name a secret file, by scheme."""

DAEMON_UNIT, WEB_UNIT, CARROUSEL_UNIT = (
    "novamas.service",
    "novamas-web.service",
    "novamas-carrousel.service",
)
CREDENTIAL_UNITS: Mapping[str, str] = {
    "broker": DAEMON_UNIT,
    "journal": DAEMON_UNIT,
    "standby": DAEMON_UNIT,
    "surveillance": DAEMON_UNIT,
    "web": WEB_UNIT,
    "api": WEB_UNIT,
    "carrousel": CARROUSEL_UNIT,
    "archive": "novamas-surveillance.service",
    "bookmark": "novamas-surveillance.service",
    "webhooks": "novamas-webhooks.service",
    "webhook": "novamas-webhooks.service",
}
"""The section in which a credential is named -> the unit that reads it, if no other one does."""


def secret_files(configuration: Configuration) -> dict[str, Path]:
    """The files with secrets, by the place that names each."""
    files = {
        places.format_path((*at, key)): Path(value)
        for at, section in sections(configuration)
        for key in SECRET_FILES.get(type(section), ())
        if (value := getattr(section, key))
    }
    for t, table in enumerate(configuration.table):
        for d, device in enumerate(table.device):
            place = places.format_path(("table", t, "device", d, "link"))
            files |= {f"{place}: {option}": path for option, path in _link_files(device.link)}
    return files


def _link_files(link: str) -> Iterator[tuple[str, Path]]:
    """The secrets that the address of a device names, by option."""
    try:
        address = parse_address(link)
    except ValueError:  # reported elsewhere
        return
    for option in SECRET_OPTIONS.get(address.scheme, ()):
        if name := address.options.get(option):
            yield option, Path(name)


def credential_units(configuration: Configuration) -> Iterator[tuple[places.KeyPath, str, str]]:
    """Yield each credential of systemd with each unit that must pass it: the place that names it,
    its name, and the unit.
    """
    for at, name in credentials(configuration).items():
        for unit in _units(configuration, at):
            yield at, name, unit


def _units(configuration: Configuration, at: places.KeyPath) -> Iterator[str]:
    """Yield the units of the services that read a credential in this configuration."""
    if at[0] == "standby":
        if configuration.table:
            yield DAEMON_UNIT
        if configuration.carrousel.standby:
            yield CARROUSEL_UNIT
        return
    yield CREDENTIAL_UNITS[str(at[0])]
    if at == ("web", "password_credential"):  # the displays' user at the broker
        if configuration.sign:
            yield "novamas-sign.service"
        if configuration.output:
            yield "novamas-output.service"
        if configuration.light:
            yield "novamas-lights.service"


def credentials(configuration: Configuration) -> dict[places.KeyPath, str]:
    """The credentials of systemd, by the place that names each."""
    return {
        (*at, key): value
        for at, section in sections(configuration)
        for key in section.__struct_fields__
        if key.endswith("_credential") and (value := getattr(section, key)) is not None
    }


def sections(
    value: Any, at: places.KeyPath = ()
) -> Iterator[tuple[places.KeyPath, msgspec.Struct]]:
    """Each section and the path to it."""
    if isinstance(value, msgspec.Struct):
        yield at, value
        for key in value.__struct_fields__:
            yield from sections(getattr(value, key), (*at, key))
    elif isinstance(value, tuple):
        for index, each in enumerate(value):
            yield from sections(each, (*at, index))
