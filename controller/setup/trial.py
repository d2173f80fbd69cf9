"""Checks a configuration before it is written, in a folder that is like its own."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from controller.configuration.file import inspect_configuration
from controller.configuration.settings import Configuration
from controller.setup.change import FileChange, SetupError
from controller.setup.facts import Facts


def checked(changes: Sequence[FileChange], facts: Facts) -> Configuration:
    """Check the configuration with the files that it names, in a folder that is like its own.
    Raises :class:`SetupError`.
    """
    folder = facts.file.resolve().parent
    with tempfile.TemporaryDirectory(prefix="novamas-setup-") as made:
        trial = Path(made)
        for path in folder.iterdir() if folder.is_dir() else ():
            (trial / path.name).symlink_to(path)
        for change in changes:
            if change.path.is_relative_to(folder):
                _put(trial, change.path.relative_to(folder), change.after)
        inspected = inspect_configuration(trial / facts.file.name)
        if inspected.mistakes or inspected.configuration is None:
            reasons = "; ".join(f"{each.place}: {each.what}" for each in inspected.mistakes)
            raise SetupError(f"{facts.file}: not written: {reasons}".replace(f"{trial}/", ""))
        return inspected.configuration


def _put(trial: Path, inside: Path, data: bytes) -> None:
    """Write a file into the trial folder, never through its links."""
    for parent in reversed(inside.parents[:-1]):
        linked = trial / parent
        if linked.is_symlink():
            target = linked.resolve()
            linked.unlink()
            linked.mkdir()
            for path in target.iterdir():
                (linked / path.name).symlink_to(path)
        linked.mkdir(exist_ok=True)
    path = trial / inside
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    path.chmod(0o600)
