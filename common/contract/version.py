"""The version of the program and the commit that it was built from, as the journal, health, backups
and protocols record them: ``0.3.0+1f63d146a2b3``.

The version is a constant, since looking up the metadata of the installed package takes longer than
most commands. ``pyproject.toml`` has the same version; a test compares them.
"""

from __future__ import annotations

from pathlib import Path

RELEASE = "0.3.0"

_COMMIT_DIGITS = 12


def read_commit(package: Path, checkout: Path) -> str | None:
    """Read the commit from the file that a wheel, a package and a source archive contain, or from
    the ``.git`` of a checkout, without running git. None if neither has it.
    """
    built = _text(package / "commit.txt")
    if _is_commit(built):
        return built
    folder = checkout / ".git"
    if (pointer := _text(folder)).startswith("gitdir: "):  # a linked worktree
        folder = checkout / pointer.removeprefix("gitdir: ")
    head = _text(folder / "HEAD")
    if not head.startswith("ref: "):
        return head if _is_commit(head) else None
    name = head.removeprefix("ref: ")
    common = folder / (_text(folder / "commondir") or ".")
    commit = _text(common / name)
    if not _is_commit(commit):
        lines = (line.split() for line in _text(common / "packed-refs").splitlines())
        commit = next((line[0] for line in lines if line[1:] == [name]), "")
    return commit if _is_commit(commit) else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and set(text) <= set("0123456789abcdef")


COMMIT = read_commit(Path(__file__).parent, Path(__file__).parents[2])
VERSION = RELEASE if COMMIT is None else f"{RELEASE}+{COMMIT[:_COMMIT_DIGITS]}"
SOFTWARE = f"novamas {VERSION}"
