"""What browsers of five years ago lack, by the data of MDN: features of JavaScript, of pages and of
style sheets that came with a later version of any browser that docs/technician/web.md names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import subscribers

NPM = Path(__file__).parents[1] / "npm"
DATA = NPM / "node_modules/@mdn/browser-compat-data/data.json"
STATIC = Path(subscribers.__file__).parent
SCRIPTS = sorted(STATIC.glob("*/static/**/*.js"))
SHEETS = sorted(STATIC.glob("*/static/**/*.css"))
PAGE = Path(__file__).parents[2] / "docs/technician/web.md"
NAMED = re.compile(r"Chrome and Edge (\d+), Firefox (\d+) and Safari (\d+(?:\.\d+)?)")
DISPLAYS = [each for each in SHEETS if each.parts[-4:-2] == ("display", "static")]
DISPLAYS += [STATIC / "display/static/display.css", STATIC / "display/static/jackpot.css"]
"""The style sheets of the displays, which need more than the other pages."""
Oldest = Mapping[str, float]
"""Browser -> its oldest version."""


@cache
def oldest(displays: bool = False) -> Oldest:
    """The oldest browsers that docs/technician/web.md names: of all pages, and of the displays."""
    every, drawing = NAMED.findall(" ".join(PAGE.read_text(encoding="utf-8").split()))
    chrome, firefox, safari = map(float, drawing if displays else every)
    return {
        **dict.fromkeys(("chrome", "edge", "chrome_android"), chrome),
        **dict.fromkeys(("firefox", "firefox_android"), firefox),
        **dict.fromkeys(("safari", "safari_ios"), safari),
    }


@cache
def data() -> Any:
    """All that MDN says."""
    return json.loads(DATA.read_bytes())


def compat_of(feature: str) -> Any:
    """What MDN says of a feature of the web's interfaces: ``SubtleCrypto.verify.ed25519``."""
    found = data()["api"]
    for name in feature.split("."):
        found = found[name]
    return found["__compat"]


def is_newer(compat: Any, never: bool = True, displays: bool = False) -> bool:
    """Whether one of these browsers does not have it at its oldest version. ``never``: also where
    it has it at no version, and the others have.
    """
    lacks = [_lacks(compat["support"].get(name), at) for name, at in oldest(displays).items()]
    return "came later" in lacks or (never and "never" in lacks)


def _lacks(told: Any, oldest_version: float) -> str:
    ranges = told if isinstance(told, list) else [told]
    plain = [
        each
        for each in ranges
        if each is not None and not {"flags", "prefix", "alternative_name"} & each.keys()
    ]
    added = [str(each["version_added"]).lstrip("≤") for each in plain]
    if told is None or "True" in added or "None" in added:
        return ""
    versions = [number for each in added if (number := _number(each)) is not None]
    if any(number <= oldest_version for number in versions):
        return ""
    return "came later" if versions or "preview" in added else "never"


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def members(group: str) -> Iterator[tuple[str, str, bool]]:
    """Interface or builtin, member (empty: itself; one of the interface, not of its objects, ends
    in ``_static``), and whether it is newer.
    """
    place = data()["javascript"]["builtins"] if group == "builtins" else data()["api"]
    for name, found in [*place.items(), *_of_intl(place)]:
        yield name, "", is_newer(found["__compat"]) if "__compat" in found else False
        for member, of in found.items():
            if member != "__compat" and "__compat" in of:
                yield name, member, is_newer(of["__compat"])


def _of_intl(place: Any) -> list[tuple[str, Any]]:
    return [
        (f"Intl.{name}", found)
        for name, found in place.get("Intl", {}).items()
        if name != "__compat"
    ]


