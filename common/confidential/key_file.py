"""Files that hold one secret key: 64 hexadecimal digits, readable by their owner alone."""

from __future__ import annotations

from pathlib import Path

from common.errors import NovamasError
from common.new_file import create_private

KEY_BYTES = 32


class KeyFileError(NovamasError):
    """A key cannot be read or written. The message names the file and says what to do, and never
    contains the key.
    """


def read_key_file(path: Path) -> bytes:
    """Read the key in a file. Raises :class:`KeyFileError`."""
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
        if len(key) != KEY_BYTES:
            raise ValueError
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror}; put the file of the key there") from None
    except ValueError:
        raise KeyFileError(
            f"{path} holds no key (64 hexadecimal digits); put the right file back"
        ) from None
    return key


def write_key_file(path: Path, key: bytes) -> None:
    """Write a key to a new file. Raises :class:`KeyFileError`."""
    try:
        create_private(path, key.hex().encode() + b"\n")
    except FileExistsError:
        raise KeyFileError(f"{path} already exists; not overwritten") from None
    except OSError as error:
        raise KeyFileError(f"{path}: the key could not be written: {error.strerror}") from None
