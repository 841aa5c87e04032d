#!/usr/bin/env bash
# Runs benchmarks/machines/same_bits.py with other libraries, compilers and machines, and compares all digests.
#
#   benchmarks/machines/run.sh WORK here             this machine, with its settings changed
#   benchmarks/machines/run.sh WORK libraries        the oldest and the newest NumPy, SciPy and scikit-learn
#   benchmarks/machines/run.sh WORK compilers        kernels by gcc and clang, -O1 and -O3
#   benchmarks/machines/run.sh WORK debian s390x     another processor and C library, emulated, in a Debian root; or arm64
#   benchmarks/machines/run.sh WORK tests arm64 [WHEEL]    the recorded digests in that root, with kernels of a wheel
#   benchmarks/machines/run.sh WORK compare          all digests found in WORK
#
# Needs Python 3.12 and 3.13; for compilers clang; for other machines mmdebstrap, qemu-user-static, a cross compiler
# (g++-aarch64-linux-gnu, g++-s390x-linux-gnu) and DEBIAN_MIRROR, the address of a mirror with the suite forky.
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
sets=$work/sets.npz
cd "$work"
unset PYTHONDONTWRITEBYTECODE # emulated, compiling all modules takes minutes

environment() { # NAME PYTHON REQUIREMENT...: an environment without Hornbeam
    [[ -x $work/env/$1/bin/python ]] && return
    "$2" -m venv "$work/env/$1"
    "$work/env/$1/bin/pip" install --quiet --only-binary=:all: "${@:3}"
}

kernels() { # NAME COMPILER FLAG...: the package with kernels that a compiler made, in WORK/kernels/NAME
    local home=$work/kernels/$1 compiler=$2 include nanobind
    shift 2
    [[ -f $home/hornbeam/kernels/_native.abi3.so ]] && return
    nanobind=$("$work/env/newest/bin/python" -m nanobind --include_dir)/..
    include=$("$work/env/newest/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
    mkdir -p "$home"
    cp -r "$tree/src/hornbeam" "$home"
    "$compiler" -std=c++17 -O3 -ffp-contract=off -fvisibility=hidden -fPIC -shared -fno-strict-aliasing -pthread \
        -DNDEBUG -DPy_LIMITED_API=0x030C0000 -DNB_COMPACT_ASSERTIONS "$@" \
        -I "$nanobind/include" -I "$nanobind/ext/robin_map/include" -I "$include" -I "$tree/native" \
        "$nanobind/src/nb_combined.cpp" "$tree"/native/*/*.cpp -o "$home/hornbeam/kernels/_native.abi3.so"
}

digests() { # NAME KERNELS COMMAND...: what a Python finds
    PYTHONPATH=$work/kernels/$2 "${@:3}" "$tree/benchmarks/machines/same_bits.py" digests "$sets" --out "$work/$1.json"
    echo "$1"
}

debian() { # ARCHITECTURE: sets `machine`, and `python`, the command of Python 3.14 with its libraries in a Debian root, emulated
    local root=$work/root/$1
    machine=${1/arm64/aarch64}
    if [[ ! -d $root ]]; then
        mkdir -p "$work/root"
        mmdebstrap --aptopt='Acquire::Check-Valid-Until "false"' --variant=extract --architectures="$1" \
            --include=python3.14,python3-sklearn,python3-narwhals,python3-pandas,python3-pytest,python3-hypothesis \
            forky "$root" "deb [trusted=yes] $DEBIAN_MIRROR forky main"
        ln -s usr/lib "$root/lib"
    fi
    kernels "$1" "$machine-linux-gnu-g++" -static-libstdc++ -static-libgcc
    local libraries=/usr/lib/$machine-linux-gnu
    python=("qemu-$machine-static" -L "$root" -E "LD_LIBRARY_PATH=$libraries/blas:$libraries/lapack"
        -E "PYTHONPATH=$work/kernels/$1" "$root/usr/bin/python3.14")
}

environment newest python3.13 numpy scipy scikit-learn narwhals nanobind
[[ -f $sets ]] || "$work/env/newest/bin/python" "$tree/benchmarks/machines/same_bits.py" write "$sets"

case $2 in
here)
    kernels gcc-O3 g++
    PYTHONPATH=$work/kernels/gcc-O3 "$work/env/newest/bin/python" "$tree/benchmarks/machines/same_bits.py" here "$sets" --out "$work"
    ;;
libraries)
    kernels gcc-O3 g++
    environment oldest python3.12 'numpy==2.0.*' 'scipy==1.13.*' 'scikit-learn==1.6.*' 'narwhals==2.0.1'
    digests 'oldest libraries' gcc-O3 "$work/env/oldest/bin/python"
    digests 'newest libraries' gcc-O3 "$work/env/newest/bin/python"
    ;;
compilers)
    for compiler in g++ clang++; do
        for level in O1 O3; do
            kernels "$compiler-$level" "$compiler" "-$level"
            digests "$compiler -$level" "$compiler-$level" "$work/env/newest/bin/python"
        done
    done
    ;;
debian)
    debian "$3"
    digests "Debian forky, $3" "$3" "${python[@]}"
    ;;
tests)
    how='cross-compiled by gcc, qemu'
    rm -rf "$work/kernels/$3" # perhaps of an earlier commit
    if [[ -n ${4-} ]]; then
        python3 -m zipfile -e "$4" "$work/kernels/$3"
        how='wheel by zig, qemu'
    fi
    debian "$3"
    cd "$tree"
    "${python[@]}" benchmarks/machines/check.py "Linux $machine" --how "$how" --out "$work/$3.json" tests/golden \
        -- -p no:cacheprovider
    ;;
compare) "$work/env/newest/bin/python" "$tree/benchmarks/machines/same_bits.py" compare "$work/as it is.json" "$work"/*.json ;;
esac
