"""Keys, passwords and people: what is there, who can read it, and until when it holds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from controller.broker.login import out_of_date
from controller.configuration.secrets import UNITS, credentials, secret_files
from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding
from controller.proof.checkpoint import SigningKeyError, key_path, load_key
from controller.service.installed_units import passed
from controller.service.privacy import exposed, readable_by_all

SOON = 30
"""Days before its end at which a certificate is spoken of."""


def look(configuration: Configuration) -> Iterator[Finding]:
    """All keys that the configuration names, and those beside the journal."""
    yield from _signing(configuration)
    for at, name in credentials(configuration).items():
        if (why := passed(UNITS[str(at[0])], name)) is not None:
            yield Finding("warning", f"credential {name}", f"nobody provides it: {why}")
    journal, recordings = Path(configuration.journal.path), Path(configuration.recordings.path)
    secrets = secret_files(configuration).values()
    for path in dict.fromkeys((*exposed(journal, recordings), *readable_by_all(secrets))):
        yield Finding(
            "warning", f"file {path}", "other users of this machine can read it",
            f"chmod go= {path}",
        )  # fmt: skip
    for section in (configuration.broker, configuration.standby):
        if section is not None and section.cert_file is not None:
            yield certificate(section.cert_file, time.time())


def _signing(configuration: Configuration) -> Iterator[Finding]:
    """The key of the checkpoints."""
    if configuration.journal.key_credential is not None:
        return  # systemd shows it to the daemon alone
    path = key_path(Path(configuration.journal.path))
    about = f"key {path}"
    if not path.exists():
        yield Finding("ok", about, "it is made at the first start")
        return
    try:
        load_key(path)
    except SigningKeyError as error:
        yield Finding(
            "fault", about, str(error), "put the key of this journal in its place, from the backup"
        )
        return
    yield Finding("ok", about, "it signs the checkpoints")


def certificate(path: str, now: float) -> Finding:
    """Our own certificate for the broker; ``now``: seconds since 1970."""
    about = f"certificate {path}"
    wrong = out_of_date(path, now)
    if wrong is not None:
        return Finding("fault", about, wrong, "renew it")
    try:
        ends = x509.load_pem_x509_certificate(Path(path).read_bytes()).not_valid_after_utc
    except (OSError, ValueError) as error:
        return Finding("fault", about, f"it cannot be read: {error}", "name a certificate in PEM")
    left = (ends - datetime.fromtimestamp(now, UTC)).days
    if left < SOON:
        return Finding("warning", about, f"it ends in {left} days, on {ends:%Y-%m-%d}", "renew it")
    return Finding("ok", about, f"it holds until {ends:%Y-%m-%d}")
