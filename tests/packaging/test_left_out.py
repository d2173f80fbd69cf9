"""Nothing needs the modules that the Debian package leaves out: everything is imported, a PDF and a
screen are made, without them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "packaging" / "debian" / "build.py"
COMMAND = BUILD.with_name("novamas")
WITHOUT = """
import sys
from importlib.machinery import FileFinder, PathFinder, SourceFileLoader

class LeftOut:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in ("PIL", "pygments", "markdown_it", "mdurl", "numpy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if top == "fontTools" and path:  # its modules in C are left out
            for each in path:
                finder = FileFinder(each, (SourceFileLoader, [".py"]))
                if (spec := finder.find_spec(name)) is not None:
                    return spec
        return None

sys.meta_path.insert(0, LeftOut())
"""
EVERYTHING = """
import pkgutil, importlib
import common, controller, devices, simulators, subscribers

absent = {"psycopg", "pyarrow"}
for package in (common, controller, devices, simulators, subscribers):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            assert error.name.partition(".")[0] in absent, (module.name, error)

from fpdf import FPDF
page = FPDF()
page.add_page()
page.set_font("Helvetica", "B", 12)
page.multi_cell(0, 5, "Ruleta 17, rojo")
with page.table() as table:
    table.row(("a", "b"))
assert bytes(page.output()).startswith(b"%PDF")
made = [name for name, module in sys.modules.items()
        if name.startswith("fontTools") and str(getattr(module, "__file__", "")).endswith(".so")]
assert made == []

from controller.cli import main
main(["rules", "ARA02-150"])
main(["games"])
"""
MODULES = {"pillow": "PIL", "markdown-it-py": "markdown_it"}


def test_nothing_needs_what_is_left_out(programs: None) -> None:
    (names,) = re.findall(r"^LEFT_OUT = \((.*)\)$", BUILD.read_text(), re.MULTILINE)
    for name in re.findall(r'"(.+?)"', names):
        assert f'"{MODULES.get(name, name)}"' in WITHOUT
        assert f"\n{name}==" in (ROOT / "constraints.txt").read_text()
    (quiet,) = re.findall(r'"PYTHONWARNINGS"\] = "(.+)"', COMMAND.read_text())
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + EVERYTHING],
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": quiet},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "roulette-french" in done.stdout
