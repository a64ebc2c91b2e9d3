#!/usr/bin/env bash
# Compares devices for a directory of 8 MP JPEGs in memory: cpu, one GPU, every GPU, auto; in turns.
#
#   tests/peers/batch_devices.sh IMGPIPE [IMAGES [ROUNDS [FORMAT]]]
#
# Calibrates first (imgpipe devices --calibrate). Prints images/s of every round, each device's median, and the shares
# of the time in the last round. Needs a GPU, and space in /dev/shm for the images and their results.
set -euo pipefail
imgpipe=$(realpath "${1:?batch_devices.sh: name the imgpipe program}")
images=${2:-500}
rounds=${3:-5}
format=${4:-png}
work=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
mkdir "$work/in" "$work/made"
seq 100 | xargs -P "$(nproc)" -I{} "$imgpipe" synth "$work/made/{}.jpg" --pattern photo --size 3264x2448 --seed {} -q
for ((i = 0; i < images; i++)); do ln "$work/made/$((i % 100 + 1)).jpg" "$work/in/$i.jpg"; done
devices="cpu cuda:0 auto"
[ "$(nvidia-smi --list-gpus | wc -l)" -gt 1 ] && devices="cpu cuda:0 cuda auto"
run() { # DEVICE: images/s
  rm -rf "$work/out"
  "$imgpipe" "$work/in" "$work/out" --format "$format" --device "$1" --report "$work/$1.json" >"$work/$1.txt"
  python3 -c "import json, sys; print('%.1f' % json.load(open(sys.argv[1]))['images_per_s'])" "$work/$1.json"
}
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c
echo "$(nproc) processors, $(date -u +%F), $images images of 3264x2448 to $format"
"$imgpipe" devices --calibrate
for ((round = 1; round <= rounds; round++)); do
  line="round $round:"
  for device in $devices; do
    rate=$(run "$device")
    echo "$rate" >>"$work/$device.rates"
    line+=" $device $rate"
  done
  echo "$line"
done
for device in $devices; do
  echo "== $device: median $(sort -n "$work/$device.rates" | sed -n "$(((rounds + 1) / 2))p") images/s"
  cat "$work/$device.txt"
done
