"""Serves metrics to Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING

from controller.configuration.listening import address

if TYPE_CHECKING:
    from common.metrics.endpoint import HttpResponse


async def serve_metrics(listen: str, page: Callable[[], Awaitable[HttpResponse]]) -> None:
    """Serve ``page`` at ``/metrics`` until cancelled."""
    from common.metrics import endpoint  # imported late: few daemons serve metrics

    await asyncio.to_thread(import_module, "prometheus_client")  # a slow import
    await endpoint.serve(address(listen), {b"/metrics": page})
