#!/usr/bin/env bash
# Measures the gain from more GPUs for a batch that is limited by GPUs: grey PGMs of 47 MP in memory, smoothed many
# times.
#
#   tests/peers/scale_gpus.sh IMGPIPE [SMOOTHINGS [IMAGES [ROUNDS]]]
#
# One GPU and all of them, in turns; prints images/s of each, the factor, and the shares of the time. Needs a machine
# with two GPUs or more, and space in /dev/shm for the images and their results.
set -euo pipefail
imgpipe=$(realpath "${1:?scale_gpus.sh: name the imgpipe program}")
smoothings=${2:-600}
images=${3:-300}
rounds=${4:-3}
work=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work"' EXIT
mkdir "$work/in"
seq 8 | xargs -P 8 -I{} "$imgpipe" synth "$work/{}.pgm" --pattern photo --size 8773x5352 --channels 1 --seed {} -q
for ((i = 0; i < images; i++)); do ln "$work/$((i % 8 + 1)).pgm" "$work/in/$i.pgm"; done
stages() { printf smooth; printf ',smooth%.0s' $(seq 2 "$1"); }
run() { # DEVICE: images/s
  rm -rf "$work/out"
  "$imgpipe" "$work/in" "$work/out" --stages "$(stages "$smoothings")" --device "$1" \
    --report "$work/$1.json" >"$work/$1.txt"
  python3 -c "import json, sys; print('%.1f' % json.load(open(sys.argv[1]))['images_per_s'])" "$work/$1.json"
}
nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c
echo "$(nproc) processors, $(date -u +%F), $images images of 8773x5352 grey, $smoothings smoothings"
for ((round = 1; round <= rounds; round++)); do
  one=$(run cuda:0)
  all=$(run cuda)
  echo "round $round: one GPU $one images/s, all $all, factor $(awk "BEGIN { printf \"%.2f\", $all / $one }")"
done
echo "== one GPU"; cat "$work/cuda:0.txt"
echo "== all"; cat "$work/cuda.txt"
rm -rf "$work/out"
echo "== the trace of a run with 20 smoothings on one GPU"
"$imgpipe" "$work/in" "$work/out" --stages "$(stages 20)" --device cuda:0 --trace "$work/trace.json" -q
python3 "$(dirname "$0")/../checks/trace_overlap.py" "$work/trace.json" --device-bound
