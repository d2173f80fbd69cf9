"""The text of a first configuration, as ``novamas init`` and ``novamas setup`` write it."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

DEFAULT_BROKER = "mqtt://127.0.0.1:1883"
EMBEDDED_BROKER = "embedded://127.0.0.1:1883"
"""A broker inside the daemon; used if none answers at :data:`DEFAULT_BROKER`."""
CONNECT_TIMEOUT_SECONDS = 0.5
"""Seconds to wait for a broker to accept a connection."""
SIMULATOR_ADDRESS = "127.0.0.1:4001"
"""Address of the simulated device."""
SITE = """\
# Written by `novamas {by}`. Every key and its meaning: docs/technician/configuration.md.
# `novamas check` reports each mistake with its line; `novamas doctor` looks at the machine.

[site]
id = {site:<19} # this casino: a part of every topic
node = "node-1"          # {node}
decree = {decree:<15} # the rules that apply at every table

"""
BROKER_WITHIN = """\
[broker]                 # inside the daemon, for this machine only; for others: mqtt://host:1883
url = {url}

"""
BROKER_BESIDE = """\
[broker]
url = {url}

"""
TABLE = """\
{remarks}[[table]]
id = {table:<19} # a part of every topic of this table
game = {game}

# Is it this device? Try it before the first guests come:
#   novamas record '{shown}' {name}.rec --driver {driver}
[[table.device]]
id = "{kind}"
driver = "{driver}"
link = {link}
commands = false         # true: commands that change the device may be sent
# maker = ""             # as on its plate
# serial = ""            # a device that reports another one raises an alert

"""
TABLE_SIMULATED = """\
# No real device: this table is simulated, and every message states it.
{how}[[table]]
id = {table:<19} # a part of every topic of this table
game = {game}
simulated = true

[[table.device]]
id = "{kind}"
driver = "{driver}"
link = {link}

"""
MORE = """\
# Add more tables here, or in separate files beside this one:
# docs/technician/configuration.md.
# `novamas devices` lists the drivers, and the address of each port for each driver.
"""
SIMULATE = f"novamas simulate {{kind}} --protocol {{driver}} --tcp {SIMULATOR_ADDRESS}"
GAMES: Mapping[str, str] = {
    "wheel": "roulette-french",
    "dice": "craps",
    "shoe": "punto-banca",
    "shuffler": "poker-no-draw",
    "slot": "poker-no-draw",
}
"""Default game of a table with a device of each kind."""


def is_listening(url: str) -> bool:
    """True if something accepts connections there."""
    address = urlsplit(url)
    try:
        with socket.create_connection((address.hostname, address.port), CONNECT_TIMEOUT_SECONDS):
            return True
    except OSError:
        return False


def quoted(text: str) -> str:
    """Return a TOML string; its escapes are those of JSON."""
    return json.dumps(text)


def printable(text: str) -> str:
    """Make a device's own text printable, for a comment."""
    return "".join(character if character.isprintable() else "?" for character in text)
