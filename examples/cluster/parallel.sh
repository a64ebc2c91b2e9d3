#!/usr/bin/env bash
# GNU parallel: splits a directory into shards, on this machine or several through SSH. Copy it to the directory that
# contains in/, and run there:
#
#   ./parallel.sh
#   ./parallel.sh --sshlogin :,node1,node2 --workdir .   # shared file system; imgpipe in PATH on each
#
# Exits with 0 only if every image is done. A second run only does what is left. A single machine without GPUs does not
# need this script: imgpipe alone uses all its processors.
set -euo pipefail

shards=8          # more than machines, so that a slow one takes fewer
jobs=1            # per machine; with GPUs one per GPU
input=in          # on a file system that all machines see, like the others
output=out
reports=reports   # one file per shard with a line per image
options=(--recursive --format png)
# One GPU per job, selected by its slot number (from 1):
#options+=(--device 'cuda:{= $_ = slot() - 1 =}')

mkdir -p "$reports"
code=0
seq "$shards" | parallel --jobs "$jobs" "$@" --quote \
  imgpipe "$input" "$output" "${options[@]}" --quiet --skip-existing \
  --shard "{}/$shards" --report "$reports/{}-of-$shards.ndjson" || code=$?
imgpipe report "$reports"/*.ndjson || code=$?
exit "$code"
