#!/usr/bin/env bash
# GNU parallel: a folder in parts, on this machine or several by SSH. Copy it to the folder that holds in/, and there:
#
#   ./parallel.sh
#   ./parallel.sh --sshlogin :,node1,node2 --workdir .   # one file system; imgpipe in the PATH of each
#
# Ends with 0 only where every image is done. Run again, it does only what is left. One machine without GPUs needs
# none of this: imgpipe by itself uses all its processors.
set -euo pipefail

shards=8          # parts; more than machines, so that a slow one takes fewer
jobs=1            # at a time on each machine; one a GPU
input=in          # on a file system that all machines see, as the others
output=out
reports=reports   # of each part a file: a line an image
options=(--recursive --format png)
# A GPU for each job, by the number of its slot, from 1:
#options+=(--device 'cuda:{= $_ = slot() - 1 =}')

mkdir -p "$reports"
code=0
seq "$shards" | parallel --jobs "$jobs" "$@" --quote \
  imgpipe "$input" "$output" "${options[@]}" --quiet --skip-existing \
  --shard "{}/$shards" --report "$reports/{}-of-$shards.ndjson" || code=$?
imgpipe report "$reports"/*.ndjson || code=$?
exit "$code"
