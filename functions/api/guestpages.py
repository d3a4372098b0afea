"""Pages on which guests decide a task: self-contained HTML, all that others wrote is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from starlette.responses import Response

from api.formpages import Filled, field_parts, page, paragraphs, summary
from stellwerk.kernel.clock import instant
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs import forms
from stellwerk.runs.ballots import progress
from stellwerk.runs.forms import FormRefused
from stellwerk.runs.model import HumanTask
from stellwerk.triggers.forms import FieldFault, FormField, data_of, fields_of
from stellwerk.triggers.wording import Language

FIELD = "field."
"""Begins the names of the form's own fields: others are ours."""
DATA = "data"
"""The field that holds all data as JSON, where a form is not made of simple fields."""
ACTION = "../link"
"""Where the page at `/tasks/link/TOKEN` sends the answer: `/tasks/link`."""
_SIMPLE = {"string", "number", "integer", "boolean"}
_WORDS: Mapping[str, tuple[str, str]] = {
    "approved": ("Genehmigen", "Approve"),
    "rejected": ("Ablehnen", "Reject"),
    "submitted": ("Absenden", "Submit"),
    "accepted": ("Übernehmen", "Accept"),
    "comment": ("Kommentar", "Comment"),
    "data": ("Daten (JSON)", "Data (JSON)"),
    "until": ("Bis {}", "Until {}"),
    "answers": ("Antworten: {}", "Answers: {}"),
    "thanks": ("Danke, Ihre Antwort ist eingegangen.", "Thank you, your answer has arrived."),
    "over": (
        "Hier ist nichts mehr zu entscheiden: Jemand hat schon geantwortet, oder die Zeit ist um.",
        "There is nothing left to decide: somebody has answered already, or the time is over.",
    ),
    "closed": (
        "Dieser Link öffnet keine Aufgabe: Er ist unvollständig, oder seine Zeit ist um.",
        "This link does not open a task: it is incomplete, or its time is over.",
    ),
    "incomplete": (
        "Diese Antwort ist unvollständig. Öffnen Sie den Link, und antworten Sie auf der Seite.",
        "This answer is incomplete. Open the link, and answer on the page.",
    ),
}


@dataclass(frozen=True)
class GuestForm:
    """What a task asks of a guest: simple fields, all data as JSON, or nothing but a port."""

    task: HumanTask

    @property
    def fields(self) -> Sequence[FormField]:
        """The fields of a form that is made of simple ones; none for any other."""
        if self._whole:
            return ()
        found = fields_of(self.task.form or {})
        return [replace(field, name=f"{FIELD}{field.name}") for field in found]

    @property
    def json(self) -> str | None:
        """The data to begin with as JSON, where they are entered so."""
        if not self._whole:
            return None
        value = self.task.value if self.task.kind == "review" else {}
        return json.dumps(value, indent=2, ensure_ascii=False)

    def data(self, posted: Mapping[str, JsonValue]) -> JsonValue:
        """Return the data that were posted; raises FormRefused for what should be JSON and is not.

        None: nothing was asked for.
        """
        if self._whole:
            return _read(str(posted.get(DATA) or ""))
        if self.task.form is None:
            return None
        data = data_of(self.fields, posted)
        return {name.removeprefix(FIELD): value for name, value in data.items()}

    @property
    def _whole(self) -> bool:
        return self.task.kind == "review" or not _is_simple(self.task.form)


def guest_page(
    task: HumanTask, token: str, language: Language, *, filled: Filled | None = None
) -> Response:
    """Return the page on which the holder of a link's token decides the task."""
    form, entered = GuestForm(task), filled or Filled({}, ())
    fields = form.fields
    parts = [
        f"<h1>{escape(task.title)}</h1>",
        *paragraphs(task.description),
        *_facts(task, language),
        *summary(fields, entered, language),
        f'<form method="post" action="{ACTION}" novalidate>',
        f'<input type="hidden" name="token" value="{escape(token)}">',
        *(part for field in fields for part in field_parts(field, entered, language)),
        *_whole(form, entered, language),
        f'<label for="comment">{guest_word("comment", language)}</label>',
        f'<textarea id="comment" name="comment">\n{_text(entered, "comment")}</textarea>',
        *(_button(task, port, language) for port in task.ports),
        "</form>",
    ]
    return page(task.title, parts, language, status=422 if entered.faults else 200)


def guest_word_page(name: str, status: int, language: Language, *, more: str = "") -> Response:
    """Return a page with nothing but a sentence, and what else is to be said."""
    text = guest_word(name, language)
    role = "status" if status == 200 else "alert"
    parts = [f'<p role="{role}">{escape(text)}</p>', *paragraphs(more)]
    return page(text, parts, language, status=status)


def faults_of(refused: FormRefused) -> Sequence[FieldFault]:
    """Return what a form refuses, by the fields of the page."""
    return [_fault(fault) for fault in refused.faults]


def guest_word(name: str, language: Language) -> str:
    """Return a text of the page."""
    german, english = _WORDS[name]
    return german if language == "de" else english


def _facts(task: HumanTask, language: Language) -> Iterator[str]:
    if task.due is not None:
        until = guest_word("until", language).format(instant(task.due)[:16].replace("T", " "))
        yield f'<p class="help">{escape(until)} UTC</p>'
    if task.quorum is not None:
        answers = guest_word("answers", language).format(progress(task.quorum, task.votes))
        yield f'<p class="help">{escape(answers)}</p>'


def _whole(form: GuestForm, entered: Filled, language: Language) -> Iterator[str]:
    if form.json is None:
        return
    text = _text(entered, DATA) or escape(form.json)
    yield f'<label for="{DATA}">{guest_word(DATA, language)}</label>'
    yield f'<textarea id="{DATA}" name="{DATA}" spellcheck="false">\n{text}</textarea>'


def _button(task: HumanTask, port: str, language: Language) -> str:
    titles = task.value if task.kind == "choice" and isinstance(task.value, dict) else {}
    known = guest_word(port, language) if port in _WORDS else port
    label = str(titles.get(port) or known)
    return f'<button type="submit" name="port" value="{escape(port)}">{escape(label)}</button>'


def _text(entered: Filled, name: str) -> str:
    value = entered.values.get(name)
    return escape(value) if isinstance(value, str) else ""


def _read(text: str) -> JsonValue:
    if not text.strip():
        return None
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormRefused([forms.FieldFault("", f"this is no JSON: {error}")]) from error
    return value


def _is_simple(form: JsonObject | None) -> bool:
    if form is None:
        return True
    properties = form.get("properties")
    parts = list(properties.values()) if isinstance(properties, dict) else []
    return bool(parts) and all(
        isinstance(part, dict) and (part.get("type") in _SIMPLE or "enum" in part) for part in parts
    )


def _fault(fault: forms.FieldFault) -> FieldFault:
    top = fault.field.partition(".")[0].partition("[")[0]
    return FieldFault(f"{FIELD}{top}", fault.message if top == fault.field else fault.text)
