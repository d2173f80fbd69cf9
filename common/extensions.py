"""Extensions: drivers and webhook adapters of packages outside this tree, found by their entry
points. Nothing is loaded that the configuration or a person does not name.

The digest of an extension covers the files of its package as they lie on the disk, not those of
other packages that it imports, and no compiled caches. It names what was loaded; it is no
protection against a person who may write there, since he may write this program too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from common.errors import NovamasError

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

ExtensionKind = Literal["drivers", "webhooks"]
"""The entry-point groups are ``novamas.drivers`` and ``novamas.webhooks``."""
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_OWN_FILES = re.compile(r"(__pycache__|\.pyc\Z|\.pyo\Z)")
"""Files that Python makes itself."""


class ExtensionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A loaded extension. ``digest``: SHA-256 over the names and contents of its files, in
    hexadecimal.
    """

    name: str
    package: str
    version: str
    digest: str

    def __str__(self) -> str:
        return f"{self.name} of {self.package} {self.version}, sha256 {self.digest}"


class ExtensionError(NovamasError):
    """An extension cannot be loaded. The message says what is wrong, where, and what to do."""


_loaded: dict[tuple[ExtensionKind, str], tuple[Any, ExtensionRecord]] = {}
"""What this process has loaded; Python cannot load it again."""


def load_extension(
    kind: ExtensionKind, name: str, check: Callable[[Any], str | None]
) -> tuple[Any, ExtensionRecord]:
    """Load an extension, once in a process, and return its object. ``check`` returns what is wrong
    with the object, or None. Raises :class:`ExtensionError`.
    """
    if (kind, name) in _loaded:
        return _loaded[kind, name]
    entry = _entry_point(kind, name)
    distribution = entry.dist
    assert distribution is not None  # importlib.metadata found it by its distribution
    record = _record(name, entry, distribution)
    where = f"extension {name}: {entry.value} of {record.package} {record.version}"
    try:
        found = getattr(import_module(entry.module), entry.attr)
    except ModuleNotFoundError as error:
        raise ExtensionError(
            f"{where}: the module {error.name} is missing; install it, or the extension again"
        ) from error
    except Exception as error:  # foreign code: anything
        raise ExtensionError(
            f"{where}: it fails with {type(error).__name__} as it is loaded; ask its author"
        ) from error
    if (problem := check(found)) is not None:
        raise ExtensionError(f"{where}: {problem}; ask its author")
    _loaded[kind, name] = found, record
    return found, record


def loaded_record(kind: ExtensionKind, name: str) -> ExtensionRecord | None:
    """Return the record of an extension that this process has loaded, or None."""
    loaded = _loaded.get((kind, name))
    return None if loaded is None else loaded[1]


def installed_record(kind: ExtensionKind, name: str) -> ExtensionRecord:
    """Return what is installed now, without loading it. Raises :class:`ExtensionError`."""
    entry = _entry_point(kind, name)
    assert entry.dist is not None
    return _record(name, entry, entry.dist)


def _entry_point(kind: ExtensionKind, name: str) -> EntryPoint:
    from importlib.metadata import entry_points

    if not _NAME.fullmatch(name):
        raise ExtensionError(
            f"extension {name!r}: a name has the letters a-z, digits, and single hyphens between "
            "them"
        )
    group = entry_points(group=f"novamas.{kind}")
    found = list(
        {(entry.value, _package(entry)): entry for entry in group.select(name=name)}.values()
    )
    if not found:
        there = ", ".join(sorted({entry.name for entry in group})) or "none"
        raise ExtensionError(
            f"extension {name}: no installed package offers it as novamas.{kind}; installed: "
            f"{there}. Install it beside novamas, with the same Python: docs/engineer/extensions.md"
        )
    if len(found) > 1:
        packages = " and ".join(sorted(map(_package, found)))
        raise ExtensionError(f"extension {name}: {packages} both offer it; remove one of them")
    return found[0]


def _package(entry: EntryPoint) -> str:
    return "" if entry.dist is None else entry.dist.name


def _record(name: str, entry: EntryPoint, distribution: Distribution) -> ExtensionRecord:
    where = f"extension {name}: {distribution.name} {distribution.version}"
    files = _files(distribution)
    module = entry.module.replace(".", "/")
    if not {f"{module}.py", f"{module}/__init__.py"} & files.keys():
        raise ExtensionError(
            f"{where}: {module}.py is not among its installed files; install it as a package, not "
            "editable (pip install without -e)"
        )
    digest = hashlib.sha256()
    for path, file in sorted(files.items()):
        try:
            content = file.read_bytes()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ExtensionError(f"{where}: {file}: {reason}; install it again") from error
        digest.update(f"{path}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return ExtensionRecord(
        name=name,
        package=distribution.name,
        version=distribution.version,
        digest=digest.hexdigest(),
    )


def _files(distribution: Distribution) -> dict[str, Path]:
    """Return the files of a package's modules by their path below where they are installed: those
    that it lists, and any other in the same folders, which Python would load as well.
    """
    listed = [
        file
        for file in distribution.files or ()
        if ".." not in file.parts and not file.parts[0].endswith((".dist-info", ".egg-info"))
    ]
    root = Path(str(distribution.locate_file("")))
    files = {str(file): root / file for file in listed}
    for folder in {file.parts[0] for file in listed if len(file.parts) > 1}:
        files |= {
            str(path.relative_to(root)): path
            for path in (root / folder).rglob("*")
            if path.is_file()
        }
    return {name: path for name, path in files.items() if not _OWN_FILES.search(name)}
