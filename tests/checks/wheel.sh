#!/usr/bin/env bash
# Runs the Python package's tests with a wheel of app/python/wheel/build.py in another system:
#
#   wheel.sh WHEELS ROOT [PYTHON [PACKAGE...]]
#
# WHEELS is a directory of wheels; pip chooses one of them. ROOT is the directory of a system, or / for this one, for
# example a bare Debian 12: mmdebstrap --variant=apt --include=python3 bookworm ROOT. PYTHON is an interpreter in it
# (python3 by default), and PACKAGEs are what the tests need (by default numpy, pytest and pillow). Without
# IMGPIPE_PROGRAM, the program's path in ROOT, tests that need it are skipped. Needs root, for chroot, and PyPI.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
wheels=$(cd "$1" && pwd) root=$(cd "$2" && pwd) python=${3:-python3}
packages=("${@:4}")
# pip evaluates the conditions of dependencies for this machine's Python, so pytest's for Python 3.10 are named.
((${#packages[@]})) || packages=(numpy pytest pillow exceptiongroup tomli typing_extensions)
work=$(mktemp -d "${root%/}/tmp/wheel.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
inside=/tmp/${work##*/}

# shellcheck disable=SC2016
run() {
  unshare --mount sh -c 'for name in dev proc sys; do mount --rbind "/$name" "$0/$name"; done; exec chroot "$0" "$@"' \
    "$root" env PYTHONPATH="$inside/site" HOME=/tmp "$@"
}
read -r version abi < <(run "$python" -c 'import sys, sysconfig
threaded = "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
print("%d.%d" % sys.version_info[:2], "cp%d%d" % sys.version_info[:2] + threaded)')
glibc=$(run "$python" -c 'import platform; print(platform.libc_ver()[1])')
machine=$(uname -m)
platforms=(--platform "manylinux2014_$machine")
for ((minor = 17; minor <= ${glibc#2.}; minor++)); do platforms+=(--platform "manylinux_2_${minor}_$machine"); done
abis=(--abi "$abi")
[[ $abi == *t ]] || abis+=(--abi abi3)
python3 -m pip install -q --disable-pip-version-check --no-cache-dir --target "$work/site" --only-binary :all: \
  --python-version "$version" --implementation cp "${abis[@]}" "${platforms[@]}" --no-deps --no-index \
  --find-links "$wheels" --pre imgpipe
python3 -m pip install -q --disable-pip-version-check --target "$work/site" --only-binary :all: \
  --python-version "$version" --implementation cp "${abis[@]}" "${platforms[@]}" "${packages[@]}"

mkdir "$work/tree"
(cd "$source" && git ls-files -z | tar --null -c -T -) | tar -x -C "$work/tree"
run "$python" -c 'import imgpipe'  # compiles the Python files
echo "wheel: Python $version ($abi), glibc $glibc"
run "$python" - <<'INSIDE'
import time
begin = time.perf_counter()
import numpy
between = time.perf_counter()
import imgpipe
end = time.perf_counter()
print(f"wheel: imgpipe {imgpipe.__version__} imported in {1e3 * (end - between):.1f} ms, "
      f"after numpy {numpy.__version__} in {1e3 * (between - begin):.1f} ms")
with open("/proc/self/maps") as maps:
    loaded = maps.read()
assert "libcuda" not in loaded and "/dev/nvidia" not in loaded, "the import loaded CUDA's driver"
INSIDE
tests=("$inside/tree/tests/python")
[ -n "${IMGPIPE_PROGRAM:-}" ] || tests+=(--ignore "${tests[0]}/test_program.py")
run env ${IMGPIPE_PROGRAM:+IMGPIPE_PROGRAM="$IMGPIPE_PROGRAM"} "$python" -m pytest -q -p no:cacheprovider "${tests[@]}"
