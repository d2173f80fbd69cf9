"""Reads a link in an event loop, and prints each chunk with the seconds for which it may have
waited and the time at which it was read: ``python -m tests.devices.waits URL``.
"""

from __future__ import annotations

import asyncio
import sys

from devices.loop_watch import loop_watch, running_seconds
from devices.reader import LinkReader, open_to_read


def show(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def _read(url: str) -> None:
    link = await asyncio.to_thread(open_to_read, url, "wheel")

    def on_data(data: bytes, waited: float) -> None:
        if data:
            show(f"{data.split()[-1].decode()} {waited} {running_seconds()}")

    reader = LinkReader(link, on_data, None)
    begin = running_seconds()
    while loop_watch().polled() < begin:  # noqa: ASYNC110 - the polls of the loop notify nobody
        await asyncio.sleep(0.005)
    show("open")
    await reader.ended


if __name__ == "__main__":
    asyncio.run(_read(sys.argv[1]))
