"""The server of the workbench on this machine, the public function that starts it, and its application."""

from __future__ import annotations

import asyncio
import json
import webbrowser
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket
from threading import Thread
from traceback import format_tb
from typing import TYPE_CHECKING, Any, Self

from hornbeam.checks import check_flags
from hornbeam.data.files.atomic_write import write_atomic
from hornbeam.data.files.scratch import scratch_folder
from hornbeam.errors import HornbeamError, ParameterError, import_extra
from hornbeam.estimators.tree_classifier import TreeClassifier
from hornbeam.estimators.tree_regressor import TreeRegressor
from hornbeam.logger import logger
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import single_tree, unwrap
from hornbeam.web_editor.guard import Guard, forward_page
from hornbeam.web_editor.page import page, script, style
from hornbeam.web_editor.session import OutdatedError, Session

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_HOST = "127.0.0.1"  # never another one: the page has no encryption and one user
_HEADER_SECONDS = 10  # a connection without a complete header is closed then
_MOST_WAITING = 32  # connections without a complete header; the oldest are closed


@dataclass(slots=True, eq=False)
class Workbench:
    """A running workbench.

    Parameters
    ----------
    session : Session
    port : int, default 0
        0 for any free port.

    Examples
    --------
    >>> import tempfile
    >>> from hornbeam import TreeClassifier
    >>> X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    >>> classifier = TreeClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     session = Session(classifier, classifier.edit(X, y), f"{folder}/tree.hornbeam")
    ...     with Workbench(session) as running:
    ...         print(running.url[:17])
    http://127.0.0.1:
    """

    session: Session
    port: int = 0
    _guard: Any = field(default=None, init=False, repr=False)
    _server: Any = field(default=None, init=False, repr=False)
    _thread: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        for library in ("starlette", "uvicorn"):
            import_extra(library, "workbench", "The workbench")
        import uvicorn
        from uvicorn.protocols.http.auto import AutoHTTPProtocol

        from hornbeam.web_editor.server import application

        listening = socket(AF_INET, SOCK_STREAM)
        try:
            listening.bind((_HOST, self.port))
            listening.listen()
        except OSError:
            listening.close()
            raise ParameterError(f"port={self.port} is in use; expected a free port, or 0 for any.") from None
        self.port = listening.getsockname()[1]
        self._guard = Guard(application(self.session), (f"{_HOST}:{self.port}", f"localhost:{self.port}"))
        self._server = uvicorn.Server(
            uvicorn.Config(
                self._guard,
                http=_with_limits(AutoHTTPProtocol),
                lifespan="off",
                ws="none",
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=64,
                timeout_keep_alive=30,
            )
        )
        # A thread of its own: a notebook goes on while the page is open.
        self._thread = Thread(
            target=self._server.run, kwargs={"sockets": [listening]}, name="workbench", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """A new address of the page; it works once, in one browser."""
        return f"http://{_HOST}:{self.port}/{self._guard.new_token()}/"

    def show(self) -> None:
        """Open the page in the browser, by a private file: other users can read the command line of a browser."""
        path = Path(self.session.held.enter_context(scratch_folder()), "workbench.html")
        write_atomic(path, [forward_page(self.url)], private=True)
        webbrowser.open(path.as_uri())

    def wait(self) -> None:
        """Wait until the server is stopped, for example by `stop` in another thread or by Ctrl-C."""
        while self._thread.is_alive():
            self._thread.join(0.5)  # with a limit, so that an interrupt is noticed

    def stop(self) -> None:
        """Stop the server and close the session; edits that are not saved stay in the journal."""
        self._server.should_exit = True
        self._thread.join(10)
        self.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _with_limits(protocol: Callable[..., Any]) -> Any:
    """Close connections that do not send a complete header in time, or that are too many."""
    waiting: deque[Any] = deque()

    def close_waiting(connection: Any) -> None:
        if connection.cycle is None:  # no request has begun
            connection.transport.close()

    def connect(**settings: Any) -> Any:
        connection = protocol(**settings)
        begin = connection.connection_made

        # Many connections may be accepted before the first of them begins and can be closed.
        def connection_made(transport: Any) -> None:
            begin(transport)
            waiting.append(connection)
            asyncio.get_running_loop().call_later(_HEADER_SECONDS, close_waiting, connection)
            while waiting and (waiting[0].cycle is not None or len(waiting) > _MOST_WAITING):
                close_waiting(waiting.popleft())

        connection.connection_made = connection_made
        return connection

    return connect


def workbench(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    held_out: tuple[Any, ...] | None = None,
    path: str | PathLike[str] = "workbench.hornbeam",
    author: str = "",
    data: str = "",
    positive: Any = None,
    port: int = 0,
    show: bool = True,
) -> Workbench:
    """Open a page in the browser to edit a fitted tree by hand.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or Tree
        Fitted. Saving in the page puts the edited tree into the estimator.
    X : array-like or data frame of shape (n_rows, n_features), path, paths or Source
        The rows of `fit`; files are read into memory.
    y : array-like of shape (n_rows,) or str, default=None
        Their target; for files, the name of the column.
    sample_weight : array-like of shape (n_rows,) or str, default=None
        Their weights; for files, the name of the column.
    held_out : tuple of X and y, default=None
        Rows that the tree was not fitted to. With them each edit has its effect on the scores, with standard errors. A
        third entry is their weights; the report does not use them.
    path : str or path, default="workbench.hornbeam"
        The model file. The report, the approval log and the journal have the same name with the endings ``.html``,
        ``.md`` and ``.journal``. If the journal has unsaved edits of this tree, they are restored.
    author : str, default=""
        Author of the edits, for the approval log.
    data : str, default=""
        Name of the rows, for the approval log, such as that of their file.
    positive : label, default=None
        The class of interest, whose probability the page and the report show. None: the second of two classes.
    port : int, default=0
        0 for any free port.
    show : bool, default=True
        Whether to open the page in the browser.

    Returns
    -------
    Workbench
        The running server, in a thread of its own: `url` is an address that works once, `wait` waits, `stop` ends it.

    Raises
    ------
    MissingExtraError
        If Starlette or uvicorn is not installed.
    StorageError
        If the journal has unsaved edits of another tree, another workbench has the same path, or saving would
        overwrite a file that is not one of the workbench.

    Notes
    -----
    The server listens on 127.0.0.1 only. The address has a token that is valid once: the browser receives a cookie for
    it, without which every request is refused.

    Examples
    --------
    >>> import tempfile
    >>> import hornbeam
    >>> X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
    >>> classifier = hornbeam.TreeClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with hornbeam.workbench(classifier, X, y, path=f"{folder}/tree.hornbeam", show=False) as running:
    ...         state = running.session.apply({"do": "threshold", "node": 0, "value": 50})
    >>> state["edits"][0]["what"]
    'moved the threshold of x0 at the root from 40 to 50'
    """
    check_flags(show=show)
    tree, model = single_tree(model), unwrap(model).model
    if isinstance(model, Tree):
        model = (TreeRegressor if tree.is_regression else TreeClassifier).from_tree(tree)
    editor = model.edit(X, y, sample_weight=sample_weight, held_out=held_out, author=author, data=data)
    test = None if held_out is None else (held_out[0], held_out[1])
    session = Session(model, editor, path, test, positive)
    try:
        running = Workbench(session, port)
    except BaseException:
        session.close()
        raise
    if show:
        try:
            running.show()
        except BaseException:
            running.stop()
            raise
    return running


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
