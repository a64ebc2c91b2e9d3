#!/usr/bin/env bash
# Kills a batch at random moments and runs it again: no output is lost, no temporary file left.
#
#   tests/checks/kill.sh IMGPIPE [KILLS [SEED]]      200 kills, seed 1
#
# 300 images. Each round kills (SIGKILL) the batch at a moment within the duration of an undisturbed run, runs it again
# with --skip-existing, and compares every output with the undisturbed run's. No other file may remain.
set -euo pipefail
imgpipe=$(realpath "${1:?kill.sh: name the imgpipe program}")
kills=${2:-200}
RANDOM=${3:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/in"
for ((i = 0; i < 300; i++)); do
  echo "$i $((200 + i % 17 * 20))x$((150 + i % 13 * 20)) $(printf 'jpg\npng\nppm\n' | sed -n "$((i % 3 + 1))p")"
done | xargs -P "$(nproc)" -L 1 \
  sh -c '"$0" synth "$1/in/$2.$4" --pattern photo --size "$3" --seed "$2" -q' "$imgpipe" "$work"
begin=${EPOCHREALTIME/./}
"$imgpipe" "$work/in" "$work/whole" -q
undisturbed=$((${EPOCHREALTIME/./} - begin))
echo "undisturbed: $(ls -A "$work/whole" | wc -l) outputs in $((undisturbed / 1000)) ms"
early=0 midway=0 late=0 stray=0
for ((i = 1; i <= kills; i++)); do
  rm -rf "$work/out"
  "$imgpipe" "$work/in" "$work/out" -q --jobs $((1 + RANDOM % 4)) &
  pid=$!
  sleep "$(awk "BEGIN { printf \"%.6f\", $((RANDOM * 32768 + RANDOM)) / 2^30 * $undisturbed / 1e6 }")"
  kill -9 "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  mkdir -p "$work/out" # killed before it could
  there=$(find "$work/out" -type f ! -name '.*' | wc -l)
  stray=$((stray + $(find "$work/out" -name '.*.imgpipe-*' | wc -l)))
  case $there in 0) early=$((early + 1)) ;; 300) late=$((late + 1)) ;; *) midway=$((midway + 1)) ;; esac
  "$imgpipe" "$work/in" "$work/out" -q --skip-existing
  diff -r "$work/whole" "$work/out" || { echo "kill.sh: kill $i left something wrong"; exit 1; }
done
echo "$kills kills: $early before the first output, $midway midway, $late after the last;" \
  "$stray temporary files left by them and removed"
echo "every time all outputs equal to the undisturbed run's, and nothing else there"
((midway > kills / 4)) || { echo "kill.sh: too few of the kills came midway"; exit 1; }
