#!/usr/bin/env bash
# An object store (S3, GCS, Azure and others, through rclone): processes one part of a bucket's images. Copies them to a
# local disk in groups, processes them, and copies the outputs back. In an array task, in a pod or by hand:
#
#   ./object_store.sh 3/8
#   rclone copy REPORTS reports && imgpipe report reports/*.ndjson   # once all parts have ended
#
# Exits with 0 only if all images of the part are done. A second run processes images that have no output in the bucket.
# The reports list the images that a part reached. Only the exit status shows that a part was killed or did not run.
# SIGTERM (a reclaimed machine, a drained pod) ends imgpipe, copies the finished outputs, and exits with 143.
# Names must not contain " -> " or a line break.
set -euo pipefail

input=bucket:images/in    # rclone remotes (rclone config)
output=bucket:images/out
reports=bucket:images/reports   # REPORTS above
kinds='*.{jpg,jpeg,png,tif,tiff}'
options=(--recursive --format png)
at_once=500               # images on the local disk at once; a killed part repeats at most as many

shard=$1
work=$(mktemp -d)         # in TMPDIR, on a local disk
trap 'rm -rf "$work"' EXIT
# Bash runs a trap only after rclone ends. imgpipe gets the signal at once and ends within two seconds.
child='' stopped=0
trap 'stopped=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null || true' TERM
cd "$work"
mkdir in
rclone lsf --recursive --files-only --ignore-case --include "$kinds" "$input" >names
code=0
rclone lsf --recursive --files-only "$output" >there || code=$?
((code == 0 || code == 3)) || exit "$code" # 3: the directory does not exist, so there are no outputs yet
# imgpipe prints the names in this part and their outputs.
imgpipe in out "${options[@]}" --files-from names --shard "$shard" --dry-run |
  awk -F ' -> ' 'FILENAME == "there" { there["out/" $0]; next }
    NF == 2 && !($2 in there) { print substr($1, 4) }' there - >todo
split --lines="$at_once" --numeric-suffixes --suffix-length=6 todo todo.
code=0
for list in todo.*; do
  [ -e "$list" ] || break # nothing to do
  ((!stopped)) || exit 143
  rclone copy --files-from-raw "$list" "$input" in
  report=${shard/\//-of-}-$(date +%s)-${list#todo.}.ndjson
  imgpipe in out "${options[@]}" --files-from "$list" --quiet --report "$report" &
  child=$!
  ((!stopped)) || kill -TERM "$child" # the signal came before the child started
  ended=0
  wait "$child" || ended=$?
  while kill -0 "$child" 2>/dev/null; do # the trap interrupted wait
    ended=0
    wait "$child" || ended=$?
  done
  child=''
  # 1: an image failed; more: the run was aborted.
  ((ended <= 1 || stopped)) || exit "$ended"
  ((ended != 1)) || code=1
  if [ -d out ]; then rclone copy out "$output"; fi
  rclone copyto "$report" "$reports/$report"
  ((!stopped)) || exit 143
  rm -rf in out && mkdir in
done
exit "$code"
