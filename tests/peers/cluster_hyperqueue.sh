#!/usr/bin/env bash
# Runs examples/cluster/hyperqueue.sh through the cases of cluster_cases.sh, with a local HyperQueue: it is started by
# cluster_hyperqueue.py, which replaces the program hq.
#
#   tests/peers/cluster_hyperqueue.sh [--install] [--keep FOLDER] IMGPIPE
#
# Needs the Python module hyperqueue, which contains server and workers; --install installs it from PyPI into a virtual
# environment for this run. Exits with 77 if it is missing. --keep leaves all files in FOLDER.
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
