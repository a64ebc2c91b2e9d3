#!/usr/bin/env bash
# Measures time and disk of ./run demo on a fresh machine without CUDA: clones HEAD, runs it there without a compiler
# cache, and prints the sentence about it in README.md.
#
#   demo_cost.sh [--write]    --write replaces the sentence in README.md
#
# The packages must be installed, and nothing else should run.
set -euo pipefail
cd "$(dirname "$0")/../.."
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git clone -q --depth 1 "file://$PWD" "$clone/imgpipe"
demo() {
  cd "$clone/imgpipe"
  clean=(env -i PATH=/usr/bin:/bin HOME="$clone" CCACHE_DISABLE=1)
  "${clean[@]}" cmake --preset release -DIMGPIPE_CUDA=OFF &&  # kept when run configures again
    "${clean[@]}" ./run demo
}
begun=$EPOCHREALTIME
(demo) >"$clone/log" 2>&1 || { cat "$clone/log" >&2; exit 1; }
wall=$(awk "BEGIN { print $EPOCHREALTIME - $begun }")
times >"$clone/times"  # of the children, in its second line
cpu=$(awk -F '[ms ]+' 'NR == 2 { print $1 * 60 + $2 + $3 * 60 + $4 }' "$clone/times")
sentence=$(awk -v wall="$wall" -v cpu="$cpu" -v cores="$(nproc)" \
  -v gcc="$(g++ -dumpfullversion)" -v date="$(date +%F)" -v all="$(du -sm "$clone/imgpipe" | cut -f1)" \
  -v build="$(du -sm "$clone/imgpipe/build" | cut -f1)" 'BEGIN {
    printf "`./run demo` without CUDA takes %.1f minutes of processor time ", cpu / 60
    printf "(%.1f on %d processors, no cache, GCC %s,\n", wall / 60, cores, gcc
    printf "%s) and %d MB of disk, of which %d are the build.", date, all, build }')
printf '%s\n' "$sentence"
if [ "${1:-}" = --write ]; then
  export sentence
  perl -0pi -e 's/`\.\/run demo` without CUDA takes .*? are the build\./$ENV{sentence}/s or die' README.md
fi
