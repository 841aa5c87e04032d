"""The FastAPI example on a real server: it predicts as the model does, and refuses wrong rows."""

import importlib.util
import os
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hornbeam

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

EXAMPLES = Path(__file__).parents[2] / "examples" / "serving"
RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "income": np.where(RNG.random(300) < 0.1, np.nan, RNG.normal(40, 10, 300).round()),
        "years": RNG.integers(0, 9, 300),
        "home": RNG.choice(["owns", "rents", "parents", None], 300),
        "member": RNG.choice([True, False], 300),
    }
)
RISK = ROWS["home"].isin(["rents"]) + (ROWS["income"].fillna(20) < 35) + RNG.random(300)
LABELS = np.where(RISK > 1.6, "defaults", "repays")
REQUESTS = [
    {"income": 30.0, "years": 2, "home": "rents", "member": True},
    {"income": 60, "years": 8, "home": "owns", "member": False},
    {"income": None, "years": 2, "home": None, "member": True},
    {"income": 30.0, "years": 2, "home": "boat", "member": None},
]


@pytest.fixture(scope="module")
def clf():
    return hornbeam.TreeClassifier(costs={("defaults", "repays"): 5.0}).fit(ROWS, LABELS)


@pytest.fixture(scope="module")
def client(clf, tmp_path_factory):
    model = tmp_path_factory.mktemp("serve") / "model.hornbeam"
    hornbeam.save(clf, model)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "fastapi_app:app", "--factory", "--port", str(port)]
    server = subprocess.Popen([*command, "--app-dir", str(EXAMPLES)], env={**os.environ, "MODEL": str(model)})
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client:
            _wait_for(client, server)
            yield client
    finally:
        server.terminate()
        server.wait()


def _wait_for(client, server):
    for _ in range(600):
        assert server.poll() is None, "the server ended"
        try:
            client.get("/unseen")
        except httpx.ConnectError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server does not respond")


def frame(rows):
    return pd.DataFrame(rows, columns=list(ROWS), dtype=object).astype({"income": float, "years": float})


def test_one_row_gets_the_probabilities_of_the_model(client, clf):
    for row, expected in zip(REQUESTS, clf.predict_proba(frame(REQUESTS)), strict=True):
        response = client.post("/probabilities", json=row)
        assert response.status_code == 200
        assert response.json() == dict(zip(["defaults", "repays"], expected.tolist(), strict=True))


def test_many_rows_get_decisions_and_reasons(client, clf):
    responses = client.post("/decisions", json=REQUESTS).json()
    assert [one["decision"] for one in responses] == clf.predict(frame(REQUESTS)).tolist()
    reasons = [[str(reason) for reason in one.reasons()] for one in clf.explain(frame(REQUESTS))]
    assert [one["reasons"] for one in responses] == reasons
    assert reasons[0]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"shoe size": 43}, "shoe size"),
        ({"income": "high"}, "income"),
        ({"income": "30"}, "income"),
        ({"home": 3}, "home"),
        ({"member": 1}, "member"),
    ],
)
def test_a_wrong_value_is_refused_with_the_name_of_its_column(client, change, where):
    response = client.post("/probabilities", json=REQUESTS[0] | change)
    assert response.status_code == 422
    assert [error["loc"][1] for error in response.json()["detail"]] == [where]


def test_a_row_without_a_column_is_refused(client):
    short = {name: value for name, value in REQUESTS[0].items() if name != "years"}
    response = client.post("/probabilities", json=short)
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["body", "years"]


def test_unseen_categories_are_counted(client):
    before = client.get("/unseen").json()
    client.post("/decisions", json=[REQUESTS[3], REQUESTS[3]])
    client.post("/probabilities", json=REQUESTS[3])
    assert client.get("/unseen").json() == {"home": before.get("home", 0) + 3}


def test_the_number_minus_two_is_not_an_unseen_category(client, clf):
    before = client.get("/unseen").json()
    row = REQUESTS[0] | {"income": -2.0, "years": -2}
    found = client.post("/probabilities", json=row).json()
    assert list(found.values()) == clf.predict_proba(frame([row]))[0].tolist()
    client.post("/decisions", json=[row])
    assert client.get("/unseen").json() == before


def test_decisions_warn_of_nothing_and_take_at_most_three_times_as_long(clf):
    """The service in this process, without a socket, so that its processor time can be measured."""
    testclient = pytest.importorskip("fastapi.testclient")
    spec = importlib.util.spec_from_file_location("fastapi_app", EXAMPLES / "fastapi_app.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    client = testclient.TestClient(module.service(clf))

    def seconds(address, rows):
        start = time.process_time()
        assert client.post(address, json=rows).status_code == 200
        return time.process_time() - start

    with warnings.catch_warnings():
        warnings.simplefilter("error", hornbeam.errors.HornbeamWarning)
        decisions = min(seconds("/decisions", REQUESTS[:1]) for _ in range(50))
    assert decisions < 3 * min(seconds("/probabilities", REQUESTS[0]) for _ in range(50))
