"""Files: upload, list, download, remove."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import Path, UploadFile
from starlette.responses import Response

from api.backend import Here
from api.caller import ID, InInstance, place
from api.models.files import File, FilePage
from api.operations import operations
from api.paging import Paged
from api.rendering import Created, shown
from api.repeats import Creating
from stellwerk.files.model import FileId

router = operations(tags=["files"])
FileInPath = Annotated[FileId, Path(pattern=ID, description="Id of a file")]


@router.get("/files", response_model=FilePage)
def list_files(scope: InInstance, here: Here, page: Paged) -> Response:
    """List the files that you may read, the newest first."""
    found = here.files.list(scope, cursor=page.cursor, limit=page.limit)
    return shown(FilePage(items=[File.of(file) for file in found.items], cursor=found.cursor))


@router.post("/files", response_model=File, status_code=201)
def upload_file(scope: InInstance, here: Here, creating: Creating, file: UploadFile) -> Response:
    """Upload a file of up to 4 MiB, as a form with the part `file`."""
    name, type_, content = file.filename or "", file.content_type or "", file.file.read()

    def make() -> Created:
        added = here.files.add(scope, name, content, type=type_)
        return Created(File.of(added), f"{place(scope)}/files/{added.id}", _tag(added.sha256))

    return creating.answer(scope, f"{name}\n{type_}\n".encode() + content, make)


@router.get("/files/{file}", response_model=File)
def get_file(scope: InInstance, here: Here, file: FileInPath) -> Response:
    """Show what is known of a file."""
    found = here.files.get(scope, file)
    return shown(File.of(found), tag=_tag(found.sha256))


@router.delete("/files/{file}", status_code=204)
def delete_file(scope: InInstance, here: Here, file: FileInPath) -> Response:
    """Remove a file with its content, for good."""
    here.files.remove(scope, file)
    return Response(status_code=204)


@router.get(
    "/files/{file}/content",
    response_class=Response,
    responses={
        200: {
            "description": "The content, as a download",
            "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
def download_file(scope: InInstance, here: Here, file: FileInPath) -> Response:
    """Download a file's content, under its name and media type."""
    found, content = here.files.content(scope, file)
    headers = {
        "ETag": _tag(found.sha256),
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return Response(content, 200, headers, found.type)


def _tag(sha256: str) -> str:
    return f'"{sha256[:32]}"'
