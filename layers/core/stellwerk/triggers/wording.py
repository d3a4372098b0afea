"""What forms say of themselves, in German and English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["de", "en"]
_FAULTS: Mapping[str, tuple[str, str]] = {
    "required": ("Bitte ausfüllen.", "Please fill this in."),
    "minLength": ("Mindestens {0} Zeichen.", "At least {0} characters."),
    "maxLength": ("Höchstens {0} Zeichen.", "At most {0} characters."),
    "minimum": ("Mindestens {0}.", "At least {0}."),
    "maximum": ("Höchstens {0}.", "At most {0}."),
    "exclusiveMinimum": ("Mehr als {0}.", "More than {0}."),
    "exclusiveMaximum": ("Weniger als {0}.", "Less than {0}."),
    "multipleOf": ("Ein Vielfaches von {0}.", "A multiple of {0}."),
    "enum": ("Bitte eines wählen: {0}.", "Choose one of: {0}."),
    "minItems": ("Mindestens {0} wählen.", "Choose at least {0}."),
    "maxItems": ("Höchstens {0} wählen.", "Choose at most {0}."),
}
_TYPES: Mapping[str, tuple[str, str]] = {
    "number": ("Bitte eine Zahl.", "A number, please."),
    "integer": ("Bitte eine ganze Zahl.", "A whole number, please."),
    "date": ("Bitte ein Datum.", "A date, please."),
    "email": ("Bitte eine E-Mail-Adresse.", "A mail address, please."),
}
_OTHER = ("Das passt nicht.", "This does not fit.")
_WORDS: Mapping[str, tuple[str, str]] = {
    "send": ("Senden", "Send"),
    "required": ("Pflichtfeld", "required"),
    "choose": ("Bitte wählen", "Please choose"),
    "faults": ("Bitte diese Felder berichtigen", "Please correct these fields"),
    "thanks": ("Vielen Dank, wir haben Ihre Angaben erhalten.", "Thank you, we have received it."),
    "closed": ("Hier ist nichts.", "There is nothing here."),
    "sign_in": (
        "Dieses Formular ist für Angemeldete. Öffnen Sie es in Stellwerk.",
        "This form is for people who are signed in. Open it in Stellwerk.",
    ),
    "later": (
        "Im Moment kommen zu viele Anfragen. Versuchen Sie es in einer Minute noch einmal.",
        "There are too many requests at the moment. Try again in a minute.",
    ),
    "too_large": ("Die Dateien sind zu gross (4 MB).", "The files are too large (4 MB)."),
    "again": ("Dateien bitte noch einmal wählen.", "Please choose files again."),
    "empty": ("Dieses Feld bitte leer lassen", "Leave this field empty"),
}


def chosen(accepted: str) -> Language:
    """Return the language that a browser prefers, by its header Accept-Language."""
    weighed: dict[Language, float] = {}
    for part in accepted.split(",")[:20]:
        name, _, weight = part.partition(";q=")
        language = name.strip().lower().partition("-")[0]
        if language in {"de", "en"}:
            key: Language = "de" if language == "de" else "en"
            weighed[key] = max(weighed.get(key, 0.0), _weight(weight))
    return "de" if weighed.get("de", 0.0) > weighed.get("en", 0.0) else "en"


def word(name: str, language: Language) -> str:
    """Return a text of the page."""
    return _in(_WORDS[name], language)


def fault_text(rule: str, value: str, language: Language) -> str:
    """Return what to say where a field breaks a rule of JSON Schema that has this value."""
    if rule in {"type", "format"}:
        return _in(_TYPES.get(value, _OTHER), language)
    return _in(_FAULTS.get(rule, _OTHER), language).format(value)


def _in(texts: tuple[str, str], language: Language) -> str:
    return texts[0] if language == "de" else texts[1]


def _weight(text: str) -> float:
    try:
        return float(text.strip()) if text else 1.0
    except ValueError:
        return 0.0
