"""A namespace as a file: out of one service, into another."""

from functools import partial
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response

from app.api.dependencies import Use
from app.api.downloads import NDJSON, Download
from app.api.idempotency import IdempotencyKey, once_sent, respond
from app.api.problems import documented
from app.api.schemas.common import NamespaceName
from app.api.schemas.transfer import ExportQuery, ImportOut, ImportQuery
from app.api.security import Guarded
from app.domain.replies import Reply
from app.services.once import Once
from app.services.transfer.exporting import Wanted
from app.services.transfer.importing import Ordered

router = APIRouter(prefix="/v1/namespaces/{namespace}", tags=["transfer"], route_class=Guarded)

BYTES = {"schema": {"type": "string", "format": "binary"}}
FILE = {"application/octet-stream": BYTES}  # generators of clients know no lines of JSON


@router.get(
    "/export",
    operation_id="export_namespace",
    response_class=Response,
    responses={
        **documented(404, 409),
        200: {"content": {NDJSON: BYTES, **FILE}, "description": "Lines of JSON; see docs/moving.md"},
    },
)
async def export_namespace(namespace: NamespaceName, query: Annotated[ExportQuery, Query()], use: Use) -> Response:
    """Everything that a namespace remembers, as a file of JSON lines that `POST …/import` takes.

    All of one moment, whatever is written meanwhile. The last line has a checksum: a file without it is cut, and goes
    on with `after` and `revision`; 409 if the namespace has changed since. 503 while something is being erased, or if
    too many exports run.
    """
    export = await use.exporting.begin(namespace, Wanted(query.vectors, query.after, query.revision))
    name = f"attachment; filename*=UTF-8''{quote(namespace, safe='')}.ndjson"
    return Download(export, use.export_seconds, name)


@router.post(
    "/import",
    status_code=202,
    response_model=ImportOut,
    operation_id="import_namespace",
    responses=documented(409, 413),
    openapi_extra={"requestBody": {"required": True, "content": FILE}},
)
async def import_namespace(
    namespace: NamespaceName,
    query: Annotated[ImportQuery, Query()],
    use: Use,
    request: Request,
    key: IdempotencyKey = None,
) -> ImportOut | Response:
    """Take a file of `GET …/export` into a namespace that has no messages, or that does not exist yet.

    The file is checked to its end first: 422 names the line and the field, and then nothing was stored. 202 means that
    all lines are durable, together with the job that makes memory of them; until it is done, other requests to the
    namespace get 503. Into a namespace that has messages (`conflict=skip`) go those messages only that it lacks.
    """
    once = None if key is None else partial(_once, key, request)
    taken = await use.importing.take(namespace, request.stream(), query.conflict, once)
    return respond(taken) if isinstance(taken, Reply) else ImportOut.of(taken)


def _once(key: str, request: Request, sha256: str) -> Once[Ordered]:
    sent = f"{request.url.query}\n{sha256}"
    return once_sent(key, request, sent, 202, ImportOut.of)
