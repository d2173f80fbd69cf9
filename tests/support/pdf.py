"""The text of a PDF as this program writes it."""

from __future__ import annotations

import re
import zlib


def pdf_words(data: bytes) -> list[str]:
    """Return the texts of a PDF, in drawing order."""
    assert data.startswith(b"%PDF-")
    return [
        re.sub(rb"\\(.)", rb"\1", shown).decode("latin-1")
        for stream in re.findall(rb">>\nstream\n(.*?)\nendstream", data, re.DOTALL)
        for shown in re.findall(rb"\((.*?)(?<!\\)\) Tj", zlib.decompress(stream))
    ]


def pdf_text(data: bytes) -> str:
    """Return the text of a PDF, one line for each text."""
    return "\n".join(pdf_words(data))
