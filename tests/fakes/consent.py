"""A browser whose owner consents at once."""

from __future__ import annotations

import urllib.error
import urllib.request
from urllib.parse import parse_qs, urlsplit


class _Stays(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_: object) -> None:
        """Follow nothing."""


def consented(url: str) -> tuple[str, str]:
    """Open the address, consent, and return the state and code with which one is sent back."""
    try:
        urllib.request.build_opener(_Stays).open(url, timeout=10)
    except urllib.error.HTTPError as answer:
        with answer:
            assert answer.code == 302, answer.read()
            back = parse_qs(urlsplit(answer.headers["location"]).query)
            return back["state"][0], back["code"][0]
    raise AssertionError("the answer is no redirect")
