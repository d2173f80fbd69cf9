"""Which functions may write files: those of common/new_file.py, and those in the table, each with
its reason. A file that is written in another way can be found half written, be readable by others,
or follow a link.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("common", "controller", "devices", "simulators", "subscribers")
WRITERS = {
    "common/new_file.py": "the way for all others",
    "common/chain/sqlite_file.py::connect_durably": "SQLite writes it; private",
    "common/chain/sqlite_file.py::lock_file": "empty, to be locked",
    "common/chain/wal_index.py::WalIndex.reserve": "an existing file of SQLite",
    "controller/backup/take.py::_Backup._copy_journal": "SQLite writes it; private",
    "controller/cli/acceptance.py::Acceptance._note": "a log that is appended to and flushed",
    "controller/cli/init.py::check_text": "in a folder of its own that is removed",
    "controller/cli/surveillance.py::_laws": "in memory, without a name",
    "controller/demo/floor.py::DemoFloor.start_program": "a log of a demo's program",
    "controller/doctor/disk.py::_sync": "measures the disk, without a name",
    "controller/inspection/export.py::export_page": "without a name",
    "controller/setup/trial.py::_put": "in a folder of its own that is removed",
    "devices/recording_writer.py::RecordingWriter._open": "a log that is appended to",
    "subscribers/terminal/display.py::_touch": "empty: its time shows a supervisor that it runs",
    "subscribers/video/clips.py::_copy": "read by ffmpeg, then removed",
}
MODE = re.compile(r"[rwaxbt+]*[wax+][rwaxbt+]*")
METHODS = {"write_text", "write_bytes"}
FUNCTIONS = {
    "mkstemp", "NamedTemporaryFile", "TemporaryFile", "copy", "copy2", "copyfile", "copytree",
    "move",
}  # fmt: skip
"""Functions of tempfile and shutil that write a file."""


def writes(call: ast.Call) -> bool:
    """Return whether a call writes a file, or opens one for writing."""
    name = ast.unparse(call.func)
    arguments = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
    if name == "os.open":
        flags = ast.unparse(call.args[1])
        is_null = ast.unparse(call.args[0]) == "os.devnull"
        return not is_null and ("O_RDONLY" not in flags or "O_CREAT" in flags)
    if name == "open" or name.endswith(".open"):
        is_null = bool(call.args) and ast.unparse(call.args[0]) == "os.devnull"
        return not is_null and any(
            isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and MODE.fullmatch(each.value) is not None
            for each in arguments
        )
    if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS:
        return True
    module, _, function = name.rpartition(".")
    if function == "touch":
        return module.startswith("Path(")
    return module in ("tempfile", "shutil") and function in FUNCTIONS


def writers(tree: ast.AST, place: str = "") -> Iterator[str]:
    """Yield the function of each call that writes a file."""
    for node in ast.iter_child_nodes(tree):
        inner = place
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{place}.{node.name}"
        if isinstance(node, ast.Call) and writes(node):
            yield inner.lstrip(".")
        yield from writers(node, inner)


def found() -> set[str]:
    places = set[str]()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            for function in writers(ast.parse(path.read_text(encoding="utf-8"))):
                whole = name if name in WRITERS else f"{name}::{function}"
                places.add(whole)
    return places


def test_only_the_functions_of_the_table_write_files() -> None:
    assert found() == set(WRITERS)


def test_each_way_to_write_is_noticed() -> None:
    for source in (
        "path.write_text(text)",
        "path.write_bytes(data)",
        "open(path, 'w')",
        "open(path, mode='ab')",
        "path.open('r+b')",
        "os.open(path, os.O_WRONLY | os.O_CREAT)",
        "os.open(path, flags)",
        "tempfile.NamedTemporaryFile('w')",
        "shutil.copy(one, other)",
        "Path(name).touch()",
    ):
        assert [*writers(ast.parse(source))], source
    for source in (
        "open(path)",
        "path.open('rb')",
        "os.open(path, os.O_RDONLY)",
        "os.open(os.devnull, os.O_WRONLY)",
        "open(os.devnull, 'w')",
        "floor.touch(table)",
        "copy(value)",
    ):
        assert not [*writers(ast.parse(source))], source
