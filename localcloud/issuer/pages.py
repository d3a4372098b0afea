"""The issuer's pages: what stands in files of `html`, filled with texts in two languages.

Everything filled in is escaped unless it is `Html` already. Pages run no scripts and load nothing
from elsewhere; the header that forbids it stands here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Literal
from zlib import crc32

from localcloud.issuer.people import Company, People, Person

Language = Literal["de", "en"]
LANGUAGES: Mapping[Language, str] = {"de": "Deutsch", "en": "English"}
FOLDER = Path(__file__).parent / "html"
TONES = 5
"""Colours of the circles with initials."""

TEXTS: Mapping[str, Mapping[Language, str]] = {
    "title": {"de": "Anmelden", "en": "Sign in"},
    "lead": {
        "de": "Wählen Sie, als wer Sie arbeiten möchten. Die lokale Cloud fragt nach keinem "
        "Passwort: Diese Personen gibt es nur auf diesem Rechner.",
        "en": "Choose as whom you want to work. The local cloud asks for no password: "
        "these people exist on this machine only.",
    },
    "note": {
        "de": "Lokale Entwicklungsumgebung. In der Cloud meldet man sich beim Anbieter der "
        "eigenen Organisation an.",
        "en": "Local development environment. In the cloud people sign in at the provider of "
        "their own organisation.",
    },
    "operation": {"de": "Betrieb", "en": "Operations"},
    "languages": {"de": "Sprache", "en": "Language"},
    "refused": {
        "de": "Anmelden ist so nicht möglich",
        "en": "Signing in is not possible like this",
    },
    "refused lead": {
        "de": "Das Programm, das Sie hierher geschickt hat, hat etwas Unzulässiges verlangt. "
        "Starten Sie die Anmeldung dort noch einmal.",
        "en": "The program that sent you here asked for something that is not allowed. "
        "Start signing in there again.",
    },
    "signed out": {"de": "Abgemeldet", "en": "Signed out"},
    "signed out lead": {
        "de": "Sie können dieses Fenster schließen.",
        "en": "You can close this window.",
    },
}
PARTS: Mapping[str, Mapping[Language, str]] = {
    "admin": {"de": "Administration", "en": "Administrator"},
    "user": {"de": "Benutzer", "en": "User"},
    "viewer": {"de": "Nur lesen", "en": "Viewer"},
    "outsider": {"de": "Ohne Zugang", "en": "No access"},
    "system-admin": {"de": "Systemadministration", "en": "System administrator"},
}


class Html(str):
    """Text that is HTML already: the only kind that is filled in as it is."""

    __slots__ = ()


def policy(*targets: str) -> dict[str, str]:
    """Return the headers of a page whose form may lead to `targets`, each an origin."""
    forms = " ".join(("'self'", *targets))
    return {
        "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; "
        f"form-action {forms}; frame-ancestors 'none'; base-uri 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def language_of(asked: str, accepted: str) -> Language:
    """Return the first language asked for, else accepted by the browser, that pages know."""
    wishes = asked.split() + [wish.partition(";")[0] for wish in accepted.split(",")]
    for wish in wishes:
        short = wish.strip().lower()[:2]
        if short == "de":
            return "de"
        if short == "en":
            return "en"
    return "en"


class Pages:
    """Draws pages; `base` is the path below which the issuer is found."""

    def __init__(self, base: str) -> None:
        self._base = base

    def sign_in(
        self,
        people: People,
        fields: Mapping[str, str],
        language: Language,
        *,
        links: Mapping[Language, str],
    ) -> str:
        """Return the page on which someone says who he is; `fields` come back with the choice."""
        hidden = (
            _filled('<input type="hidden" name="$name" value="$value">', name=name, value=value)
            for name, value in fields.items()
        )
        content = self._part(
            "sign_in.html",
            title=TEXTS["title"][language],
            lead=TEXTS["lead"][language],
            fields=_joined(hidden),
            companies=_joined(
                self._company(company, f"company-{at}", language)
                for at, company in enumerate(people.companies)
            ),
        )
        return self._page("title", content, language, links)

    def refused(self, detail: str, language: Language) -> str:
        """Return the page for someone whose program asked wrongly."""
        return self._message("refused", detail, language)

    def signed_out(self, language: Language) -> str:
        """Return the page after signing out."""
        return self._message("signed out", "", language)

    def _message(self, text: str, detail: str, language: Language) -> str:
        content = self._part(
            "message.html" if detail else "words.html",
            title=TEXTS[text][language],
            lead=TEXTS[f"{text} lead"][language],
            detail=detail,
        )
        return self._page(text, content, language, {})

    def _company(self, company: Company, identity: str, language: Language) -> Html:
        people = _joined(self._person(person, language) for person in company.people)
        label = company.label or TEXTS["operation"][language]
        return self._part("company.html", id=identity, label=label, people=people)

    def _person(self, person: Person, language: Language) -> Html:
        return self._part(
            "person.html",
            subject=person.subject,
            name=person.name,
            email=person.email,
            initials=person.initials,
            part=PARTS[person.part][language],
            tone=str(crc32(person.subject.encode()) % TONES),
        )

    def _page(
        self, title: str, content: Html, language: Language, links: Mapping[Language, str]
    ) -> str:
        return self._part(
            "page.html",
            language=language,
            title=TEXTS[title][language],
            languages=_languages(language, links),
            content=content,
            note=TEXTS["note"][language],
        )

    def _part(self, file: str, **values: str) -> Html:
        return _filled(_template(file), base=self._base, **values)


def _languages(current: Language, links: Mapping[Language, str]) -> Html:
    if not links:
        return Html("")
    entries = (
        _filled(
            '<a href="$link" hreflang="$code" lang="$code"$current>$name</a>',
            link=link,
            code=code,
            name=LANGUAGES[code],
            current=Html(' aria-current="true"' if code == current else ""),
        )
        for code, link in links.items()
    )
    label = TEXTS["languages"][current]
    start = _filled('<nav class="languages" aria-label="$label">', label=label)
    return _joined([start, *entries, Html("</nav>")])


def _filled(template: str, **values: str) -> Html:
    """Fill a template; what is not HTML already is escaped."""
    safe = {
        name: value if isinstance(value, Html) else escape(value) for name, value in values.items()
    }
    return Html(Template(template).substitute(safe))


def _joined(parts: Iterable[Html]) -> Html:
    return Html("\n".join(parts))


@cache
def _template(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8").strip()
