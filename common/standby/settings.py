"""The settings of a connection to the lease store, as every service of a pair has them."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Protocol


class StoreSettings(Protocol):
    """Where the store is, and how to log in: the keys of ``[standby]`` with these names."""

    @property
    def servers(self) -> Sequence[str]:
        """The addresses of the NATS cluster."""

    @property
    def instance(self) -> str | None:
        """Name of this machine in the pair; None: its host name."""

    @property
    def bucket(self) -> str:
        """Where the records are stored."""

    @property
    def replicas(self) -> int:
        """In how many copies."""

    @property
    def creds_file(self) -> str | None:
        """File with the NATS user."""

    @property
    def creds_credential(self) -> str | None:
        """Systemd credential with the NATS user."""

    @property
    def ca_file(self) -> str | None:
        """CA that signed the certificates of the cluster."""

    @property
    def cert_file(self) -> str | None:
        """Certificate of the client."""

    @property
    def key_file(self) -> str | None:
        """The key of that certificate."""


def instance_name(settings: StoreSettings) -> str:
    """Return the name of this machine in the pair."""
    return settings.instance or socket.gethostname().partition(".")[0].lower()
