#!/usr/bin/env bash
# HyperQueue: splits a directory into shards, with a task for each. Start a server and workers first (hq server start;
# on nodes hq worker start, or hq alloc add slurm). Copy it to the directory that contains in/, and run there:
#
#   hq submit --wait hyperqueue.sh; imgpipe report reports/*.ndjson
#
# Both exit with 0 only if every image is done. If a worker is lost, its task runs again and only does what is left; so
# does the whole command. hq reads the lines that begin with #HQ:
#HQ --name=imgpipe
#HQ --array=1-8
#HQ --cpus=4
# For one GPU per task, remove one # here and add --device cuda to the options.
##HQ --resource gpus/nvidia=1
set -euo pipefail

shards=8          # as in --array above
input=in          # on a file system that all workers see, like the others
output=out
reports=reports   # one file per task with a line per image
options=(--recursive --format png --threads 4)   # threads as in --cpus

mkdir -p "$reports"
exec imgpipe "$input" "$output" "${options[@]}" --quiet --skip-existing \
  --shard "$HQ_TASK_ID/$shards" --report "$reports/$HQ_TASK_ID-of-$shards.ndjson"
