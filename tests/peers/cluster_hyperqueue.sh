#!/usr/bin/env bash
# examples/cluster/hyperqueue.sh by a HyperQueue of this machine, which cluster_hyperqueue.py starts and gives the
# script in place of the program hq: the cases of cluster_cases.sh.
#
#   tests/peers/cluster_hyperqueue.sh [--install] [--keep FOLDER] IMGPIPE
#
# Takes the Python module hyperqueue, with server and workers in it; --install installs it from PyPI into a virtual
# environment for this run. Ends with 77 where it is missing. --keep leaves all files in FOLDER.
set -euo pipefail
. "$(dirname "$0")/cluster_cases.sh"
engine=HyperQueue
files=(hyperqueue.sh)
here=$(realpath "$(dirname "$0")")
begin "$@"
if ((install)); then
  install_peers python3-venv
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install -q hyperqueue
  PATH=$work/bin:$work/venv/bin:$PATH
fi
need python3
python3 -c 'import hyperqueue' 2>/dev/null || { echo 'SKIPPED: no Python module hyperqueue (try --install)'; exit 77; }
engine_line() { python3 -c 'import importlib.metadata as m; print(m.version("hyperqueue"))'; }
run_example() {
  local code=0
  timeout 120 python3 "$here/cluster_hyperqueue.py" hyperqueue.sh || code=$?
  imgpipe report reports/*.ndjson || code=$?
  return "$code"
}
run_cases
