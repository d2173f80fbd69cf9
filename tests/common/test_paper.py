"""The look of all papers: the code at the foot of every page is the hash, and nothing prints over
it.
"""

from __future__ import annotations

import re
import zlib
from datetime import UTC, datetime

import segno

from common.paper import QR_SIZE, Paper
from tests.support.pdf import pdf_words

HASH = "0123456789abcdef" * 4
POINTS = 72 / 25.4
"""Of a millimetre."""


def paper(code: str | None, lines: int = 120) -> bytes:
    page = Paper(["A title", "a line"], "es", datetime(2026, 11, 27, tzinfo=UTC), code=code)
    page.set_font("Helvetica", "", 10)
    for number in range(lines):
        page.wrapped(f"line {number}", 5)
    return bytes(page.output())


def modules(stream: bytes) -> list[tuple[float, float]]:
    """Where a page's filled squares are, in points."""
    found = re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) -([\d.]+) re f", stream)
    return [(float(x), float(y)) for x, y, _, _ in found]


def streams(data: bytes) -> list[bytes]:
    found = re.findall(rb">>\nstream\n(.*?)\nendstream", data, re.DOTALL)
    return [zlib.decompress(stream) for stream in found]


def test_every_page_has_the_hash_as_a_code() -> None:
    rows = [list(map(bool, row)) for row in segno.make(HASH, error="m", micro=False).matrix]
    module = QR_SIZE / len(rows) * POINTS
    pages = [found for stream in streams(paper(HASH)) if (found := modules(stream))]
    assert len(pages) == 3
    for squares in pages:
        left, top = min(x for x, _ in squares), max(y for _, y in squares)
        dark = {(round((top - y) / module), round((x - left) / module)) for x, y in squares}
        assert dark == {(y, x) for y, row in enumerate(rows) for x, dark in enumerate(row) if dark}


def test_no_line_is_printed_beside_the_code() -> None:
    for stream in streams(paper(HASH)):
        if squares := modules(stream):
            top = max(y for _, y in squares)
            printed = re.findall(rb"BT ([\d.]+) ([\d.]+) Td \(line", stream)
            assert printed
            assert min(float(y) for _, y in printed) > top


def test_a_paper_without_a_proof_has_no_code() -> None:
    data = paper(None)
    assert not any(map(modules, streams(data)))
    assert "line 119" in pdf_words(data)
