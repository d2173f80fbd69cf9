"""``python -m subscribers.webhooks --settings JSON``: sends webhooks. ``novamas webhooks`` starts
it with the settings of a configuration file.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

import msgspec

from common.command_line import end_process
from common.extensions import ExtensionError
from common.log import structlog
from common.people.private_key import PrivateKeyError
from subscribers.essential import end_at_signal, ending_process
from subscribers.service_log import log_lines
from subscribers.webhooks.adapter import Adapter, load_adapter
from subscribers.webhooks.errors import OutboxError, ReceiverAwayError
from subscribers.webhooks.outbox import Outbox
from subscribers.webhooks.service import WebhookService
from subscribers.webhooks.settings import WebhooksSettings
from subscribers.webhooks.signature import read_keys


def main(argv: list[str] | None = None) -> int:
    """Run until a signal. Return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m subscribers.webhooks", description=__doc__)
    parser.add_argument(
        "--settings", required=True, metavar="JSON", help="written by novamas webhooks"
    )
    settings = msgspec.json.decode(parser.parse_args(argv).settings, type=WebhooksSettings)
    log_lines(settings.log)
    try:
        asyncio.run(_run(settings))
    except (ExtensionError, PrivateKeyError, OSError, OutboxError, ReceiverAwayError) as error:
        print(f"novamas webhooks: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


async def _run(settings: WebhooksSettings) -> None:
    ending = asyncio.Event()
    end_at_signal(ending.set)
    adapters = dict[str, Adapter]()
    for webhook in settings.webhooks:
        read_keys(webhook.secret_file)
        if webhook.adapter is not None:
            adapters[webhook.id], record = load_adapter(webhook.adapter)
            structlog.get_logger().info("adapter", webhook=webhook.id, extension=str(record))
    outbox = Outbox(Path(settings.outbox), service=True)
    service = WebhookService(settings, outbox, adapters)
    with ending_process():
        await service.run(ending)


if __name__ == "__main__":
    end_process(main())
