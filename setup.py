"""Writes the commit into wheels and source distributions, which have no ``.git``."""

from __future__ import annotations

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

VERSION = Path("common", "contract", "version.py")

runpy.run_path(str(Path("common", "python_version.py")))


def write_commit(root: str) -> None:
    """Below a folder that has the package."""
    if commit := runpy.run_path(str(VERSION))["COMMIT"]:
        file = Path(root, VERSION).with_name("commit.txt")
        file.unlink(missing_ok=True)  # it may be a link to the file of the checkout
        file.write_text(f"{commit}\n", encoding="ascii")


class BuildWithCommit(build_py):
    """The package of a wheel."""

    def run(self) -> None:
        """Build, then write."""
        super().run()
        if not self.editable_mode:
            write_commit(self.build_lib)


class SourcesWithCommit(sdist):
    """The tree of a source distribution."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Make, then write."""
        super().make_release_tree(base_dir, files)
        write_commit(base_dir)


setup(cmdclass={"build_py": BuildWithCommit, "sdist": SourcesWithCommit})
