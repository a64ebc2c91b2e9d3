#!/usr/bin/env bash
# Runs examples/cluster/parallel.sh with GNU parallel: the cases of cluster_cases.sh.
#
#   tests/peers/cluster_parallel.sh [--install] [--keep FOLDER] IMGPIPE
#
# --install installs it (Debian, Ubuntu). Exits with 77 if it is missing. --keep leaves all files in FOLDER.
set -euo pipefail
. "$(dirname "$0")/cluster_cases.sh"
engine='GNU parallel'
files=(parallel.sh)
begin "$@"
((!install)) || install_peers parallel
need parallel
engine_line() { parallel --version | sed 1q; }
run_example() { ./parallel.sh --will-cite; }
run_cases
# Two jobs at a time, with the line for several GPUs: each job's slot selects its device.
folder=$(new_case gpus)
sed -i "s/^jobs=1 /jobs=2 /; s/^#options+=/options+=/" "$folder/parallel.sh"
ln -sf /bin/echo "$work/bin/imgpipe"
(cd "$folder" && ./parallel.sh --will-cite) >"$folder/messages.txt"
expect 'devices of two slots' 'cuda:0 cuda:1' "$(grep -o 'cuda:[0-9]*' "$folder/messages.txt" | sort -u | paste -sd' ')"
((!failed)) || exit 1
