#!/usr/bin/env python3
"""Submits a script to a local HyperQueue that it starts, as `hq submit --wait SCRIPT` would.

    cluster_hyperqueue.py SCRIPT     exit 1 if a task failed

Server and workers are those of PyPI's wheel, which lacks the program hq. So this script reads the lines #HQ that hq
would read (name, array and cpus), and rejects others. Tasks get HQ_TASK_ID from HyperQueue.
"""
import os
import re
import sys
import tempfile

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig
from hyperqueue.ffi.protocol import ResourceRequest


def directives(script):
    with open(script, encoding="utf-8") as file:
        found = dict(re.findall(r"^#HQ --(\w+)=(\S+)$", file.read(), re.MULTILINE))
    if set(found) != {"name", "array", "cpus"}:
        raise SystemExit(f"{script}: lines #HQ of {', '.join(found)}")
    return found


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    script = os.path.realpath(arguments[0])
    says = directives(script)
    first, last = map(int, says["array"].split("-"))
    job = Job(default_workdir=os.getcwd(), max_fails=None, name=says["name"])
    cpus = int(says["cpus"])
    for number in range(last + 1):  # task numbers begin with 0: those before the array do nothing
        job.program([script] if number >= first else ["true"], resources=ResourceRequest(cpus=cpus),
                    stdout=f"task-{number}.txt", stderr=f"task-{number}.err")
    # The worker claims twice as many processors as a task needs, whatever the machine has: two tasks at a time.
    with tempfile.TemporaryDirectory() as folder, LocalCluster(folder, WorkerConfig(cores=2 * cpus)) as cluster:
        client = cluster.client()
        submitted = client.submit(job)
        good = client.wait_for_jobs([submitted], raise_on_error=False)
        for number, failure in ({} if good else client.get_failed_tasks(submitted)).items():
            print(f"task {number}: {failure.error}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
