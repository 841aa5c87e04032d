"""What may be wrong with a Dask cluster, found out before a pass, or said after one."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from hornbeam.errors import EngineError, HornbeamError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["WHEN_LATE", "check_cluster", "explained"]

# A warning points to who made the engine: not to us, nor to the lines of a dataclass, which are in no file.
_HERE = (str(Path(__file__).parents[1]), "<string>")
_LOST_WORKER = "distributed.deploy.lost-worker-timeout"
_WHEN_KILLED = (
    "Most often such a task needs more memory than its worker has: look for 'memory' in the worker's log, give "
    "workers more memory or fewer threads, or deal the units to more tasks (groups=). Where machines come and go "
    "raise the setting distributed.scheduler.allowed-failures."
)
_AGAIN = "Connect a new client and fit again; with a checkpoint the fit goes on where it was."
_WHEN_CANCELLED = (
    f"The scheduler no longer knows this pass: it was restarted, or the client lost it. {_AGAIN}"
)
WHEN_LATE = (
    "If no workers are left, see whether the cluster gave up on them and raise the setting "
    f"{_LOST_WORKER}; if they are paused, they are short of memory; if their tasks are merely long, deal "
    "the units to more tasks (groups=) or give them time (deadline=)."
)


def check_cluster(client: Client) -> None:
    """Refuse what is no client, and workers without this Hornbeam; warn of clusters that shrink for good."""
    _check_client(client)
    with explained(client):
        _check_versions(client)
        _check_patience(client)


@contextmanager
def explained(client: Client) -> Iterator[None]:
    """Turn errors of workers that died, of a lost scheduler and of a closed client into an `EngineError`.

    What a task raises stays as it is.
    """
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise EngineError(f"{error} {_WHEN_KILLED}") from error
    except (FutureCancelledError, asyncio.CancelledError) as error:
        raise EngineError(f"{error} {_WHEN_CANCELLED}") from error
    except CommClosedError as error:
        raise EngineError(
            f"The connection to the scheduler or to a worker broke ({error}). {_AGAIN}"
        ) from error
    except HornbeamError:
        raise
    except Exception as error:
        if client.status == "running":
            raise
        raise EngineError(
            f"The client is {client.status}; expected one that is connected to its scheduler until the fit is over. "
            f"{_AGAIN}"
        ) from error


def _check_client(client: Client) -> None:
    try:
        from distributed import Client
    except ImportError as error:
        message = "DaskEngine needs distributed. Install it: pip install 'hornbeam[dask]'."
        raise MissingExtraError(message) from error
    if isinstance(client, Client) and client.status in ("closed", "closing"):
        raise ParameterError(
            "client is closed; expected one that is connected. Connect a new one: Client(address)."
        )
    if not isinstance(client, Client) or client.asynchronous:
        raise ParameterError(
            f"client is {client!r}; expected a synchronous distributed.Client. Pass Client(address), or Client() "
            "for processes on this machine."
        )


def _check_versions(client: Client) -> None:
    """Ask scheduler and workers for their Hornbeam in words that need no Hornbeam to be understood."""
    question = "hornbeam:__version__"
    here, found = resolve_name(question), client.run(resolve_name, question, on_error="return")
    try:
        found["the scheduler"] = client.run_on_scheduler(resolve_name, question)
    except ImportError as error:
        found["the scheduler"] = error
    for where, version in found.items():
        # A worker that does not answer at all has died just now, and will be another one.
        if isinstance(version, (str, ImportError)) and version != here:
            have = f"Hornbeam {version}" if isinstance(version, str) else f"no Hornbeam ({version})"
            raise EngineError(
                f"{where} has {have}; expected Hornbeam {here}, as on this side. Install the same "
                "version on scheduler and workers."
            )


def _check_patience(client: Client) -> None:
    """Dask's own clusters close a worker that is away for 15 s, and never start it again."""
    from dask import config
    from dask.utils import parse_timedelta
    from distributed import SpecCluster

    patience = config.get(_LOST_WORKER)
    processes = not client.scheduler.address.startswith("inproc:")
    if processes and isinstance(client.cluster, SpecCluster) and parse_timedelta(patience) < 60:
        warnings.warn(
            f"This cluster gives up for good on a worker that is away for {patience}, so repeated failures may "
            f"leave it without any. Before training: dask.config.set({{'{_LOST_WORKER}': '10 minutes'}}).",
            RuntimeWarning,
            skip_file_prefixes=_HERE,
        )