@cache
def newer() -> tuple[frozenset[str], frozenset[str]]:
    """The newer ones: ``Interface.member`` or ``Interface``; and names of members that no older
    interface has.
    """
    paths: set[str] = set()
    names: set[str] = set()
    older: set[str] = set()
    for group in ("builtins", "api"):
        for name, member, is_new in members(group):
            if is_new:
                paths.add(f"{name}.{member}" if member else name)
            if member:
                (names if is_new else older).add(member.removesuffix("_static"))
    return frozenset(paths), frozenset(names - older)


REMOVE = """(paths) => {
  for (const path of paths) {
    const names = path.split(".");
    const member = names.length > 1 ? names.pop() : null;
    try {
      if (!member) delete window[names[0]];
      else if (names[0] === "Window") delete window[member];
      else {
        const of = names.reduce((found, each) => found && found[each], window);
        if (member.endsWith("_static")) delete of[member.slice(0, -"_static".length)];
        else if (of.prototype && member in of.prototype) delete of.prototype[member];
        else delete of[member];
      }
    } catch { /* some cannot be taken away */ }
  }
}"""
"""Takes features away from a page before its scripts run."""


def without_newer() -> str:
    """The script that makes a page one of an old browser."""
    return f"({REMOVE})({json.dumps(sorted(newer()[0]))})"


UNITS = {
    **{
        f"{size}v{axis}": f"viewport_percentage_units_{name}"
        for size, name in (("d", "dynamic"), ("s", "small"), ("l", "large"))
        for axis in ("h", "w", "i", "b", "min", "max")
    },
    **{f"cq{axis}": "container_query_length_units" for axis in ("w", "h", "i", "b", "min", "max")},
}
"""Unit of length -> its entry in MDN; all others are old."""


def sheet_features(text: str) -> Iterator[tuple[str, Any]]:
    """The features of a style sheet: a name for a person, and the entry in MDN. Features that only
    supporting browsers read are skipped: blocks in ``@supports``, and a second declaration of a
    property in a rule, unless it has a variable: then it would apply, with an invalid value.
    """
    css = data()["css"]
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"@supports [^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}", "", text)
    for rule in set(re.findall(r"@([\w-]+)", text)):
        yield f"@{rule}", css["at-rules"].get(rule, {}).get("__compat")
    for selector in set(re.findall(r"::?([a-z-]+)(?=[\s,{(.:>+~\[)])", _selectors(text))):
        yield f":{selector}", css["selectors"].get(selector, {}).get("__compat")
    for block in re.findall(r"{([^{}]*)}", text):
        told = set()
        for name, value in re.findall(r"(?:^|;)\s*([a-z-]+)\s*:\s*([^;]+)", block):
            if name not in told or "var(" in value:
                yield from _declared(css, name, value)
            told.add(name)
    if _nests(text):
        yield "nesting", css["selectors"]["nesting"]["__compat"]


def _declared(css: Any, name: str, value: str) -> Iterator[tuple[str, Any]]:
    of = css["properties"].get(name, {})
    yield name, of.get("__compat")
    for word in re.findall(r"(?<![\w-])[a-z][\w-]*", value):
        if word in of:
            yield f"{name}: {word}", of[word].get("__compat")
    for unit in re.findall(r"(?<![\w#.-])[\d.]+([a-z]+)\b", value):
        if unit in UNITS:
            yield f"{name}: 1{unit}", css["types"]["length"][UNITS[unit]]["__compat"]
    for function in re.findall(r"([a-z-]+)\(", value):
        found = css["types"].get(function) or css["types"]["color"].get(function) or {}
        yield f"{name}: {function}()", found.get("__compat")


def _selectors(text: str) -> str:
    return " ".join(f"{each} {{" for each in re.findall(r"([^{};]+){", text) if "@" not in each)


def _nests(text: str) -> bool:
    """Whether a rule is within a rule that is no at-rule."""
    open_rules: list[bool] = []
    for head, mark in re.findall(r"([^{};]*)([{};])", text):
        if mark == "{":
            if any(open_rules):
                return True
            open_rules.append(not head.strip().startswith("@"))
        elif mark == "}":
            open_rules.pop()
    return False
