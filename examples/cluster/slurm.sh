#!/usr/bin/env bash
# Slurm: sends array.sbatch, waits for its tasks, and says what they came to. Arguments go to sbatch. In the folder
# that holds in/:
#
#   ./slurm.sh --partition=fast
#
# Ends with 0 only where every image is done. Run again, it does only what is left.
set -euo pipefail
reports=reports   # as in array.sbatch

code=0
sbatch --wait "$@" "$(dirname "$0")/array.sbatch" || code=$?
imgpipe report "$reports"/*.ndjson || code=$?
exit "$code"
