"""Admission of a person to a surveillance command: by id or badge, and PIN."""

from __future__ import annotations

import asyncio
import getpass
import sys
from pathlib import Path

from common import clock
from common.people.register import Person
from subscribers.console.admission import Admission, Denied
from subscribers.console.settings import PitSettings
from subscribers.console.words import console_text


class AccessRefusedError(Exception):
    """The command is refused. The message states why."""


def admit_person(
    pit: PitSettings, site: str, state: str, person: str, pin_file: Path | None, language: str
) -> tuple[Admission, Person]:
    """Return the admission and the person with this id or badge. The PIN is read from ``pin_file``
    or from the terminal. ``state`` is the folder that stores the count of wrong PINs. Raise
    :class:`AccessRefusedError` or ``SignInUnavailableError``.
    """
    admission = Admission(pit, site, Path(state), clock.wall)
    result = asyncio.run(admission.admit(person, _pin(pin_file)))
    if isinstance(result, Denied):
        raise AccessRefusedError(
            console_text(f"denied.{result.why}", language, minutes=-(-result.seconds // 60))
        )
    return admission, result[0]


def _pin(path: Path | None) -> str:
    if path is not None:
        try:
            if path.stat().st_mode & 0o077:
                raise AccessRefusedError(f"{path} can be read by others; chmod 600 {path}")
            return path.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise AccessRefusedError(f"{path}: {error.strerror}") from None
    if not sys.stdin.isatty():
        raise AccessRefusedError("there is no terminal to ask for the PIN on; use --pin-file FILE")
    return getpass.getpass("PIN: ")
