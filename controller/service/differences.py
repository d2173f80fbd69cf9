"""Reports what differs between the two machines of a pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from common.log import structlog
from common.standby.statements import DaemonStatement, differences


class Differences:
    """Reports the differences between the two daemons of a pair, each once."""

    def __init__(self) -> None:
        self.reported: str | None = None

    def compare(
        self,
        own: DaemonStatement,
        peers: Iterable[DaemonStatement],
        report: Callable[[str | None], None],
        *more: str,
    ) -> None:
        """Report what differs between the statements, with ``more``, whenever that changes."""
        found = {difference for other in peers for difference in differences(own, other)}
        found.update(more)
        text = "; ".join(sorted(found)) or None
        if text != self.reported:
            self.reported = text
            report(text)


def log_differences(text: str | None) -> None:
    """Log what differs between the machines, or that nothing does."""
    if text is None:
        structlog.get_logger().info("the two machines are alike")
    else:
        structlog.get_logger().warning("the two machines differ", what=text)
