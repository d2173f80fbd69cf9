"""What the house shows of itself on the displays: its name, its logo, pictures for idle tables."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from subscribers.display.pages import House
from subscribers.web.files import REVALIDATE_HEADERS
from subscribers.web.settings import WebSettings

PICTURE_TYPES = {
    ".avif": "image/avif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
"""The pictures that are served, by their suffix; the policy of the pages keeps a script in an SVG
from running.
"""
MAX_PICTURES = 200


class HousePages:
    """The pictures of the house. Only files that its folder lists are served."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings

    @property
    def routes(self) -> list[Route]:
        """The routes of the pictures."""
        return [Route("/house/logo", self.logo), Route("/house/media/{name}", self.picture)]

    def house(self) -> House:
        """Return what the displays show of the house now."""
        settings = self._settings
        return House(
            name=settings.house,
            logo=settings.logo is not None,
            media=tuple(f"/house/media/{name}" for name in self._pictures()),
            also=settings.also,
        )

    async def logo(self, _: Request) -> Response:
        """``/house/logo``: the logo."""
        path = self._settings.logo
        return _not_found() if path is None else _picture(Path(path))

    async def picture(self, request: Request) -> Response:
        """``/house/media/<name>``: a picture of the folder."""
        path = self._pictures().get(request.path_params["name"])
        return _not_found() if path is None else _picture(path)

    def _pictures(self) -> dict[str, Path]:
        """Return the pictures of the folder by name, in the order of their names."""
        if self._settings.media is None:
            return {}
        try:
            paths = sorted(Path(self._settings.media).iterdir())
        except OSError:
            return {}
        found = {path.name: path for path in paths if path.suffix.lower() in PICTURE_TYPES}
        return dict([*found.items()][:MAX_PICTURES])


def _picture(path: Path) -> Response:
    type_ = PICTURE_TYPES.get(path.suffix.lower())
    if type_ is None or not path.is_file():
        return _not_found()
    return FileResponse(path, media_type=type_, headers=REVALIDATE_HEADERS)


def _not_found() -> Response:
    return PlainTextResponse("Not Found", 404)
