"""``python -m tests.web.firefox``: the page of an inspector in Debian's Firefox: an untouched
journal and each forgery, with the verdicts that the audit gives. Needs the package
``firefox-esr``, which no other test does.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import msgspec

from common.chain.checkpoint import checkpoint_path
from common.contract.node import Checkpoint
from controller.inspection.export import export_page
from controller.proof.audit import audit
from tests.support.journal.forgeries import FORGERIES, three_runs
from tests.support.waiting import until
from tests.support.web.firefox import Firefox, firefox

VERDICT = "document.querySelector('#verdict')?.dataset.outcome"
TRUST = "document.querySelector('#key').value = '{key}'; document.querySelector('#use-key').click()"
OLD = (
    "() => { const Old = Blob; window.Blob = class extends Old { constructor(parts, how) { "
    "super(how?.type === 'text/javascript' ? ['delete self.DecompressionStream;', ...parts] "
    ": parts, how); } }; }"
)
"""Makes the page's worker one of a browser that cannot decompress."""


def main() -> int:
    """Print each verdict. Return 1 if one is not that of the audit."""
    wrong = 0
    with tempfile.TemporaryDirectory() as temporary, firefox(Path(temporary)) as browser:
        say(str(browser.evaluate("navigator.userAgent")))
        for number, (name, forge) in enumerate(FORGERIES.items()):
            folder = Path(temporary) / str(number)
            folder.mkdir()
            journal, page = folder / "journal.sqlite3", folder / "page.html"
            asyncio.run(three_runs(journal))
            point = msgspec.json.decode(checkpoint_path(journal).read_bytes(), type=Checkpoint)
            key = str(point.key)
            forge(journal)
            export_page(journal, "20", page)
            expected = str(audit(journal).outcome), str(audit(journal, key=key).outcome)
            found = verdict(browser, page), verdict_with(browser, key)
            wrong += found != expected
            other = "" if found == expected else f", not {expected}"
            say(f"{name:45}{' / '.join(found)}{other}")
        browser.before_scripts(OLD)
        without = verdict(browser, Path(temporary) / "0" / "page.html")
        wrong += without != "could_not_be_judged"
        say(f"{'without DecompressionStream':45}{without}")
    return 1 if wrong else 0


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def verdict(browser: Firefox, page: Path) -> str:
    """Open a page, and return its verdict."""
    browser.open(page.as_uri())
    until("a verdict", lambda: browser.evaluate(VERDICT) not in (None, "running"))
    return str(browser.evaluate(VERDICT))


def verdict_with(browser: Firefox, key: str) -> str:
    """Return the verdict with the public key that a person kept."""
    browser.evaluate(TRUST.format(key=key))
    value = "document.querySelector('#key').getAttribute('value')"
    until("the key is used", lambda: browser.evaluate(value) == key)
    return str(browser.evaluate(VERDICT))


if __name__ == "__main__":
    sys.exit(main())
