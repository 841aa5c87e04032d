"""A full disk: the error names the file, and no part of it is left."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of the size of files")

# Files of more than 600 bytes cannot be written: the error is that of a full disk with another number.
SCRIPT = """
import resource, sys
from pathlib import Path
sys.dont_write_bytecode = True  # Python keeps the cut bytecode of a module that is imported below the limit
import numpy as np, pandas as pd
import hornbeam
from hornbeam.errors import HornbeamError
folder = Path(sys.argv[1])
rng = np.random.default_rng(0)
rows = pd.DataFrame({"a": rng.normal(size=3000), "b": rng.normal(size=3000)})
y = np.where(rows["a"] > rows["b"], "yes", "no")
rows.assign(y=y).to_parquet(folder / "rows.parquet", row_group_size=1000)
clf = hornbeam.TreeClassifier("cart", max_depth=3).fit(rows, y)
report = hornbeam.report(clf, rows, y)
calls = {
    "model.hornbeam": lambda: hornbeam.save(clf, folder / "model.hornbeam"),
    "part-00000000.parquet": lambda: clf.predict_to(rows, folder / "to"),
    "cache/": lambda: clf.fit(folder / "rows.parquet", "y", memory=1000, cache=folder / "cache"),
    "report.html": lambda: report.save(folder / "report.html"),
}
resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY))
for name, call in calls.items():
    try:
        call()
    except OSError as error:
        assert str(folder) in str(error) and name in str(error), (name, error)
    else:
        raise AssertionError(f"{name} was written")
    print(name)
"""


def test_the_error_names_the_file(tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["model.hornbeam", "part-00000000.parquet", "cache/", "report.html"]
    left = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"rows.parquet", "_job.json"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_device_that_is_full_is_named():
    from hornbeam.data.files.atomic_write import write_atomic

    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_atomic("/dev/full", [b"rows"])
