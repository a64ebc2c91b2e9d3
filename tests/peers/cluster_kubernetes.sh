#!/usr/bin/env bash
# Validates examples/cluster/kubernetes.yaml and kubernetes_report.yaml against Kubernetes' schemas, and runs the exact
# commands of their containers for every index with cluster_kubernetes_job.py, which simulates the Job; the cases of
# cluster_cases.sh. No cluster is needed or tested.
#
#   tests/peers/cluster_kubernetes.sh [--install] [--keep FOLDER] IMGPIPE
#
# Needs python3-yaml; exits with 77 if it is missing. The schemas come from PyPI's kubernetes-validate, which --install
# installs into a virtual environment for this run. Without it, validation is skipped with a message.
set -euo pipefail
. "$(dirname "$0")/cluster_cases.sh"
engine='Kubernetes'
files=(kubernetes.yaml kubernetes_report.yaml)
here=$(realpath "$(dirname "$0")")
begin "$@"
if ((install)); then
  install_peers python3-yaml python3-venv
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install -q kubernetes-validate
  PATH=$PATH:$work/venv/bin
fi
need python3
python3 -c 'import yaml' 2>/dev/null || { echo 'SKIPPED: python3-yaml is missing'; exit 77; }
engine_line() { echo 'its Job played here'; }
run_example() {
  local code=0
  python3 "$here/cluster_kubernetes_job.py" kubernetes.yaml || code=$?
  python3 "$here/cluster_kubernetes_job.py" kubernetes_report.yaml || code=$?
  return "$code"
}
if command -v kubernetes-validate >/dev/null; then
  for file in "${files[@]}"; do
    expect "$file by its schema" yes "$(kubernetes-validate --strict --quiet "$examples/$file" && echo yes)"
    # The validation must be able to fail.
    sed 's/restartPolicy/restartPolice/' "$examples/$file" >"$work/wrong.yaml"
    expect "$file with a wrong key" 'not 0' \
      "$(kubernetes-validate --strict --quiet "$work/wrong.yaml" >/dev/null 2>&1 && echo 0 || echo 'not 0')"
  done
else
  echo 'no kubernetes-validate: not held against the schemas (try --install)'
fi
killed_status=0  # a killed pod runs again
run_cases
