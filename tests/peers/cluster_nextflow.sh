#!/usr/bin/env bash
# Runs the commands of examples/cluster/main.nf without Nextflow, which neither Debian nor PyPI has (its launcher
# downloads it elsewhere). Groovy parses the workflow and generates the scripts of its two processes. These run for
# every shard as Nextflow documents it: with bash -ue, and again if killed; the cases of cluster_cases.sh. Nextflow's
# own part is not tested: -resume, executors, directives, the order in the workflow block.
#
#   tests/peers/cluster_nextflow.sh [--install] [--keep FOLDER] IMGPIPE
#
# --install installs Groovy (Debian, Ubuntu). Exits with 77 if it is missing.
set -euo pipefail
. "$(dirname "$0")/cluster_cases.sh"
engine='Nextflow'
files=(main.nf)
here=$(realpath "$(dirname "$0")")
begin "$@"
((!install)) || install_peers groovy default-jre-headless
need groovy java
JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
export JAVA_HOME
engine_line() { echo "its scripts, by Groovy $(groovy --version 2>/dev/null | grep -o '[0-9][0-9.]*' | sed 1q)"; }
script_of() { # PROCESS NAME=VALUE...
  groovy "$here/cluster_nextflow_script.groovy" "$examples/main.nf" "$@" 2>"$work/groovy.txt" ||
    { cat "$work/groovy.txt" >&2 && exit 1; }
}
script_of SHARD shard=@SHARD@ input=@PLACE@/in output=@PLACE@/out reports=@PLACE@/reports task.cpus=2 >"$work/shard"
script_of SUMS reports=@PLACE@/reports >"$work/sums"
run_script() {  # in its own directory, like a task
  local place=$PWD folder
  folder=$(mktemp -d "$place/task.XXXXXX")
  sed "s#@PLACE@#$place#g; s#@SHARD@#$2#g" "$1" >"$folder/script"
  (cd "$folder" && bash -ue script)
}
run_example() {
  local shard code attempt
  for ((shard = 1; shard <= shards; shard++)); do
    for attempt in 1 2 3; do
      code=0
      run_script "$work/shard" "$shard" || code=$?
      ((code > 128 && attempt < 3)) || break
    done
    ((code == 0)) || return "$code"
  done
  run_script "$work/sums" 0
}
killed_status=0  # a killed task runs again
run_cases
