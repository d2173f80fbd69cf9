"""Make a mutant in this process, before the project's packages are imported. No file is changed and
no bytecode is written.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any

import msgspec

from tests.mutants.table import Mutant


def apply(mutant: Mutant) -> None:
    """Import the module, or read the rulebook, with the change from now on."""
    packages = ("common", "controller", "devices")
    loaded = [name for name in sys.modules if name.partition(".")[0] in packages]
    if loaded:
        raise RuntimeError(f"{loaded[0]} was imported before the mutant was made")
    if mutant.module is not None:
        sys.meta_path.insert(0, _Finder(mutant.module, mutant.changed_source()))
    else:
        _change_page(mutant)


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads one module from other source than its file's."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self.source = source

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - the loader's interface
        return compile(self.source, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the changed module, and no other."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Loader(fullname, spec.origin, self.source)
        return spec


def _change_page(mutant: Mutant) -> None:
    """Rulebooks are read by ``msgspec.toml.decode``; the page with this file's text gets
    the value.
    """
    text, decode = mutant.path().read_text(encoding="utf-8"), msgspec.toml.decode

    def changed(buf: Any, **options: Any) -> Any:
        page = decode(buf, **options)
        if buf == text:
            mutant.change_page(page)
        return page

    vars(msgspec.toml)["decode"] = changed
