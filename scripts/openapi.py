"""Writes docs/openapi.json from the API's routes; --check only says whether it is up to date."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NoReturn

from api.app import create_app
from api.backend import Backend
from stellwerk.bootstrap.serving import serve
from stellwerk.config import Settings
from stellwerk.kernel.errors import Unauthenticated

PAGE = Path(__file__).parents[1] / "docs" / "openapi.json"


class _NoTokens:
    def verify(self, token: str) -> NoReturn:
        raise Unauthenticated("nobody is let in here")


def page() -> str:
    """Return the document."""
    app = create_app(Backend(serve(Settings.of({})), _NoTokens()))
    return json.dumps(app.openapi(), indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Write the document, or compare it."""
    if "--check" not in arguments:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page():
        return 0
    sys.stderr.write("docs/openapi.json is out of date: run scripts/openapi.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
