"""Loads the profiles that the site wrote into the options of their driver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from controller.configuration.settings import Configuration, DeviceConfig, TableConfig
from devices.drivers import DRIVERS, driver
from devices.profiles.mistakes import LONGEST
from devices.sections import Notes


def text_of(path: Path) -> str:
    """The text of a profile. Raises ``ValueError`` that says why it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST + 1)
        if len(data) > LONGEST:
            raise ValueError(f"{path}: too large for a profile, which has at most {LONGEST} bytes")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start + 1} is not UTF-8 text") from error


def is_described(name: str) -> bool:
    """Whether a driver takes its behaviour from a profile."""
    return name in DRIVERS and driver(name).described is not None


def taken(
    configuration: Configuration, folder: Callable[[int], Path], notes: Notes
) -> Configuration:
    """The configuration with the text of each profile in its device's options. A relative file name
    of the table with an index starts at its ``folder``.
    """

    def table(index: int, one: TableConfig) -> TableConfig:
        return replace(
            one,
            device=tuple(
                device(index, ("table", index, "device", d), each)
                for d, each in enumerate(one.device)
            ),
        )

    def device(index: int, at: tuple[str | int, ...], one: DeviceConfig) -> DeviceConfig:
        return (
            replace(one, options=_options(at, one.options, folder(index), notes))
            if is_described(one.driver)
            else one
        )

    return replace(
        configuration, table=tuple(table(t, one) for t, one in enumerate(configuration.table))
    )


def _options(
    at: tuple[str | int, ...], options: dict[str, Any], folder: Path, notes: Notes
) -> dict[str, Any]:
    file = options.get("file")
    if "text" in options:
        notes.append(((*at, "options", "text"), "is not a key; name the profile's file in `file`"))
    elif not isinstance(file, str) or not file:
        notes.append(((*at, "options"), "the key `file` is missing; name the profile's file"))
    else:
        try:
            return {**options, "file": str(folder / file), "text": text_of(folder / file)}
        except ValueError as error:
            notes.append(((*at, "options", "file"), str(error)))
    return options
