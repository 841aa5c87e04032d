#!/usr/bin/env bash
# Tests and eight threads at once on Python without the global lock (GIL), built from Debian's source.
#
#   benchmarks/machines/free_threaded.sh WORK [SECONDS]    600 seconds of eight threads at once unless told otherwise
#
# Results: WORK/free-threaded.json (tests, check.py) and WORK/free-threaded-threads.json (threads.py).
# Needs gcc, make, the headers of OpenSSL and libffi, and DEBIAN_MIRROR, the address of a mirror with the suite trixie.
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
seconds=${2:-600}
version=3.13.5
checksum=93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640
python=$work/python/bin/python3.13t

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
unset PYTHONPATH

if [[ ! -x $python ]]; then
    archive=python3.13_$version.orig.tar.xz
    curl --fail --silent --show-error --output "$work/$archive" "$DEBIAN_MIRROR/pool/main/p/python3.13/$archive"
    echo "$checksum  $work/$archive" | sha256sum --check
    tar --extract --directory "$work" --file "$work/$archive"
    cd "$work/Python-$version"
    ./configure --quiet --disable-gil --disable-test-modules --prefix="$work/python"
    make --silent --jobs="$(nproc)"
    make --silent altinstall
fi

cd "$tree"
[[ -d $work/env ]] || "$python" -m venv "$work/env"
pip=("$work/env/bin/pip" install)
# Without polars, which has no wheel for this Python.
"${pip[@]}" --only-binary=:all: numpy scipy scikit-learn narwhals pandas pyarrow hypothesis pytest pytest-run-parallel rich
"${pip[@]}" --no-deps --config-settings=build-dir="$work/build" "$tree"

rm -rf "$work/tree"
mkdir "$work/tree"
git ls-files -z benchmarks tests pyproject.toml | xargs -0 cp --parents --target-directory="$work/tree"
cd "$work/tree"
status=0
# Every test in eight threads at once; pytest-run-parallel runs those in one thread that cannot (hypothesis, some fixtures).
"$work/env/bin/python" benchmarks/machines/check.py "Free-threaded Python" --out "$work/free-threaded.json" \
    --how "gcc, every test in 8 threads at once" -- tests/golden tests/kernels tests/growing tests/laws tests/smoothing \
    tests/pruning tests/ensembles --parallel-threads=8 --hypothesis-profile=brief || status=1
"$work/env/bin/python" -m benchmarks.machines.threads --threads 8 --seconds "$seconds" \
    --out "$work/free-threaded-threads.json" || status=1
exit $status
