#!/usr/bin/env bash
# Slurm: submits array.sbatch, waits for its tasks, and prints the summary. Passes its arguments to sbatch. Run it in
# the directory that contains in/:
#
#   ./slurm.sh --partition=fast
#
# Exits with 0 only if every image is done. A second run only does what is left.
set -euo pipefail
reports=reports   # as in array.sbatch

code=0
sbatch --wait "$@" "$(dirname "$0")/array.sbatch" || code=$?
imgpipe report "$reports"/*.ndjson || code=$?
exit "$code"
