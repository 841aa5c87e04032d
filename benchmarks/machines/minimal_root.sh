#!/usr/bin/env bash
# Installs a wheel as a user does and runs .ci/first_use.py, in a Debian root with Python 3.14, libstdc++ (for NumPy) and
# nothing else: no compiler.
#
#   benchmarks/machines/minimal_root.sh WORK amd64 WHEEL
#   benchmarks/machines/minimal_root.sh WORK arm64 WHEEL                     emulated
#   benchmarks/machines/minimal_root.sh WORK arm64 WHEEL tests/golden ...    then also these tests
#
# Dependencies come from the package index, as wheels. Tests are counted by benchmarks/machines/check.py; its line is
# WORK/ARCHITECTURE.json. Roots stay in WORK. Needs root rights, mmdebstrap, DEBIAN_MIRROR (the address of a mirror with
# the suite forky), and for arm64 qemu-user-static.
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1"
root=$(cd "$1" && pwd)/$2
architecture=$2 wheel=$3
shift 3
TIMEFORMAT='%0R s (processor %0U s)'

make_root() {
    # Unpacked only: programs of another processor cannot configure packages here.
    mmdebstrap --aptopt='Acquire::Check-Valid-Until "false"' --variant=extract --architectures="$architecture" \
        --include=python3.14-venv,libstdc++6 forky "$root" "deb [trusted=yes] $DEBIAN_MIRROR forky main"
    local folder
    for folder in lib lib64; do
        [[ -e $root/$folder || ! -e $root/usr/$folder ]] || ln -s "usr/$folder" "$root/$folder"
    done
    mkdir -p "$root/home" "$root/etc/ssl/certs"
    cp /etc/resolv.conf "$root/etc/"
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    [[ $architecture != arm64 ]] || cp "$(command -v qemu-aarch64-static)" "$root/home/emulator"
}

inside() { # ARGUMENT...: Python in the root, emulated where needed, with nothing of this machine's environment
    local emulator=()
    [[ ! -e $root/home/emulator ]] || emulator=(/home/emulator)
    env --ignore-environment HOME=/home PATH=/usr/bin:/usr/sbin PIP_ONLY_BINARY=:all: \
        PYTHONPATH="${pip-}" chroot "$root" "${emulator[@]}" "$@"
}

[[ -d $root ]] || make_root
for compiler in gcc cc clang; do
    [[ ! -e $root/usr/bin/$compiler ]] || { echo "$root has $compiler, expected a root without a compiler" >&2; exit 1; }
done
rm -rf "$root/home/env"
inside /usr/bin/python3.14 -m venv --without-pip /home/env
cp "$wheel" "$tree/.ci/first_use.py" "$root/home/"

compile=--compile
if [[ -e $root/home/emulator ]]; then # compiling all of it would take minutes
    compile=--no-compile
fi
pip=/$(cd "$root" && echo usr/share/python-wheels/pip-*.whl)
install=(inside /home/env/bin/python -m pip install --quiet "$compile")
wheel=/home/$(basename "$wheel")
echo "install $wheel and its dependencies"
time "${install[@]}" "$wheel"
(($# == 0)) || "${install[@]}" "$wheel[test-core]"
pip=
echo 'first use'
for round in {1..8}; do # its time limits are for a quiet moment: noise only adds, so the least of several counts
    time inside /home/env/bin/python /home/first_use.py && break
    ((round < 8))
done

if (($#)); then
    rm -rf "$root/home/tree" "$root/home/check.json"
    mkdir "$root/home/tree"
    git -C "$tree" archive HEAD benchmarks/machines pyproject.toml tests | tar --extract --directory "$root/home/tree"
    inside /home/env/bin/python /home/tree/benchmarks/machines/check.py "Linux ${architecture/amd64/x86-64}, minimal root" --how 'wheel by zig' \
        --out /home/check.json "${@/#//home/tree/}" || failed=1
    cp "$root/home/check.json" "$root.json"
    exit "${failed:-0}"
fi
