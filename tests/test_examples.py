"""Every example of the gallery runs, without a warning, and draws."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example(script, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot", reason="examples draw")
    monkeypatch.setattr(plt, "show", lambda: None)
    with plt.rc_context({"backend": "Agg"}):
        plt.switch_backend("Agg")
        runpy.run_path(str(script), run_name="__main__")
        figures = plt.get_fignums()
        plt.close("all")
    assert figures
