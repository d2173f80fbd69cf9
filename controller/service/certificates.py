"""Monitors the certificates of the configuration, and warns before one of them expires."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, MutableMapping

from common import clock
from common.broker.certificates import expiry_warning
from common.contract.retained import Alert
from common.contract.times import format_utc
from common.log import structlog
from controller.configuration.certificates import certificate_ends
from controller.configuration.settings import Configuration

INTERVAL_SECONDS = 6 * 3600.0
ALERT_ID = "certificates"


class CertificateWatch:
    """``ends``: when each certificate expires, in seconds since 1970, by place and file or
    server.
    """

    def __init__(
        self,
        *,
        configuration: Configuration,
        alerts: MutableMapping[str, Alert],
        changed: Callable[[], None],
    ) -> None:
        self.ends: dict[str, float] = {}
        self._configuration = configuration
        self._alerts, self._changed = alerts, changed
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Check at the start and every six hours, until cancelled."""
        while True:
            ends = await asyncio.to_thread(certificate_ends, self._configuration)
            self.ends |= ends  # an expired certificate of a server can no longer be read
            self.report(clock.wall())
            await clock.sleep(INTERVAL_SECONDS)

    def report(self, now: float) -> None:
        """Raise, reword or clear the alert."""
        warnings = {
            name: warning
            for name, end in self.ends.items()
            if (warning := expiry_warning(end, now))
        }
        previous = self._alerts.get(ALERT_ID)
        if not warnings:
            if self._alerts.pop(ALERT_ID, None) is not None:
                self._changed()
            return
        detail = "; ".join(f"{name}: {warning}" for name, warning in warnings.items())
        detail += ". Renew them and restart the services that use them"
        if previous is not None and previous.detail == detail:
            return
        expired = any(now > self.ends[name] for name in warnings)
        self._log.warning("certificates end", reason=detail, alert=ALERT_ID)
        self._alerts[ALERT_ID] = Alert(
            alert=ALERT_ID,
            what="certificate.ends",
            severity="fault" if expired else "warning",
            raised=format_utc(now) if previous is None else previous.raised,
            detail=detail,
        )
        self._changed()
