"""The guard of the server: requests of other pages, hosts and programs are refused before they are read.

Any page that is open in the same browser, and any program of another user, can send requests to this machine. So a
request needs a cookie, the secret path of the page, the name of this host (against DNS rebinding), and the origin of
the page itself. The browser receives path and cookie in exchange for a token, which is valid once.
"""

from __future__ import annotations

from secrets import compare_digest, token_urlsafe
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
_COOKIE = "hornbeam"
_NO_ENTRY = (
    "wrong address, or one that was used: each opens the workbench once. Go on in the page that it opened; else take a "
    "new address (`url` of the workbench in Python), or start the command again: the edits are in the journal."
)
_FORWARD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Workbench</title><meta http-equiv="refresh" content="0;url=%s">
</head><body><p><a href="%s">Open the workbench</a></p></body></html>
"""


class Guard:
    """ASGI middleware that refuses all requests but those of the page itself; `hosts` are names with the port."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self.app, self.hosts = app, hosts
        self._path, self._cookie = token_urlsafe(24), token_urlsafe(24)
        self._unused: set[str] = set()

    def new_token(self) -> str:
        """Make a token: ``/token/`` is an address that gives one browser the cookie."""
        token = token_urlsafe(24)
        self._unused.add(token)
        return token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or refuse it."""
        if scope["type"] != "http":  # a web socket, say; the server has no start-up of its own
            return
        sent: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            sent.setdefault(name.lower(), []).append(value.decode("latin-1"))
        refused = self._wrong_sender(scope, sent)
        if refused is None and self._use_token(scope):
            await self._give_cookie(send)
            return
        refused = refused or self._wrong_request(scope, sent)
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

        prefix = len(self._path) + 1
        await self.app({**scope, "path": scope["path"][prefix:]}, read, safe)

    def _use_token(self, scope: Scope) -> bool:
        """Whether the address has a token that was not used; it is used by this."""
        # A copy of the tokens: another thread may add one.
        given = scope["path"][1:-1].encode(errors="replace")
        found = next((one for one in tuple(self._unused) if compare_digest(given, one.encode())), None)
        if found is None or scope["method"] != "GET" or scope["path"] != f"/{found}/":
            return False
        self._unused.discard(found)
        return True

    async def _give_cookie(self, send: Send) -> None:
        path = f"/{self._path}/"
        # The path keeps other servers on this machine from the cookie: a cookie has no port.
        cookie = f"{_COOKIE}={self._cookie}; Path={path}; HttpOnly; SameSite=Strict"
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"set-cookie", cookie.encode()), *_SAFE]
        # A page, because the browser sends a strict cookie only if a page of this server leads to the address.
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": forward_page(path)})

    def _wrong_sender(self, scope: Scope, sent: dict[bytes, list[str]]) -> tuple[int, str] | None:
        """Return the status and the reason if a request names another host or origin."""
        host = sent.get(b"host", [])
        if len(host) != 1 or host[0] not in self.hosts:
            return 421, "wrong host"
        origin = sent.get(b"origin", [])
        if (_writes(scope) or origin) and origin != [f"http://{host[0]}"]:
            return 403, "wrong origin"
        return None

    def _wrong_request(self, scope: Scope, sent: dict[bytes, list[str]]) -> tuple[int, str] | None:
        """Return the status and the reason if a request has no cookie, or is not one of the page."""
        path = scope["path"][1:].partition("/")[0]
        cookies = [
            part.strip().partition("=") for text in sent.get(b"cookie", []) for part in text.split(";")
        ]
        given = [path, *(value for name, _, value in cookies if name == _COOKIE)]
        right = [self._path, self._cookie]
        if len(given) != 2 or not all(
            compare_digest(one.encode(errors="replace"), other.encode())
            for one, other in zip(given, right, strict=True)
        ):
            return 403, _NO_ENTRY
        if sent.get(b"sec-fetch-site", ["none"]) not in (["none"], ["same-origin"]):
            return 403, "wrong site"
        if _writes(scope) and sent.get(b"content-type") != ["application/json"]:
            return 415, "expected application/json"
        length = sent.get(b"content-length", ["0"])[0]
        if not length.isdecimal() or len(length) > len(str(MOST_BYTES)) or int(length) > MOST_BYTES:
            return 413, "the request is too large"
        return None


def forward_page(address: str) -> bytes:
    """Write a page that leads to an address."""
    return (_FORWARD % (address, address)).encode()


def _writes(scope: Scope) -> bool:
    return scope["method"] not in ("GET", "HEAD")


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
