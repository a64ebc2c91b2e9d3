#!/usr/bin/env python3
"""Simulates a Kubernetes Job on this machine: runs its container's command for every index.

    cluster_kubernetes_job.py FILE.yaml     exit 1 if the Job would be Failed; 77: python3-yaml is missing

Uses completions, backoffLimitPerIndex or backoffLimit, the exit codes of podFailurePolicy, and env, command and args of
the only container, in which $(NAME) is the variable NAME. The working directory is the current one. The indices run one
after the other, and are retried like in Kubernetes. The exit status of a killed command is 128 plus the signal, like a
container's.
"""
import os
import re
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("SKIPPED: python3-yaml is missing")
    sys.exit(77)


def action_for(status, spec, container):
    """The policy's action for a pod with this exit status; Count: it is run again, up to the limit."""
    for rule in spec.get("podFailurePolicy", {}).get("rules", []):
        codes = rule.get("onExitCodes")
        if codes and codes.get("containerName", container["name"]) == container["name"] and \
                (status in codes["values"]) == (codes["operator"] == "In"):
            return rule["action"]
    return "Count"


def run_pod(container, index):
    """Runs the pod and returns its exit status."""
    variables = {entry["name"]: entry["value"] for entry in container.get("env", [])}
    if index is not None:
        variables["JOB_COMPLETION_INDEX"] = str(index)
    words = [re.sub(r"\$\((\w+)\)", lambda name: variables.get(name[1], name[0]), word)
             for word in container["command"] + container.get("args", [])]
    status = subprocess.run(words, env={**os.environ, **variables}, check=False).returncode
    return 128 - status if status < 0 else status


def run_index(spec, container, index):
    """Whether the index succeeds. Raises SystemExit if the policy makes the whole Job fail."""
    tries = 1 + spec.get("backoffLimitPerIndex", spec.get("backoffLimit", 6))
    while tries > 0:
        status = run_pod(container, index)
        if status == 0:
            return True
        action = action_for(status, spec, container)
        print(f"index {index}: exit status {status}: {action}", flush=True)
        if action == "FailJob":
            raise SystemExit(1)
        if action == "FailIndex":
            return False
        tries -= action == "Count"
    return False


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as file:
        job = yaml.safe_load(file)
    spec = job["spec"]
    [container] = spec["template"]["spec"]["containers"]
    indexed = spec.get("completionMode") == "Indexed"
    assert job["kind"] == "Job" and spec["template"]["spec"]["restartPolicy"] == "Never", job
    results = [run_index(spec, container, index if indexed else None) for index in range(spec.get("completions", 1))]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
