#!/usr/bin/env bash
# Checks the scripts of examples/cluster/ without their engines: bash parses them, shellcheck (if installed) reports
# nothing, every file explains how to request a GPU, resumes, and writes a report, and repeated numbers agree.
#
#   tests/checks/examples.sh     exit 1 and a line for each problem
set -euo pipefail
cd "$(dirname "$0")/../../examples/cluster"
wrong=0
complain() {
  echo "examples: $*"
  wrong=1
}
scripts=(*.sh *.sbatch)
((${#scripts[@]} >= 5)) || complain "only ${scripts[*]} in examples/cluster"
for script in "${scripts[@]}"; do
  bash -n "$script" || complain "$script: bash cannot read it"
  [[ $script == *.sbatch || -x $script ]] || complain "$script: is not executable"
done
if command -v shellcheck >/dev/null; then
  shellcheck "${scripts[@]}" || complain 'shellcheck found something'
else
  echo 'examples: no shellcheck, its part is left out'
fi
for file in array.sbatch kubernetes.yaml Snakefile main.nf parallel.sh hyperqueue.sh; do
  grep -qiE 'gpu' "$file" || complain "$file: does not say how a GPU is asked for"
  grep -q -- '--skip-existing' "$file" || complain "$file: would do again what is done"
  grep -q -- '--report' "$file" || complain "$file: writes no report"
done
# Numbers that appear twice in a file must be equal.
pairs() { # FILE FIRST SECOND: expressions of sed that give a number each
  local first second
  first=$(sed -nE "$2" "$1") second=$(sed -nE "$3" "$1")
  [[ -n $first && $first == "$second" ]] || complain "$1: $first and $second parts"
}
pairs array.sbatch 's/^#SBATCH --array=1-([0-9]+)$/\1/p' 's/^shards=([0-9]+) .*/\1/p'
pairs hyperqueue.sh 's/^#HQ --array=1-([0-9]+)$/\1/p' 's/^shards=([0-9]+) .*/\1/p'
pairs kubernetes.yaml 's/^  completions: ([0-9]+) .*/\1/p' 's/.*name: SHARDS, value: "([0-9]+)".*/\1/p'
((!wrong)) && echo "examples: ${#scripts[@]} scripts and 3 workflows are in order"
exit "$wrong"
