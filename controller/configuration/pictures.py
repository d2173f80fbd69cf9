"""Checks of the video systems that receive events, and of the recordings that clips are cut
from.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from common.places import KeyPath
from controller.configuration.settings import BookmarkConfig, Configuration, VideoConfig

Flaws = Iterator[tuple[KeyPath, str]]

ADDRESS_SCHEMES: Mapping[str, tuple[str, ...]] = {
    "milestone": ("tcp", "udp"),
    "pos": ("tcp",),
    "frigate": ("http", "https"),
    "webhook": ("http", "https"),
}
KINDS_BY_KEY: Mapping[str, tuple[str, ...]] = {
    "echo": ("milestone",),
    "encoding": ("milestone", "pos"),
    "newline": ("milestone", "pos"),
    "begin": ("pos",),
    "end": ("pos",),
    "before": ("frigate",),
    "after": ("frigate",),
    "ca_file": ("frigate", "webhook"),
    "secret_file": ("frigate", "webhook"),
    "secret_credential": ("frigate", "webhook"),
}
"""Keys that apply to some kinds only, and these kinds."""
ALLOWED_DIRECTIVES = "YmdHMSfs"
"""Letters allowed after ``%`` in the pattern of a recording."""
REQUIRED_DIRECTIVES = "YmdHMS"
"""Letters required in a pattern without ``%s``."""


def pictures(configuration: Configuration) -> Flaws:
    """Yield all errors."""
    ids = [bookmark.id for bookmark in configuration.bookmark]
    for index, bookmark in enumerate(configuration.bookmark):
        if bookmark.id and bookmark.id in ids[:index]:
            problem = f"another bookmark has the id {bookmark.id} too; choose another id"
            yield ("bookmark", index, "id"), problem
        if bookmark.kind in ADDRESS_SCHEMES:  # another kind was reported when the file was read
            for key, problem in _bookmark(bookmark):
                yield ("bookmark", index, key), problem
    for key, problem in _video(configuration.video):
        yield ("video", key), problem


def _bookmark(bookmark: BookmarkConfig) -> Iterator[tuple[str, str]]:
    if bookmark.address and (why := _address(bookmark)) is not None:
        yield "address", why
    defaults = BookmarkConfig(id=bookmark.id, kind=bookmark.kind, address=bookmark.address)
    for key, kinds in KINDS_BY_KEY.items():
        if bookmark.kind not in kinds and getattr(bookmark, key) != getattr(defaults, key):
            yield key, f"applies only to {' and '.join(kinds)}; remove it from this {bookmark.kind}"
    if bookmark.secret_file and bookmark.secret_credential:
        yield "secret_credential", "`secret_file` is set too; remove one of them"
    if bookmark.address.startswith("udp:") and bookmark.echo != "none":
        yield "echo", "UDP has no replies; remove it, or write tcp:// in `address`"
    try:
        codecs.lookup(bookmark.encoding)
    except (LookupError, ValueError):
        yield "encoding", f"{bookmark.encoding!r} is no encoding; such as utf-8, latin-1 or ascii"
    for key in ("begin", "end"):
        if not getattr(bookmark, key).isprintable():
            yield key, "has a control character; the line ends with `newline`"
    for table in bookmark.cameras:
        if bookmark.tables and table not in bookmark.tables:
            yield "cameras", f"{table} is not among `tables`; add it there, or remove it here"


def _address(bookmark: BookmarkConfig) -> str | None:
    schemes = ADDRESS_SCHEMES[bookmark.kind]
    try:
        address = urlsplit(bookmark.address)
        port = address.port
    except ValueError as error:
        return f"is not an address: {error}"
    if address.scheme not in schemes or not address.hostname:
        return (
            f"a {bookmark.kind} needs an address as "
            f"{' or '.join(f'{scheme}://host:port' for scheme in schemes)}"
        )
    if address.username is not None or address.password is not None:
        return "contains a user name or password; use `secret_file` or `secret_credential`"
    if address.scheme in ("tcp", "udp") and (not port or address.path or address.query):
        return f"write {address.scheme}://host:port, and nothing after it"
    return None


def _video(video: VideoConfig) -> Iterator[tuple[str, str]]:
    names = re.findall(r"%(.?)", video.pattern)
    if unknown := sorted({name for name in names if name not in (*ALLOWED_DIRECTIVES, "%")}):
        allowed = ", ".join(f"%{directive}" for directive in ALLOWED_DIRECTIVES)
        yield "pattern", f"%{unknown[0]} is not allowed; allowed: {allowed}"
    elif "s" not in names and (
        missing := [directive for directive in REQUIRED_DIRECTIVES if directive not in names]
    ):
        yield (
            "pattern",
            f"%{missing[0]} is missing: the name must contain the start of the recording, or %s",
        )
    if "{camera}" not in video.pattern:
        yield "pattern", "{camera} is missing: the name must contain the camera"
    if video.pattern.startswith("/") or ".." in video.pattern.split("/"):
        yield "pattern", "must lie below `folder`: no / at its beginning, and no .."
