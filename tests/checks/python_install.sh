#!/usr/bin/env bash
# Checks the Python module as `cmake --install BUILD --component python` installs it, which is the contents of a wheel:
#
#   python_install.sh BUILD PYTHON IMGPIPE
#
# Exactly these files are installed, and the imported module produces the same bytes as the program.
set -euo pipefail
build=$(cd "$1" && pwd) python=$2 program=$(realpath "$3")
work=$(mktemp -d "$build/python_install.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
"$python" -c 'import numpy' 2>"$work/said" || { echo "SKIPPED: $(tail -n 1 "$work/said")"; exit 77; }

cmake --install "$build" --component python --prefix "$work/prefix" >/dev/null
installed=$(cd "$work/prefix" && find . -type f | sed 's/_core\.[^/]*\.so$/_core.so/' | LC_ALL=C sort | tr '\n' ' ')
wanted=$(cd "$(dirname "$0")/../../app/python/imgpipe" && find . -type f -not -path '*/__pycache__/*' -printf '%P\n')
wanted=$(printf './imgpipe/%s\n' $wanted _core.pyi _core.so ops.py | LC_ALL=C sort | tr '\n' ' ')
[ "$installed" = "$wanted" ] || { echo "python_install: $installed is not $wanted" >&2; exit 1; }

cd "$work"
"$program" synth in.ppm --pattern photo --size 61x43 -q
"$program" in.ppm out.pgm --device cpu -q
PYTHONPATH=$work/prefix PYTHONDONTWRITEBYTECODE=1 "$python" - "$work" <<'INSIDE'
import os
import re
import sys

import imgpipe
import numpy as np

work = sys.argv[1]
assert os.path.dirname(imgpipe.__file__) == os.path.join(work, "prefix", "imgpipe"), imgpipe.__file__


def samples(name, count):
    with open(os.path.join(work, name), "rb") as file:
        whole = file.read()
    assert re.match(rb"P[56]", whole), whole[:9]
    return np.frombuffer(whole[-count:], np.uint8)


got, report = imgpipe.run(samples("in.ppm", 61 * 43 * 3).reshape(43, 61, 3), device="cpu")
assert np.array_equal(got.ravel(), samples("out.pgm", 61 * 43)), "other pixels than the program's"
assert report["output"]["width"] == 61
print(f"python_install: imgpipe {imgpipe.__version__}, the same bytes as the program")
INSIDE
