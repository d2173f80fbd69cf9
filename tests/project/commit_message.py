"""Check the message of a commit in a file, as git's hook `commit-msg` asks."""

from __future__ import annotations

import re
import sys
from pathlib import Path

MAX_SUBJECT_LENGTH = 72
PART = re.compile(r"[\w./, -]+: \S")
"""The part that the commit changes, before its subject: `journal: ...`, `carrousel tests: ...`."""
BY_GIT = re.compile(r"(Merge|Revert|fixup!|squash!|amend!) ?")
"""Subjects that git writes itself."""


def mistakes(message: str) -> list[str]:
    """Return the mistakes in a commit message, one sentence each."""
    lines = [line for line in message.split("\n") if not line.startswith("#")]
    while lines and not lines[0].strip():
        lines.pop(0)
    subject, *body = lines or [""]
    if BY_GIT.match(subject):
        return []
    found = []
    if not PART.match(subject):
        found.append("the subject names no part: write `journal: reject entries without a hash`")
    if len(subject) > MAX_SUBJECT_LENGTH:
        found.append(
            f"the subject has {len(subject)} characters, at most {MAX_SUBJECT_LENGTH} are allowed"
        )
    if subject.endswith("."):
        found.append("the subject ends with a full stop: leave it out")
    if body and body[0].strip():
        found.append("the second line is not empty: git takes it for the subject")
    return found


if __name__ == "__main__":
    found = mistakes(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.exit("\n".join(f"commit message: {mistake}" for mistake in found) or None)
