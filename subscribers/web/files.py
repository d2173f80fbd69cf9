"""The files of the pages."""

from __future__ import annotations

import os

from starlette.responses import Response
from starlette.staticfiles import PathLike, StaticFiles
from starlette.types import Scope

REVALIDATE_HEADERS = {"cache-control": "no-cache"}
"""A browser keeps it, and asks each time whether it is still the same: so an update of the server
is whole at once, and costs nothing where nothing changed.
"""


class Files(StaticFiles):
    """The files of the pages."""

    def file_response(
        self,
        full_path: PathLike,
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """Answer with a file, or that it is still the same."""
        answer = super().file_response(full_path, stat_result, scope, status_code)
        answer.headers.update(REVALIDATE_HEADERS)
        return answer
