"""The application: the page, its style and script, and the calls of a session as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from traceback import format_tb
from typing import TYPE_CHECKING, Any

from hornbeam.errors import HornbeamError, ParameterError
from hornbeam.logger import logger
from hornbeam.web_editor.page import page, script, style
from hornbeam.web_editor.session import OutdatedError, Session

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["application"]


def application(session: Session) -> Starlette:
    """Make the application of a session; `Guard` keeps others away from it."""
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    def fixed(content: str, kind: str) -> Callable[[Request], Response]:
        return lambda _: Response(content, media_type=kind)

    def called(act: Callable[[Any], Any]) -> Callable[[Request], Any]:
        async def respond(request: Request) -> Response:
            return await _respond(act, request)

        return respond

    return Starlette(
        routes=[
            Route("/", fixed(page(session), "text/html")),
            Route("/workbench.css", fixed(style(), "text/css")),
            Route("/workbench.js", fixed(script(), "text/javascript")),
            Route("/state", called(lambda _: session.state())),
            Route("/automatic", called(lambda _: session.automatic())),
            Route("/node", called(session.node), methods=["POST"]),
            Route("/apply", called(lambda value: session.apply(*_with_digest(value))), methods=["POST"]),
            Route("/save", called(lambda value: session.save(_with_digest(value)[1])), methods=["POST"]),
        ]
    )


async def _respond(act: Callable[[Any], Any], request: Request) -> Response:
    """Call a method with the value of the body; the response to an impossible request is the reason."""
    from starlette.concurrency import run_in_threadpool

    body = await request.body()
    try:
        value = json.loads(body) if body else None
    except (ValueError, RecursionError):
        return _json({"error": "expected JSON"}, 400)
    try:
        return _json(await run_in_threadpool(act, value))
    except OutdatedError as error:
        return _json({"error": str(error)}, 409)
    except HornbeamError as error:
        return _json({"error": str(error)}, 422)
    except OSError as error:  # a full disk, say: the page shows the reason, and the work is not lost
        name = "the file" if error.filename is None else f"{str(error.filename)!r}"
        return _json({"error": f"{name} cannot be written: {error.strerror or 'unknown'}"}, 500)
    except Exception as error:  # noqa: BLE001 the session goes on
        name = type(error).__name__
        stack = "".join(format_tb(error.__traceback__))  # without the message, which may have data
        logger.error("workbench: %s\n%s", name, stack)
        return _json({"error": f"An error in Hornbeam ({name}): nothing was changed. Please report it."}, 500)


def _with_digest(value: Any) -> tuple[dict[str, Any], str]:
    """Take the digest out of an operation: each has that of the state it was made for."""
    digest = value.pop("digest", None) if isinstance(value, dict) else None
    if not isinstance(digest, str):
        raise ParameterError("an operation without a digest; expected that of the state it was made for.")
    return value, digest


def _json(value: Any, status: int = 200) -> Response:
    """Make a response in ASCII: a name may have half of a surrogate pair, which UTF-8 cannot hold."""
    from starlette.responses import Response

    content = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Response(content, status, media_type="application/json")
