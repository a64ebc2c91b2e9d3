#!/usr/bin/env bash
# HyperQueue: a folder in parts, a task for each. Its server and workers run (hq server start; on nodes hq worker start,
# or hq alloc add slurm). Copy it to the folder that holds in/, and there:
#
#   hq submit --wait hyperqueue.sh; imgpipe report reports/*.ndjson
#
# Both end with 0 only where every image is done. A task whose worker is lost runs again, and does only what is left;
# so does the same command. hq reads the lines that begin with #HQ:
#HQ --name=imgpipe
#HQ --array=1-8
#HQ --cpus=4
# A GPU for each task: take one # away, and say --device cuda among the options.
##HQ --resource gpus/nvidia=1
set -euo pipefail

shards=8          # as many as --array has above
input=in          # on a file system that all workers see, as the others
output=out
reports=reports   # of each task a file: a line an image
options=(--recursive --format png --threads 4)   # as many as --cpus has

mkdir -p "$reports"
exec imgpipe "$input" "$output" "${options[@]}" --quiet --skip-existing \
  --shard "$HQ_TASK_ID/$shards" --report "$reports/$HQ_TASK_ID-of-$shards.ndjson"
