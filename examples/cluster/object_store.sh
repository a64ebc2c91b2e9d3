#!/usr/bin/env bash
# An object store (S3, GCS, Azure and others, by rclone): one part of a bucket's images. They are copied to this
# machine's disk, worked on, and their outputs copied back, some at a time. In an array's task, a pod or by hand:
#
#   ./object_store.sh 3/8
#   rclone copy REPORTS reports && imgpipe report reports/*.ndjson   # once all parts have ended
#
# Ends with 0 only where all images of the part are done. Run again, it does those that have no output in the bucket.
# The reports tell of images that a part came to; of a part that was killed or has not run, its exit status tells.
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
  rclone copy --files-from-raw "$list" "$input" in
  report=${shard/\//-of-}-$(date +%s)-${list#todo.}.ndjson
  imgpipe in out "${options[@]}" --files-from "$list" --quiet --report "$report" || code=$?
  ((code <= 1)) || exit "$code" # 1: an image has failed; else it was ended midway
  if [ -d out ]; then rclone copy out "$output"; fi
  rclone copyto "$report" "$reports/$report"
  rm -rf in out && mkdir in
done
exit "$code"
