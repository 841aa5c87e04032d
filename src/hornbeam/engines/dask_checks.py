"""Checks of a Dask cluster before a pass, and plain messages for its errors."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from hornbeam.errors import EngineError, HornbeamError, ParameterError, import_extra

if TYPE_CHECKING:
    from distributed import Client

# Warnings point to the caller: they skip the files of Hornbeam and the generated code of dataclasses.
_INSIDE = (str(Path(__file__).parents[1]), "<string>")
_LOST_WORKER = "distributed.deploy.lost-worker-timeout"
_WHEN_KILLED = (
    "Most often such a task needs more memory than its worker has: look for 'memory' in the worker's log, give "
    "workers more memory or fewer threads, or use more tasks (n_tasks=). Where machines come and go "
    "raise the setting distributed.scheduler.allowed-failures."
)
_AGAIN = "Connect a new client and fit again; with a checkpoint the fit continues where it was."
_WHEN_CANCELLED = f"The scheduler no longer has this pass: it was restarted, or the client lost it. {_AGAIN}"
WHEN_LATE = (
    "If no workers are left, see whether the cluster gave up on them and raise the setting "
    f"{_LOST_WORKER}; if they are paused, they are short of memory; if their tasks are merely long, use "
    "more tasks (n_tasks=) or give them time (deadline=)."
)


def check_cluster(client: Client) -> None:
    """Raise an error for a wrong client or workers without this Hornbeam; warn about clusters that remove workers."""
    _check_client(client)
    with explained(client):
        _check_versions(client)
        _check_patience(client)


@contextmanager
def explained(client: Client) -> Iterator[None]:
    """Convert errors of dead workers, a lost scheduler or a closed client into an `EngineError`.

    Errors of a task are raised unchanged.
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
    import_extra("distributed", "dask", "DaskEngine")
    from distributed import Client

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
    """Compare the versions of Hornbeam, by a function that works on machines without Hornbeam."""
    version_name = "hornbeam:__version__"
    here, found = resolve_name(version_name), client.run(resolve_name, version_name, on_error="return")
    try:
        found["the scheduler"] = client.run_on_scheduler(resolve_name, version_name)
    except ImportError as error:
        found["the scheduler"] = error
    for where, version in found.items():
        # Another error means that the worker has just died; Dask replaces it.
        if isinstance(version, (str, ImportError)) and version != here:
            have = f"Hornbeam {version}" if isinstance(version, str) else f"no Hornbeam ({version})"
            raise EngineError(
                f"{where} has {have}; expected Hornbeam {here}, as on this side. Install the same "
                "version on scheduler and workers."
            )


def _check_patience(client: Client) -> None:
    """Warn about a short timeout: Dask's own clusters close a worker that is away for 15 s, for good."""
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
            skip_file_prefixes=_INSIDE,
        )
