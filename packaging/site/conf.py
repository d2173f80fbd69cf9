"""The site of the pages in ``docs``, as Sphinx builds it: ``make docs``."""

from __future__ import annotations

import os
import os.path
import re
from pathlib import Path
from typing import Any

from common.contract.version import SOFTWARE
from common.contract.vocabulary import anchor

DOCS = Path(__file__).resolve().parents[2] / "docs"
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
EVENING = """

<p><a href="evening/index.html">A recorded evening</a>: displays, and a journal that verifies
itself in your browser.</p>

"""
"""The link to what ``make site`` adds."""
START = '<!doctype html><meta http-equiv="refresh" content="0; url=README.html">\n'

project = "Novamás"
release = SOFTWARE.split()[-1]
extensions = ["myst_parser"]
root_doc = "README"
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = f"Novamás {release.partition('+')[0]}"
html_show_search_summary = False  # a page that is read from a file cannot fetch another
html_show_sphinx = html_show_copyright = html_copy_source = False
html_last_updated_fmt = None
highlight_language = "none"
myst_heading_anchors = 6
myst_heading_slug_func = anchor
suppress_warnings = [
    "config.cache",  # the function that names headings
    "misc.highlighting_failure",  # code blocks are named for the tests that run them
]


def prepare(_app: object, name: str, source: list[str]) -> None:
    """Add a table of contents to an index, and take links to what is not in the site."""
    here = (DOCS / name).parent
    source[0] = LINK.sub(lambda found: _in_site(found, here), source[0])
    if name == root_doc:
        source[0] += EVENING if "NOVAMAS_EVENING" in os.environ else ""
        for reader, text in re.findall(
            r"^## (\w+)(.*?)(?=^## |\Z)", source[0], re.MULTILINE | re.DOTALL
        ):
            source[0] += _contents(text, f":caption: {reader}")
    elif name.endswith("/README"):
        others = "".join(f"]({page.name})" for page in sorted(here.glob("[!R]*.md")))
        source[0] += _contents(source[0] + others)


def _in_site(found: re.Match[str], here: Path) -> str:
    """The link, or its text alone where it leads to a folder or a page outside."""
    if "://" in found[2]:
        return found[0]
    target = Path(os.path.normpath(here / found[2]))
    if target.is_dir() or (target.suffix == ".md" and not target.is_relative_to(DOCS)):
        return found[1]
    return found[0]


def _contents(text: str, *options: str) -> str:
    """A hidden table of contents of the pages that a text links, in its order."""
    pages = dict.fromkeys(re.findall(r"\]\((?!\.\.)([\w/-]+)\.md\)", text))
    lines = ["\n", "```{toctree}", ":hidden:", *options, "", *pages, "```", ""]
    return "\n".join(lines)


def start(app: Any, error: Exception | None) -> None:
    """Let the folder itself lead to the first page."""
    if error is None:
        (Path(app.outdir) / "index.html").write_text(START)


def setup(app: Any) -> None:
    """Connect both."""
    app.connect("source-read", prepare)
    app.connect("build-finished", start)
