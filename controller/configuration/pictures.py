"""Checks of the video systems that are told of events, and of the recordings that clips come
from.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from controller.configuration.settings import BookmarkConfig, Configuration, VideoConfig
from devices.places import Path

Flaws = Iterator[tuple[Path, str]]

SCHEMES: Mapping[str, tuple[str, ...]] = {
    "milestone": ("tcp", "udp"),
    "pos": ("tcp",),
    "frigate": ("http", "https"),
    "webhook": ("http", "https"),
}
OF: Mapping[str, tuple[str, ...]] = {
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
"""The keys that only some kinds have."""
FIELDS = "YmdHMSfs"
"""What the name of a recording may have after ``%``."""
NEEDED = "YmdHMS"


def pictures(configuration: Configuration) -> Flaws:
    """Every mistake."""
    ids = [each.id for each in configuration.bookmark]
    for index, each in enumerate(configuration.bookmark):
        if each.id and each.id in ids[:index]:
            what = f"another bookmark has the id {each.id} too; each keeps its place under its id"
            yield ("bookmark", index, "id"), what
        if each.kind in SCHEMES:  # what else was noted when the file was read
            for key, what in _bookmark(each):
                yield ("bookmark", index, key), what
    for key, what in _video(configuration.video):
        yield ("video", key), what


def _bookmark(each: BookmarkConfig) -> Iterator[tuple[str, str]]:
    if each.address and (wrong := _address(each)) is not None:
        yield "address", wrong
    usual = BookmarkConfig(id=each.id, kind=each.kind, address=each.address)
    for key, kinds in OF.items():
        if each.kind not in kinds and getattr(each, key) != getattr(usual, key):
            yield key, f"is of {' and '.join(kinds)} alone; remove it from this {each.kind}"
    if each.secret_file and each.secret_credential:
        yield "secret_credential", "`secret_file` is set too; remove one of them"
    if each.address.startswith("udp:") and each.echo != "none":
        yield "echo", "over UDP no answer is awaited; remove it, or write tcp:// in `address`"
    try:
        codecs.lookup(each.encoding)
    except (LookupError, ValueError):
        yield "encoding", f"{each.encoding!r} is no encoding; such as utf-8, latin-1 or ascii"
    for key in ("begin", "end"):
        if not getattr(each, key).isprintable():
            yield key, "has a control character; the line ends with `newline`"
    for table in each.cameras:
        if each.tables and table not in each.tables:
            yield "cameras", f"{table} is not among `tables`; add it there, or remove it here"


def _address(each: BookmarkConfig) -> str | None:
    schemes = SCHEMES[each.kind]
    try:
        at = urlsplit(each.address)
        port = at.port
    except ValueError as error:
        return f"is not an address: {error}"
    if at.scheme not in schemes or not at.hostname:
        return f"a {each.kind} is at {' or '.join(f'{scheme}://host:port' for scheme in schemes)}"
    if at.username is not None or at.password is not None:
        return "contains a user name or password; use `secret_file` or `secret_credential`"
    if at.scheme in ("tcp", "udp") and (not port or at.path or at.query):
        return f"write {at.scheme}://host:port, and nothing after it"
    return None


def _video(video: VideoConfig) -> Iterator[tuple[str, str]]:
    names = re.findall(r"%(.?)", video.pattern)
    if unknown := sorted({name for name in names if name not in (*FIELDS, "%")}):
        known = ", ".join(f"%{each}" for each in FIELDS)
        yield "pattern", f"%{unknown[0]} is not known; there are: {known}"
    elif "s" not in names and (missing := [each for each in NEEDED if each not in names]):
        yield (
            "pattern",
            f"%{missing[0]} is missing: a name must say when its recording begins, or have %s",
        )
    if "{camera}" not in video.pattern:
        yield "pattern", "{camera} is missing: a name must say whose recording it is"
    if video.pattern.startswith("/") or ".." in video.pattern.split("/"):
        yield "pattern", "must lie below `folder`: no / at its beginning, and no .."
