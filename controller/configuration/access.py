"""The scope of the broker's access rules, from a configuration."""

from __future__ import annotations

from controller.configuration.settings import Configuration
from controller.people.broker_access import AccessScope


def access_scope(configuration: Configuration) -> AccessScope:
    """Return the values on which the broker's access rules depend."""
    return AccessScope(
        configuration.site.id,
        configuration.site.node,
        tuple((table.id, table.simulated) for table in configuration.table),
        configuration.broker.response_topics,
        tuple((table.jackpot, table.simulated) for table in configuration.table if table.jackpot),
        configuration.carrousel.node,
        configuration.archive.node,
        configuration.webhooks.node,
    )
