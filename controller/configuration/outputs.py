"""Checks of what shows the results of tables outside this system: old displays and lights."""

from __future__ import annotations

import re

from common.suggestions import unknown_word
from controller.configuration.flaws import Flaws, duplicates
from controller.configuration.settings import Configuration

_SERVER_PORT = re.compile(r"tcp://(\[[0-9A-Fa-f:.%a-z]+\]|[A-Za-z0-9._-]+):([1-9][0-9]{0,4})")
ROULETTE = "roulette-"
"""Beginning of the ids of all games of roulette."""


def outputs(configuration: Configuration) -> Flaws:
    """Yield all errors. An old display knows the numbers and colours of roulette only."""
    tables = {table.id: table for table in configuration.table}
    for index, output in enumerate(configuration.output):
        if output.port and not _is_port(output.port):
            problem = (
                "write the path of a serial port, as /dev/serial/by-id/..., or tcp://host:port"
            )
            yield ("output", index, "port"), problem
        table = tables.get(output.table)
        if table is None:
            if output.table:
                yield (
                    ("output", index, "table"),
                    unknown_word("table", output.table, sorted(tables)),
                )
            continue
        if not table.game.startswith(ROULETTE):
            problem = f"{table.id} plays {table.game}; displays of a Cammegh SS2 know roulette only"
            yield ("output", index, "table"), problem
        if table.simulated != output.simulated:
            kind = "simulated" if table.simulated else "not simulated"
            yield ("output", index, "simulated"), f"{table.id} is {kind}; write it here too"


def ports(configuration: Configuration) -> Flaws:
    """Yield ports that two programs would write to."""
    yield from duplicates(
        [
            *((("sign", s, "port"), sign.port) for s, sign in enumerate(configuration.sign)),
            *((("output", o, "port"), one.port) for o, one in enumerate(configuration.output)),
            *(
                (("light", index, "address"), light.address or "")
                for index, light in enumerate(configuration.light)
                if light.protocol == "relay"
            ),
        ],
        "another section has the port",
    )


def _is_port(text: str) -> bool:
    server = _SERVER_PORT.fullmatch(text)
    return text.startswith("/") if server is None else int(server[2]) < 65_536
