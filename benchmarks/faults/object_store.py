"""An S3 server on this machine, and a proxy before it that loses, delays and cuts responses.

The server is that of moto, in its own process. The proxy is a thread; whether it disturbs a request depends on the
seed, the request and how often that request came before, so a run can be repeated.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

BUCKET = "bucket"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "hornbeam-key", "AWS_SECRET_ACCESS_KEY": "hornbeam-secret"}
BUSY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
DENIED = (
    b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message>"
    b"<AWSAccessKeyId>hornbeam-key</AWSAccessKeyId></Error>"
)


class Request(NamedTuple):
    """A request to the store, and how many equal ones came before."""

    method: str
    target: str
    range: str
    earlier: int

    @property
    def reads_object(self) -> bool:
        """Whether the response has bytes of a file."""
        return self.method == "GET" and "?" not in self.target


type Fault = Callable[[Request], str | None]  # "busy", "denied", "reset", "cut", "hang", or nothing


def random_faults(seed: int, share: float = 0.05, hanging: float = 0.01) -> Fault:
    """Disturb a share of the requests, and let another share hang."""

    def fault(request: Request) -> str | None:
        drawn = hashlib.sha256(repr((seed, request)).encode()).digest()
        at = int.from_bytes(drawn[:6]) / 2**48
        if at < hanging:
            return "hang"
        return ("busy", "reset", "cut")[drawn[6] % 3] if at < hanging + share else None

    return fault


@contextmanager
def s3_server() -> Iterator[int]:
    """Run a server with an empty bucket; give its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"MOTO_CALL_RESET_API": "false"},
    )
    try:
        end = time.monotonic() + 60
        while server.poll() is None and time.monotonic() < end:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        from pyarrow.fs import S3FileSystem

        S3FileSystem(
            access_key=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            secret_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            endpoint_override=f"127.0.0.1:{port}",
            scheme="http",
            region="us-east-1",
            allow_bucket_creation=True,
        ).create_dir(BUCKET)
        yield port
    finally:
        server.terminate()
        server.wait(20)


def address(path: str, port: int) -> str:
    """The address of a path in the bucket; the credentials are in the environment."""
    return f"s3://{BUCKET}/{path}?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"


class Proxy:
    """A proxy before a server of this machine; disturbs and records requests.

    Parameters
    ----------
    upstream : int
        Port of the server.
    fault : callable
        What to do to a request.
    hang : float
        Seconds that a request hangs before its connection is closed.
    """

    def __init__(self, upstream: int, fault: Fault = lambda request: None, hang: float = 10.0) -> None:
        self.upstream, self.fault, self.hang = upstream, fault, hang
        self.requests: list[Request] = []
        self.faults: Counter[str] = Counter()
        self._seen: Counter[tuple[str, str, str]] = Counter()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Proxy:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._end, self._clients = asyncio.Event(), set[asyncio.Task[None]]()
        server = await asyncio.start_server(self._client, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._answer(reader, writer):
                pass
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Pass on one request and its response; return whether the connection stays open."""
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        headers = {name.lower(): text for name, _, text in (line.partition(": ") for line in lines[1:-2])}
        if "expect" in headers:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await _read_body(reader, headers)
        key = (method, re.sub("&?uploadId=[^&]*", "", target), headers.get("range", ""))
        request = Request(*key, self._seen[key])
        self._seen[key] += 1
        self.requests.append(request)
        fault = self.fault(request)
        if fault is not None:
            self.faults[fault] += 1
        if fault == "hang":
            await asyncio.sleep(self.hang)
            return False
        if fault == "reset":
            linger = struct.pack("ii", 1, 0)  # close sends RST
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            return False
        if fault in ("busy", "denied"):
            status, text = (b"503 Slow Down", BUSY) if fault == "busy" else (b"403 Forbidden", DENIED)
            text = b"" if method == "HEAD" else text
            writer.write(b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(text), text))
            await writer.drain()
            return True
        passed = [line for line in lines[:-2] if not line.lower().startswith(("connection:", "expect:"))]
        answer = await self._ask("\r\n".join([*passed, "Connection: close", "", ""]).encode("latin-1") + body)
        if fault == "cut":  # in the middle of the body, or of the head
            begin = answer.find(b"\r\n\r\n") + 4
            answer = answer[: begin + (len(answer) - begin) // 2 if begin < len(answer) else begin // 2]
        writer.write(answer)
        await writer.drain()
        return False

    async def _ask(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.upstream)
        try:
            writer.write(request)
            return await reader.read(-1)
        finally:
            writer.close()


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    """Read the body of a request, as it is: of a known length, or in chunks."""
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while True:
        line = await reader.readuntil(b"\r\n")
        body += line + await reader.readexactly(int(line, 16) + 2)
        if int(line, 16) == 0:
            return body
