"""The guard of the server: requests of other pages, hosts and programs are refused before they are read.

Any page that is open in the same browser can send requests to this machine. So a request needs the token of the
address, the name of this host (against DNS rebinding), and the origin of the page itself.
"""

from __future__ import annotations

from secrets import compare_digest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MOST_BYTES", "Guard"]

MOST_BYTES = 1 << 20  # of the body of a request

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_SAFE = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]


class Guard:
    """ASGI middleware that refuses all requests but those of the page itself.

    Parameters
    ----------
    app : ASGI application
    token : str
        The first part of every path.
    hosts : tuple of str
        Names of this server, with the port.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: tuple[str, ...]) -> None:
        self.app, self.token, self.hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":  # a web socket, say; the server has no start-up of its own
            return
        refused = self._refusal(scope)
        if refused is not None:
            await _refuse(send, *refused)
            return
        body = await _body(receive)
        if body is None:
            await _refuse(send, 413, "the request is too large")
            return

        async def read() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_SAFE]}
            await send(message)

        prefix = len(self.token) + 1
        await self.app({**scope, "path": scope["path"][prefix:]}, read, safe)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the reason if a request is refused."""
        sent: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            sent.setdefault(name.lower(), []).append(value.decode("latin-1"))
        host = sent.get(b"host", [])
        if len(host) != 1 or host[0] not in self.hosts:
            return 421, "wrong host"
        given = scope["path"][1:].partition("/")[0]
        if not compare_digest(given.encode(errors="replace"), self.token.encode()):
            return 403, "wrong token: open the address that the workbench printed"
        writes = scope["method"] not in ("GET", "HEAD")
        origin = sent.get(b"origin", [])
        if (writes or origin) and origin != [f"http://{host[0]}"]:
            return 403, "wrong origin"
        if sent.get(b"sec-fetch-site", ["none"]) not in (["none"], ["same-origin"]):
            return 403, "wrong site"
        if writes and sent.get(b"content-type") != ["application/json"]:
            return 415, "expected application/json"
        length = sent.get(b"content-length", ["0"])[0]
        if not length.isdecimal() or len(length) > len(str(MOST_BYTES)) or int(length) > MOST_BYTES:
            return 413, "the request is too large"
        return None


async def _body(receive: Receive) -> bytes | None:
    """Read the body; None if it is too large."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":  # the browser has gone
            return None
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size > MOST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


async def _refuse(send: Send, status: int, why: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *_SAFE]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{why}\n".encode()})
