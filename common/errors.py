"""Base of the exceptions that Novamás raises deliberately, and errors as fields of a log line."""

from __future__ import annotations

import traceback


class NovamasError(Exception):
    """An expected error. The message states what is wrong, then what to do."""


def describe_error(error: Exception) -> str:
    """Return the error in words: of an ``OSError`` the file and the reason, of any other its
    text.
    """
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def error_fields(error: BaseException | None, confidential: bool) -> dict[str, object]:
    """Return log fields for an error: all of it, or only its type and place if its text could name
    a face-down card (``confidential``).
    """
    if error is None:
        return {"reason": "it returned"}
    if not confidential:
        return {"exc_info": error}
    # without the source lines: one may contain a card as a literal
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return {
        "error": type(error).__name__,
        "where": " > ".join(f"{frame.filename}:{frame.lineno}" for frame in frames),
    }
