#!/usr/bin/env bash
# An object store (S3, GCS, Azure and others, by rclone): one part of a bucket's images. They are copied to this
# machine's disk, worked on, and their outputs copied back, some at a time. In an array's task, a pod or by hand:
#
#   ./object_store.sh 3/8
#   rclone copy REPORTS reports && imgpipe report reports/*.ndjson   # once all parts have ended
#
# Ends with 0 only where all images of the part are done. Run again, it does those that have no output in the bucket.
# The reports tell of images that a part came to; of a part that was killed or has not run, its exit status tells.
# SIGTERM (a machine that is reclaimed, a pod that is drained) ends imgpipe, copies what is done, and exits with 143.
# Names must not hold " -> " or a line break.
set -euo pipefail

input=bucket:images/in    # remotes of rclone (rclone config)
output=bucket:images/out
reports=bucket:images/reports   # REPORTS above
kinds='*.{jpg,jpeg,png,tif,tiff}'
options=(--recursive --format png)
at_once=500               # images on this machine's disk; what a killed part does again at most

shard=$1
work=$(mktemp -d)         # in TMPDIR: a disk of this machine
trap 'rm -rf "$work"' EXIT
# Bash waits for rclone before it runs a trap; imgpipe gets the signal at once, and ends within two seconds.
child='' stopped=0
trap 'stopped=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null || true' TERM
cd "$work"
mkdir in
rclone lsf --recursive --files-only --ignore-case --include "$kinds" "$input" >names
code=0
rclone lsf --recursive --files-only "$output" >there || code=$?
((code == 0 || code == 3)) || exit "$code" # 3: there is no such folder, and so no output yet
# imgpipe says which of the names are this part's, and what their outputs are called.
imgpipe in out "${options[@]}" --files-from names --shard "$shard" --dry-run |
  awk -F ' -> ' 'FILENAME == "there" { there["out/" $0]; next }
    NF == 2 && !($2 in there) { print substr($1, 4) }' there - >todo
split --lines="$at_once" --numeric-suffixes --suffix-length=6 todo todo.
code=0
for list in todo.*; do
  [ -e "$list" ] || break # none is left
  ((!stopped)) || exit 143
  rclone copy --files-from-raw "$list" "$input" in
  report=${shard/\//-of-}-$(date +%s)-${list#todo.}.ndjson
  imgpipe in out "${options[@]}" --files-from "$list" --quiet --report "$report" &
  child=$!
  ((!stopped)) || kill -TERM "$child" # it came before there was a child
  ended=0
  wait "$child" || ended=$?
  while kill -0 "$child" 2>/dev/null; do # the trap has interrupted wait
    ended=0
    wait "$child" || ended=$?
  done
  child=''
  # 1: an image has failed; more: it was ended midway.
  ((ended <= 1 || stopped)) || exit "$ended"
  ((ended != 1)) || code=1
  if [ -d out ]; then rclone copy out "$output"; fi
  rclone copyto "$report" "$reports/$report"
  ((!stopped)) || exit 143
  rm -rf in out && mkdir in
done
exit "$code"
