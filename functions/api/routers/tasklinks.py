"""Tasks that guests decide by a link. No token of ours is asked for: the link is the proof.

A GET or HEAD shows the page and changes nothing, whatever follows links; the answer is a POST of
the page's form, with the link's token in its body. Who cannot read the link can forge no answer.
"""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from api.arrivals import arrived
from api.backend import services
from api.formpages import Filled
from api.guestpages import GuestForm, faults_of, guest_page, guest_word_page
from api.operations import operations
from stellwerk.kernel.errors import BadInput, Conflict, NotFound
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.forms import FormRefused
from stellwerk.runs.links import scope_of
from stellwerk.runs.model import HumanTask, TaskStatus
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.wording import Language, chosen

router = operations()
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


@router.head("/tasks/link/{token}", include_in_schema=False)
@router.get("/tasks/link/{token}", include_in_schema=False)
def show_task(request: Request, token: str) -> Response:
    """Show the task of a link, to be decided; nothing changes."""
    language = _language(request)
    try:
        task = services(request).tasks.by_link(_scope(request, token), token)
    except NotFound:
        return guest_word_page("closed", 404, language)
    if task.status is not TaskStatus.PENDING:
        return guest_word_page("over", 200, language)
    return guest_page(task, token, language)


@router.post("/tasks/link", include_in_schema=False)
async def answer_task(request: Request) -> Response:
    """Take the answer from the page of a link."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        posted = await (await arrived(request)).read() if kind in _FORMS else None
    except BadInput:
        posted = None
    values = posted if isinstance(posted, dict) else {}
    token, port = values.get("token"), values.get("port")
    if not isinstance(token, str) or not isinstance(port, str):
        return guest_word_page("incomplete", 400, _language(request))
    return await run_in_threadpool(_answered, request, token, port, values)


def _answered(request: Request, token: str, port: str, posted: Mapping[str, JsonValue]) -> Response:
    language, tasks = _language(request), services(request).tasks
    try:
        scope = _scope(request, token)
        task = tasks.by_link(scope, token)
        data = GuestForm(task).data(posted)
        tasks.decide_by_link(scope, token, port, data, comment=str(posted.get("comment") or ""))
    except NotFound:
        return guest_word_page("closed", 404, language)
    except Conflict as conflict:
        return guest_word_page("over", 409, language, more=conflict.message)
    except FormRefused as refused:
        return _again(task, token, language, Filled(posted, faults_of(refused)))
    except BadInput as refused:
        return guest_word_page("incomplete", 422, language, more=refused.message)
    return guest_word_page("thanks", 200, language)


def _again(task: HumanTask, token: str, language: Language, filled: Filled) -> Response:
    if task.status is not TaskStatus.PENDING:
        return guest_word_page("over", 409, language)
    return guest_page(task, token, language, filled=filled)


def _scope(request: Request, token: str) -> Scope:
    return scope_of(token, request=request.state.request_id)


def _language(request: Request) -> Language:
    return chosen(request.headers.get("accept-language", ""))
