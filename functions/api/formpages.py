"""Pages of forms: self-contained HTML without scripts; all that authors write is escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from starlette.responses import HTMLResponse, Response

from stellwerk.kernel.json import JsonValue
from stellwerk.triggers.forms import FieldFault, FormField, FormRules
from stellwerk.triggers.wording import Language, word

NONCE, TRAP = "_delivery", "_website"
"""Fields: what makes two clicks one delivery, and what only robots see and fill."""
_STYLE = """
:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;margin:0 auto;max-width:38rem;padding:2rem 1rem}
label,legend{display:block;font-weight:600;margin-top:1.25rem}
fieldset{border:0;margin:0;padding:0}
fieldset label,.yes label{font-weight:400;margin-top:.25rem}
.yes{margin-top:1.25rem}
input,select,textarea{box-sizing:border-box;font:inherit;padding:.5rem;width:100%}
input[type=checkbox]{width:auto}
textarea{min-height:8rem}
.help{margin:.25rem 0;opacity:.8}
.fault{color:#b00020;margin:.25rem 0}
.faults{border:2px solid #b00020;padding:.5rem 1rem}
[aria-invalid=true]{outline:2px solid #b00020}
.trap{height:1px;left:-9999px;overflow:hidden;position:absolute;width:1px}
button{font:inherit;margin:2rem .5rem 0 0;padding:.6rem 1.5rem}
@media(prefers-color-scheme:dark){.fault{color:#ff8a80}.faults{border-color:#ff8a80}}
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_HASH}'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "X-Frame-Options": "DENY",
}
_TYPES: Mapping[str, str] = {
    "text": "text",
    "email": "email",
    "url": "url",
    "date": "date",
    "number": "text",
    "whole": "text",
    "file": "file",
}
"""Numbers are texts on the page: browsers hand over nothing where one is badly written."""


@dataclass(frozen=True)
class Filled:
    """What was entered, and what is wrong with it."""

    values: Mapping[str, JsonValue]
    faults: Sequence[FieldFault]

    def of(self, name: str) -> Sequence[str]:
        """Return what is wrong with a field."""
        return [fault.message for fault in self.faults if fault.name == name]


def form_page(
    rules: FormRules,
    fields: Sequence[FormField],
    language: Language,
    *,
    nonce: str,
    filled: Filled | None = None,
) -> Response:
    """Return the page of a form, with what was entered where it is refused."""
    entered = filled or Filled({}, ())
    parts = [
        f"<h1>{escape(rules.title)}</h1>",
        *paragraphs(rules.description),
        *summary(fields, entered, language),
        '<form method="post" enctype="multipart/form-data" novalidate>',
        f'<input type="hidden" name="{NONCE}" value="{escape(nonce)}">',
        f'<p class="trap" aria-hidden="true"><label for="{TRAP}">{word("empty", language)}</label>'
        f'<input id="{TRAP}" name="{TRAP}" tabindex="-1" autocomplete="off"></p>',
        *(part for field in fields for part in field_parts(field, entered, language)),
        f'<button type="submit">{word("send", language)}</button>',
        "</form>",
    ]
    return page(rules.title, parts, language, status=422 if entered.faults else 200)


def thanks_page(rules: FormRules, language: Language) -> Response:
    """Return what is shown when all is well."""
    text = rules.thanks or word("thanks", language)
    parts = [f"<h1>{escape(rules.title)}</h1>", '<div role="status">', *paragraphs(text), "</div>"]
    return page(rules.title, parts, language)


def word_page(name: str, status: int, language: Language) -> Response:
    """Return a page with nothing but a sentence."""
    text = word(name, language)
    return page(text, [f'<p role="alert">{text}</p>'], language, status=status)


def page(title: str, parts: Sequence[str], language: Language, *, status: int = 200) -> Response:
    """Return a page of these parts, which are HTML; nothing runs on it and nothing is fetched."""
    text = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="robots" content="noindex">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>"
    )
    return HTMLResponse(text, status, _HEADERS | {"Content-Language": language})


def paragraphs(text: str) -> Iterator[str]:
    """Yield a text's paragraphs, escaped."""
    for part in filter(None, map(str.strip, text.split("\n\n"))):
        yield f"<p>{escape(part)}</p>"


def summary(fields: Sequence[FormField], entered: Filled, language: Language) -> Iterator[str]:
    """Yield all that is wrong with what was entered, each with a link to its field."""
    if not entered.faults:
        return
    labels = {field.name: field.label for field in fields}
    yield f'<div class="faults" role="alert"><p>{word("faults", language)}:</p><ul>'
    for fault in entered.faults:
        if fault.name in labels:
            place = f'<a href="#f-{escape(fault.name)}">{escape(labels[fault.name])}</a>: '
        else:
            place = ""
        yield f"<li>{place}{escape(fault.message)}</li>"
    if any(field.kind == "file" for field in fields):
        yield f"<li>{word('again', language)}</li>"
    yield "</ul></div>"


def field_parts(field: FormField, entered: Filled, language: Language) -> Iterator[str]:
    """Yield a field with its label, what was entered, and what is wrong with that."""
    faults, id_ = entered.of(field.name), f"f-{escape(field.name)}"
    told = [f"{id_}-help"] if field.help else []
    told += [f"{id_}-fault"] if faults else []
    about = f' aria-describedby="{" ".join(told)}"' if told else ""
    about += ' aria-invalid="true"' if faults else ""
    about += ' aria-required="true"' if field.required else ""
    value = entered.values.get(field.name)
    mark = f" <small>({word('required', language)})</small>" if field.required else ""
    label = escape(field.label) + mark
    if field.kind == "many":
        yield f'<fieldset id="{id_}"{about}><legend>{label}</legend>'
        yield from _boxes(field, value)
        yield "</fieldset>"
    elif field.kind == "yes":
        checked = " checked" if value else ""
        yield f'<p class="yes"><label for="{id_}"><input type="checkbox" id="{id_}" '
        yield f'name="{escape(field.name)}" value="yes"{checked}{about}> {label}</label></p>'
    else:
        yield f'<label for="{id_}">{label}</label>'
        yield _input(field, value, f'id="{id_}" name="{escape(field.name)}"{about}', language)
    if field.help:
        yield f'<p class="help" id="{id_}-help">{escape(field.help)}</p>'
    if faults:
        yield f'<p class="fault" id="{id_}-fault">{escape(" ".join(faults))}</p>'


def _boxes(field: FormField, value: JsonValue) -> Iterator[str]:
    chosen = value if isinstance(value, list) else [value]
    for option in field.options:
        checked = " checked" if option in chosen else ""
        yield f'<label><input type="checkbox" name="{escape(field.name)}" '
        yield f'value="{escape(option)}"{checked}> {escape(option)}</label>'


def _input(field: FormField, value: JsonValue, attributes: str, language: Language) -> str:
    text = "" if value is None or isinstance(value, dict) else escape(str(value))
    if field.kind == "long":
        return f"<textarea {attributes}>\n{text}</textarea>"
    if field.kind == "one":
        options = [f'<option value="">{word("choose", language)}</option>']
        for option in field.options:
            selected = " selected" if option == value else ""
            options.append(f'<option value="{escape(option)}"{selected}>{escape(option)}</option>')
        return f"<select {attributes}>{''.join(options)}</select>"
    if field.kind == "file":
        return f'<input type="file" {attributes}>'
    mode = ' inputmode="decimal"' if field.kind in {"number", "whole"} else ""
    return f'<input type="{_TYPES[field.kind]}"{mode} value="{text}" {attributes}>'
