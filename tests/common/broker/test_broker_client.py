"""How the library's client treats its socket where the event loop must not be notified."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from common.broker.client import BrokerClient
from controller.configuration.settings import BrokerConfig
from controller.mqtt.embedded_broker import embedded_broker


@pytest.mark.parametrize("of_its_own_thread", [True, False])
async def test_a_connection_lost_before_a_write_raises_nothing_in_the_event_loop(
    of_its_own_thread: bool,
) -> None:
    """Else the event loop would watch a descriptor that is closed, or reused for another file."""
    faults: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
    async with embedded_broker("127.0.0.1", 0) as (host, port):
        connection = BrokerClient(BrokerConfig(url=f"mqtt://{host}:{port}"))
        await connection.__aenter__()
        library = connection._client

        def lose() -> None:
            library._call_socket_register_write()
            if of_its_own_thread:
                library._sock_close()

        if of_its_own_thread:
            lose()
        else:
            other = threading.Thread(target=lose)
            other.start()
            other.join()  # the event loop was not notified
            library._sock_close()
        for _ in range(5):
            await asyncio.sleep(0)
        assert library.socket() is None
        assert faults == []
