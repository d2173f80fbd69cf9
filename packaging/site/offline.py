"""Turns a display of the web server, as it was received, into one file that needs no server: its
styles, fonts and modules are in it, and what the server sent is sent again by a part of the page.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

Fetch = Callable[[str], bytes]
"""Returns what is at a path of the server."""

ORIGIN = "https://display.invalid"
"""Stands for the server in addresses: nothing is ever requested there."""
_MEDIA_TYPES = {".woff2": "font/woff2", ".svg": "image/svg+xml", ".css": "text/css"}
_IMPORT = re.compile(r"""((?:^|\n)(?:import|export)\b[^;'"]*?["'])(\.{1,2}/[^"']+)(["'])""")
_MODULE = re.compile(r'<script type="module" src="([^"]+)"></script>')
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">')
_OUTSIDE = re.compile(r'<link rel="icon"[^>]*>\n?|<script nomodule[^>]*></script>\n?')
_URL = re.compile(r"""url\(["']?(?!data:|#)([^"')]+)["']?\)""")

REPLAY = """
{
  const RECORDED = %s;
  const PAGES = %s;
  window.SharedWorker = undefined;
  const PAUSE_MS = 4000;
  window.EventSource = class extends EventTarget {
    static CLOSED = 2;
    readyState = 1;
    timers = [];
    constructor() {
      super();
      this.play();
    }
    play() {
      this.timers = RECORDED.map(([at, kind, data]) =>
        setTimeout(() => this.dispatchEvent(new MessageEvent(kind, { data })), at),
      );
      const last = RECORDED.length ? RECORDED[RECORDED.length - 1][0] : 0;
      this.timers.push(setTimeout(() => this.play(), last + PAUSE_MS));
    }
    close() {
      this.timers.forEach(clearTimeout);
    }
  };
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link) return;
    event.preventDefault();
    const page = PAGES[new URL(link.href).pathname];
    if (page) location.href = page;
  }, true);
}
"""


class Sent(NamedTuple):
    """An event that the server sent: milliseconds after the first, kind, and data as sent."""

    at: int
    kind: str
    data: str


def read_stream(chunks: Iterable[tuple[float, str]]) -> list[Sent]:
    """Return the events in the lines of a stream (text/event-stream), each with the time in seconds
    at which it was received.
    """
    sent, first, kind, data = list[Sent](), None, "message", list[str]()
    for at, line in chunks:
        first = at if first is None else first
        name, _, value = line.partition(":")
        match name:
            case "event":
                kind = value.strip()
            case "data":
                data.append(value.removeprefix(" "))
            case "" if data:
                sent.append(Sent(round((at - first) * 1000), kind, "\n".join(data)))
                kind, data = "message", []
    return sent


def bundle(html: str, fetch: Fetch, sent: Iterable[Sent], pages: Mapping[str, str]) -> str:
    """Return the page as one file. ``pages``: files that links lead to, by path of the server."""
    entry = _MODULE.search(html)
    if entry is None:
        raise ValueError("the page has no module")
    modules: dict[str, str] = {}
    _add_modules(entry[1], fetch, modules)
    imports = {
        name: f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"
        for name, text in modules.items()
    }
    replay = REPLAY % (_in_script([list(each) for each in sent]), _in_script(dict(pages)))
    head = (
        f'<script type="importmap">{_in_script({"imports": imports})}</script>\n'
        f"<script>{replay}</script>\n"
    )
    html = _OUTSIDE.sub("", html)
    html = _STYLE.sub(lambda found: f"<style>{_style(found[1], fetch)}</style>", html)
    html = html.replace('<meta charset="utf-8">\n', f'<meta charset="utf-8">\n{head}', 1)
    # with an address, since only then the page learns that its script was loaded
    start = base64.b64encode(f'import "{_name(entry[1])}";'.encode()).decode()
    start = f'<script type="module" src="data:text/javascript;base64,{start}"></script>'
    return _MODULE.sub(lambda _: start, html)


def _add_modules(path: str, fetch: Fetch, modules: dict[str, str]) -> None:
    """Add a module and all that it imports, each import by the name of the module."""
    name = _name(path)
    if name in modules:
        return
    modules[name] = ""
    text = fetch(path).decode()

    def named(found: re.Match[str]) -> str:
        imported = urljoin(path, found[2])
        _add_modules(imported, fetch, modules)
        return f"{found[1]}{_name(imported)}{found[3]}"

    text = _IMPORT.sub(named, text)
    modules[name] = text.replace("import.meta.url", json.dumps(f"{ORIGIN}{path}"))


def _name(path: str) -> str:
    return f"novamas{urlsplit(path).path}"


def _style(path: str, fetch: Fetch) -> str:
    """Return a style sheet with its fonts and pictures in it."""

    def within(found: re.Match[str]) -> str:
        target = urlsplit(urljoin(path, found[1])).path
        kind = _MEDIA_TYPES.get(target[target.rfind(".") :], "application/octet-stream")
        return f"url(data:{kind};base64,{base64.b64encode(fetch(target)).decode()})"

    return _URL.sub(within, fetch(path).decode())


def _in_script(content: object) -> str:
    """Return JSON that cannot end the script that it is in."""
    text = json.dumps(content, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
