#!/usr/bin/env bash
# The whole suite with another version of Python, from Debian's forky, in a root of its own.
#
#   benchmarks/machines/versions.sh WORK 3.15            tests and examples, without studies and attacks; or 3.14
#   benchmarks/machines/versions.sh WORK 3.15 PATH...    some of them, and options of pytest
#
# Makes the wheel with Python 3.12 and installs it with the extra `test`, as far as there are wheels for this version; it
# prints what was left out. The result is WORK/python-VERSION.json. Needs root, mmdebstrap and DEBIAN_MIRROR, the
# address of a mirror with the suite forky.
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
version=$2
shift 2
root=$work/root-$version
(($#)) || set -- tests README.md docs --pyargs hornbeam --numprocesses=2 --dist=worksteal \
    --ignore=tests/attacks --ignore=tests/benchmarks # studies and attacks are not for users

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
unset PYTHONPATH

inside() { # COMMAND...: in the root, with the files of the system that every process expects; they go when it ends
    # shellcheck disable=SC2016 # the inner shell expands
    unshare --mount bash -ec 'mount -t proc proc "$0/proc"; for name in dev sys; do mount --rbind "/$name" "$0/$name"; done; exec chroot "$0" "$@"' "$root" "$@"
}

requirements() { # those of the extra `test` beyond `test-core`, one a line
    python3.12 - "$tree/pyproject.toml" <<'EOF'
import re, sys, tomllib
extras = tomllib.load(open(sys.argv[1], "rb"))["project"]["optional-dependencies"]
def wanted(extra):
    for requirement in extras[extra]:
        inner = re.fullmatch(r"hornbeam\[(.*)\]", requirement)
        for name in inner[1].split(",") if inner else ():
            yield from wanted(name)
        if not inner:
            yield requirement
print(*dict.fromkeys(r for r in wanted("test") if r not in set(wanted("test-core"))), sep="\n")
EOF
}

if [[ ! -d $root ]]; then
    mmdebstrap --aptopt='Acquire::Check-Valid-Until "false"' --variant=minbase \
        --include="python$version-venv,python$version-dev,ca-certificates,g++,git" \
        forky "$root" "deb [trusted=yes] $DEBIAN_MIRROR forky main"
    cp /etc/resolv.conf "$root/etc"
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs" # those of this machine
fi

rm -rf "$root/wheel" "$root/tree"
python3.12 -m venv "$work/build"
"$work/build/bin/pip" wheel --no-deps --wheel-dir "$root/wheel" "$tree"
wheel=/wheel/$(basename "$root"/wheel/*.whl)

[[ -d $root/env ]] || inside "python$version" -m venv /env
# PyYAML (of Dask) has no wheel for 3.15, and is quickly made.
install=(inside /env/bin/pip install --no-compile --only-binary=:all: --no-binary=pyyaml)
"${install[@]}" --force-reinstall --no-deps "$wheel"
"${install[@]}" "$wheel[test-core]"
without=()
while read -r requirement; do
    "${install[@]}" "$requirement" </dev/null 2>/dev/null || without+=("$requirement")
done < <(requirements)
echo "no wheel for Python $version: ${without[*]:-}"

ignored=(--ignore=docs/conf.py) # needs Sphinx
for requirement in "${without[@]}"; do # doctests that import what is not there
    while read -r file; do
        ignored+=("--ignore-glob=/*/${file#src/}")
    done < <(cd "$tree" && grep -rlE ">>> import ${requirement%%[><=]*}" docs src --include=*.md --include=*.py)
done

mkdir "$root/tree"
(cd "$tree" && git ls-files --cached --others --exclude-standard -z | tar --create --null --files-from=-) | tar --extract -C "$root/tree"
inside env --chdir=/tree /env/bin/python benchmarks/machines/check.py "Python $version" --out "/python-$version.json" \
    --how "Debian forky, wheels${without[*]:+; without ${without[*]}}" -- "$@" --hypothesis-profile=brief "${ignored[@]}" || failed=1
cp "$root/python-$version.json" "$work"
exit "${failed:-0}"
