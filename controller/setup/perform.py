"""Carries out a plan: all of its files, or none."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from common.command_line import stop_signals
from common.new_file import PRIVATE_MODE, replace_file, sync_folder, write_part
from controller.setup.change import FileChange, SetupError, StartCommand

FOLDER_MODE = 0o755
SECRET_FOLDER_MODE = 0o700
SHARED_FOLDER_MODE = 0o750
STEP_TIMEOUT_SECONDS = 120


def write(changes: Sequence[FileChange]) -> None:
    """Write all files. If one cannot be written, or setup is interrupted, none is changed. Raises
    :class:`SetupError`.
    """
    made: list[Path] = []
    parts: dict[Path, FileChange] = {}
    done: list[FileChange] = []
    with _uninterrupted():
        try:
            for change in changes:
                made += _folders(change)
                parts[_staged(change)] = change
            for part, change in parts.items():
                part.replace(change.path)
                done.append(change)
            for folder in {path.parent for path in (*(change.path for change in changes), *made)}:
                sync_folder(folder)
        except OSError as error:
            _undo(parts, done, made)
            advice = "; run setup with sudo" if isinstance(error, PermissionError) else ""
            raise SetupError(
                f"{error.filename}: {error.strerror}{advice}; nothing was changed"
            ) from None


def run(steps: Sequence[StartCommand]) -> Iterator[str]:
    """Run the commands, and yield each before it is run. Raises :class:`SetupError`."""
    for step in steps:
        yield " ".join(step.words)
        try:
            code, output = asyncio.run(_output(step))
        except (OSError, TimeoutError) as error:
            raise SetupError(f"{' '.join(step.words)}: {error}") from None
        if code and not _runs_already(step, output):
            raise SetupError(
                f"{' '.join(step.words)} failed: {output.strip()}\n"
                "every file is written: correct the cause and run setup again, or this command"
            )


async def _output(step: StartCommand) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *step.words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(STEP_TIMEOUT_SECONDS):
        output, _ = await process.communicate()
    return process.returncode or 0, output.decode("utf-8", "replace")


def _runs_already(step: StartCommand, error: str) -> bool:
    return step.words[0] == "systemd-run" and "already" in error


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C and the like until all files are in their place."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _folders(change: FileChange) -> list[Path]:
    """Create the folders of a file. Return those that were missing."""
    missing = [each for each in change.path.parents if not each.exists()]
    secret = SECRET_FOLDER_MODE if change.group is None else SHARED_FOLDER_MODE
    for folder in reversed(missing):
        folder.mkdir(mode=secret if change.is_secret else FOLDER_MODE)
        if change.group is not None:
            shutil.chown(folder, group=change.group)
    return missing


def _staged(change: FileChange) -> Path:
    """Write a file beside its place, with its rights. Raises ``OSError``."""
    part = change.path.with_name(f".{change.path.name}.setup")

    def set_rights(descriptor: int) -> None:
        if change.before is not None:
            status = change.path.stat()
            os.fchown(descriptor, status.st_uid, status.st_gid)
            os.fchmod(descriptor, status.st_mode & 0o777)
        else:
            if change.group is not None:
                shutil.chown(part, group=change.group)
            os.fchmod(descriptor, change.mode)

    try:
        write_part(part, change.after, PRIVATE_MODE, set_rights)
    except LookupError as error:
        raise OSError(0, f"there is no group {change.group}: {error}", str(change.path)) from None
    except OSError as error:
        error.filename = str(change.path)
        raise
    return part


def _undo(parts: dict[Path, FileChange], done: Sequence[FileChange], made: Sequence[Path]) -> None:
    for part in parts:
        with suppress(OSError):
            part.unlink()
    for change in done:
        with suppress(OSError):
            if change.before is None:
                change.path.unlink()
            else:
                replace_file(change.path, change.before)
    for folder in made:
        with suppress(OSError):
            folder.rmdir()
