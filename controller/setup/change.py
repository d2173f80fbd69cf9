"""The changes that setup plans, before any of them is made."""

from __future__ import annotations

from pathlib import Path

import msgspec

from common.errors import NovamasError
from controller.setup.facts import Facts

SERVICE_GROUP = "novamas"
"""Group of the services, which read the configuration."""
CREDENTIALS = Path("/etc/credstore")
"""Where systemd finds credentials, which root alone reads."""


class SetupError(NovamasError):
    """Setup cannot continue. The message says what is wrong and what to do."""


class FileChange(msgspec.Struct, frozen=True):
    """A file that is to be written. ``before``: its content now, None if it is new; ``group``: the
    group that may read it; ``is_secret``: its content is never shown.
    """

    path: Path
    before: bytes | None
    after: bytes
    mode: int
    group: str | None = None
    is_secret: bool = False


class StartCommand(msgspec.Struct, frozen=True):
    """A command that is run once the files are written."""

    words: tuple[str, ...]


class Layout:
    """Where files lie, and who may read them."""

    def __init__(self, facts: Facts) -> None:
        self.folder = facts.file.resolve().parent
        self.is_service = facts.is_service
        self.has_credentials = facts.is_service and facts.has_systemd

    def secret(self, name: str) -> Path:
        """Return the file of a password or of the pepper."""
        if self.has_credentials:
            return CREDENTIALS / f"novamas.{name}"
        return self.folder / "secrets" / name

    def secret_key(self, name: str) -> tuple[str, str]:
        """Return the key of a section that names this secret, and its value."""
        suffix = "credential" if self.has_credentials else "file"
        value = name if self.has_credentials else f"secrets/{name}"
        return f"{name.rpartition('.')[2]}_{suffix}", value

    def readable(self, path: Path, after: bytes) -> FileChange:
        """Return the change of a file that is no secret."""
        if self.is_service:
            return FileChange(path, content(path), after, 0o640, SERVICE_GROUP)
        return FileChange(path, content(path), after, 0o644)

    def shared(self, path: Path, after: bytes) -> FileChange:
        """Return the change of a secret that a service reads."""
        if self.is_service and not self.has_credentials:
            return FileChange(path, content(path), after, 0o640, SERVICE_GROUP, is_secret=True)
        return self.private(path, after)

    def grouped(self, path: Path, after: bytes) -> FileChange:
        """Return the change of a sealed key: useless without a secret that one service has, so that
        the group of the services may read it.
        """
        if self.is_service:
            return FileChange(path, content(path), after, 0o640, SERVICE_GROUP, is_secret=True)
        return self.private(path, after)

    def private(self, path: Path, after: bytes) -> FileChange:
        """Return the change of a secret that its owner alone reads."""
        return FileChange(path, content(path), after, 0o600, is_secret=True)


def content(path: Path) -> bytes | None:
    """Return the content of a file, or None if it does not exist. Raises :class:`SetupError`."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SetupError(f"{path}: {error.strerror}; run setup as a user who may read it") from None
