"""Forms: pages that people fill in, and the same as JSON for programs."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from api.arrivals import Arrival, arrived
from api.backend import backend, services
from api.formpages import NONCE, TRAP, Filled, form_page, thanks_page, word_page
from api.models.hooks import Delivered, FormShown
from api.operations import operations
from api.problems import problem
from api.rendering import shown
from stellwerk.bootstrap.serving import ApiServices
from stellwerk.files.service import TooLarge
from stellwerk.kernel.errors import Conflict, NotFound, Unauthenticated
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.requests.limits import TooManyRequests
from stellwerk.triggers.deliveries import delivery_of
from stellwerk.triggers.forms import (
    FieldFault,
    FormRules,
    data_of,
    faults_of,
    fields_of,
    is_readable,
)
from stellwerk.triggers.hookdesk import nothing_there
from stellwerk.triggers.hooks import FORM
from stellwerk.triggers.receiving import Opened
from stellwerk.triggers.wording import Language, chosen

router = operations()
_JSON = ".json"


@dataclass(frozen=True)
class _Form:
    """An open form, and who has opened it in which language."""

    opened: Opened
    rules: FormRules
    language: Language
    by: str | None = None

    @property
    def values(self) -> JsonObject:
        return {"by": self.by, "language": self.language}


@router.get("/forms/{token}", include_in_schema=False)
def show_form(request: Request, token: str) -> Response:
    """Show a form as a page, or with `.json` behind the token what programs need."""
    try:
        form = _opened(request, token)
    except (NotFound, Unauthenticated, TooManyRequests) as refusal:
        return _refused(request, token, refusal)
    rules = form.rules
    if not token.endswith(_JSON):
        fields = fields_of(rules.schema_)
        return form_page(rules, fields, form.language, nonce=secrets.token_urlsafe(16))
    return shown(
        FormShown(
            title=rules.title,
            description=rules.description,
            fields=rules.schema_,
            access=rules.access,
        )
    )


@router.post("/forms/{token}", include_in_schema=False)
async def send_form(request: Request, token: str) -> Response:
    """Take what was entered: from a page, or as JSON."""
    try:
        form = await run_in_threadpool(_opened, request, token)
        arrival = await arrived(request)
        posted = await arrival.read()
    except (NotFound, Unauthenticated, TooManyRequests, TooLarge) as refusal:
        return _refused(request, token, refusal)
    if _is_json(request, token):
        return await run_in_threadpool(_take_json, request, form, arrival, posted)
    values = posted if isinstance(posted, dict) else {}
    return await run_in_threadpool(_take_page, request, token, form, arrival, values)


def _take_json(request: Request, form: _Form, arrival: Arrival, posted: JsonValue) -> Response:
    here = services(request)
    faults = faults_of(form.rules.schema_, posted, form.language)
    if faults:
        return _faulty(request, faults)
    now = here.hooks.webhooks.clock.now()
    delivery = delivery_of(form.opened.hook.node, arrival.incoming, posted, now)
    run = here.hooks.doors.fire(form.opened, delivery, lambda: {"data": posted, **form.values})
    place = f"api/v1/mandates/{run.mandate}/instances/{run.instance}/runs/{run.id}"
    view = Delivered(run=run.id, url=f"{request.base_url}{place}", status=run.status)
    return shown(view, status=202)


def _take_page(
    request: Request, token: str, form: _Form, arrival: Arrival, posted: JsonObject
) -> Response:
    rules, fields = form.rules, fields_of(form.rules.schema_)
    if posted.get(TRAP):  # a robot: it is thanked and forgotten
        return thanks_page(rules, form.language)
    nonce = str(posted.get(NONCE) or secrets.token_urlsafe(16))
    for sent in arrival.files:
        posted.setdefault(sent.place, {"name": sent.name, "size": len(sent.content)})
    data = data_of(fields, posted)
    faults = faults_of(rules.schema_, data, form.language)
    if faults:
        filled = Filled(posted, faults)
        return form_page(rules, fields, form.language, nonce=nonce, filled=filled)
    here = services(request)
    payload = partial(_payload, here, form, arrival, data)
    try:
        here.hooks.doors.fire(form.opened, f"{form.opened.hook.node}/form/{nonce}", payload)
    except (NotFound, Conflict) as refusal:
        return _refused(request, token, refusal)
    return thanks_page(rules, form.language)


def _payload(here: ApiServices, form: _Form, arrival: Arrival, data: JsonObject) -> JsonValue:
    """Keep the files that fields ask for, and return what the run gets."""
    names = {field.name for field in fields_of(form.rules.schema_) if field.kind == "file"}
    arrival.files = [sent for sent in arrival.files if sent.place in names]
    arrival.fields = {name: value for name, value in data.items() if name not in names}
    kept = arrival.kept(here.files, lambda: here.hooks.doors.owner(form.opened))
    return {"data": kept, **form.values}


def _opened(request: Request, token: str) -> _Form:
    """Return the form; who must be signed in and is not meets Unauthenticated."""
    opened = services(request).hooks.doors.open(token.removesuffix(_JSON), FORM)
    rules = FormRules.model_validate(opened.hook.parameters)
    if not is_readable(rules.schema_):
        raise nothing_there()
    language = chosen(request.headers.get("accept-language", ""))
    by = _signed_in(request, opened) if rules.access == "signed_in" else None
    return _Form(opened, rules, language, by)


def _signed_in(request: Request, opened: Opened) -> str:
    """Return who is signed in and may come into the form's instance; NotFound for others."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer":
        raise Unauthenticated(
            "This form is for people who are signed in.",
            remedy="Send the header 'Authorization: Bearer TOKEN'.",
        )
    claims = backend(request).tokens.verify(token)
    signin = services(request).administration.signin
    at = opened.scope
    return signin.scope(claims, at.mandate, at.instance, request=request.state.request_id).user


def _refused(request: Request, token: str, refusal: Exception) -> Response:
    """Return a page where a browser asks; programs get the problem."""
    if _is_json(request, token):
        raise refusal
    language = chosen(request.headers.get("accept-language", ""))
    for kind, name, status in (
        (Unauthenticated, "sign_in", 401),
        (TooManyRequests, "later", 429),
        (Conflict, "later", 409),
        (TooLarge, "too_large", 413),
    ):
        if isinstance(refusal, kind):
            return word_page(name, status, language)
    return word_page("closed", 404, language)


def _is_json(request: Request, token: str) -> bool:
    return token.endswith(_JSON) or "json" in request.headers.get("content-type", "")


def _faulty(request: Request, faults: Sequence[FieldFault]) -> Response:
    listed: list[JsonObject] = [{"place": fault.name, "message": fault.message} for fault in faults]
    return problem(
        "form-refused",
        422,
        "The form refuses what was entered.",
        request=request.scope,
        remedy="Correct these fields.",
        faults=listed,
    )
