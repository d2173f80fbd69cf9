"""The subscriber that an integrator would write first: it counts coins and publishes their number
as a retained message. It neither checks nor stores anything.
"""

from __future__ import annotations

import asyncio
import json
import sys

import aiomqtt

PUBLISH_INTERVAL_SECONDS = 0.02
"""Seconds between two publications, as the controller has it."""


async def main(port: int, root: str, state: str) -> None:
    """Count until the process ends."""
    coins = published = 0

    async with aiomqtt.Client("127.0.0.1", port) as client:

        async def publish_meter() -> None:
            nonlocal published
            while True:
                await asyncio.sleep(PUBLISH_INTERVAL_SECONDS)
                if coins != published:
                    published = coins
                    await client.publish(
                        state, json.dumps({"value": published}), qos=1, retain=True
                    )

        telling = asyncio.create_task(publish_meter())
        await client.subscribe(f"{root}/+/event", qos=1)
        await client.publish(state, json.dumps({"value": 0}), qos=1, retain=True)
        async for message in client.messages:
            assert isinstance(message.payload, bytes)
            coins += json.loads(message.payload)["type"] == "bet.placed"
        await telling


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
