"""Connects to the nodes of a broker in turn, for as long as a client wants a connection."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import cycle
from typing import TypeVar

from common import clock
from common.broker.address import addresses
from common.broker.client import BrokerClient
from common.broker.failures import Disconnected, describe_error
from common.broker.login import BrokerUnusableError, Login

RECONNECT_DELAY_SECONDS = 0.5
"""Delay between two attempts to connect."""

AnyClient = TypeVar("AnyClient", bound=BrokerClient)


async def keep_connected(
    login: Login,
    make_client: Callable[[str], AnyClient],
    serve: Callable[[AnyClient], Awaitable[None]],
    on_loss: Callable[[str], None],
    *,
    delay_seconds: float = RECONNECT_DELAY_SECONDS,
    is_ended: Callable[[], bool] = lambda: False,
) -> None:
    """Connect, ``serve`` the connection, and connect again, until cancelled or ``is_ended``.

    ``make_client``: makes the client for the node with this URL, reading the files of its login.
    ``serve`` runs while connected, and raises what ends the connection. ``on_loss`` is called after
    each attempt with the reason for a person. Any other exception is raised: it is a bug.
    """
    for url in cycle(addresses(login.url)):
        if is_ended():
            return
        reason = "the broker ended the connection"
        try:
            async with make_client(url) as client:
                await serve(client)
        except* (Disconnected, BrokerUnusableError) as errors:
            reason = describe_error(errors.exceptions[0], login)
        on_loss(reason)
        await clock.sleep(delay_seconds)
