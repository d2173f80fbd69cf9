"""What setup must know of the machine, as functions that a front or a test gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from controller.configuration.settings import Configuration


class FoundDevice(msgspec.Struct, frozen=True):
    """A device that was identified. ``link``: its address, with its speed; ``summary``: how it was
    recognised.
    """

    link: str
    driver: str
    summary: str
    options: Mapping[str, Any] = {}


class Facts(msgspec.Struct, kw_only=True):
    """The machine, and what an earlier setup or a person has written.

    ``file``: the configuration to write; ``existing``: what is in it; ``sections``: names of its
    sections; ``has_people``: whether people are enrolled, ``enrolled``: their names;
    ``is_service``: setup writes the files of installed services, as root; ``has_systemd``: systemd
    starts them; ``found``: devices that were identified.

    Each function returns what is wrong, or None: ``link_problem`` of a device's address;
    ``broker_problem`` of a broker's; ``port_problem`` of a host and port to listen at;
    ``key_problem`` of the passphrase of the site's key. ``identify`` listens at an address and
    returns the device, if it is known.
    """

    file: Path
    existing: Configuration | None = None
    sections: frozenset[str] = frozenset()
    has_people: bool = False
    enrolled: frozenset[str] = frozenset()
    is_service: bool = False
    has_systemd: bool = False
    has_mosquitto: bool = False
    found: tuple[FoundDevice, ...] = ()
    link_problem: Callable[[str], str | None]
    broker_problem: Callable[[str], str | None]
    port_problem: Callable[[str, int], str | None]
    key_problem: Callable[[str], str | None]
    identify: Callable[[str], FoundDevice | None]
