"""Static files of the pages."""

from __future__ import annotations

import os

from starlette.responses import Response
from starlette.staticfiles import PathLike, StaticFiles
from starlette.types import Scope

REVALIDATE_HEADERS = {"cache-control": "no-cache"}
"""A browser caches files, but revalidates them on each use: so after an update of the server no
stale file is used, and an unchanged file is not sent again.
"""


class Files(StaticFiles):
    """Static files that browsers revalidate."""

    def file_response(
        self,
        full_path: PathLike,
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """Return the file, or 304 if it has not changed."""
        answer = super().file_response(full_path, stat_result, scope, status_code)
        answer.headers.update(REVALIDATE_HEADERS)
        return answer
