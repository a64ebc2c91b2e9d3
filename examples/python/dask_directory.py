"""Processes a directory in parts on Dask's workers, then prints the summary of all parts.

    dask_directory.py INPUT OUTPUT [PARTS]     exit code 0 only if every image is done

Every worker needs the program imgpipe, and sees both directories. A killed part begins again and processes the rest; so
does the whole command. For a cluster, replace LocalCluster by its class.
"""
import pathlib
import subprocess
import sys

from dask.distributed import Client, LocalCluster

OPTIONS = ["--recursive", "--format", "png", "--stages", "resize:longest=1024", "--skip-existing", "--quiet"]
LIMITS = ["--threads", "1", "--memory", "1G"]  # of one worker: Dask does not see the memory of its child processes


def process(part, parts, source, target):
    """Runs a part. An exit code above 1 raises, so that Dask tries again; 1 means that images failed."""
    # The kernel ends the program together with its worker, which another worker's attempt then replaces.
    command = ["setpriv", "--pdeathsig", "TERM", "imgpipe", source, target, *OPTIONS, *LIMITS,
               "--shard", f"{part}/{parts}", "--report", f"{target}.reports/{part}-of-{parts}.ndjson"]
    code = subprocess.run(command).returncode
    if code not in (0, 1):
        raise RuntimeError(f"part {part} of {parts}: exit code {code}")
    return code


def main(source, target, parts="8"):
    target = target.rstrip("/")
    pathlib.Path(f"{target}.reports").mkdir(exist_ok=True)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        tasks = client.map(process, range(1, int(parts) + 1), parts=parts, source=source, target=target,
                           retries=3, pure=False)
        client.gather(tasks, errors="skip")  # the summary decides
    reports = sorted(map(str, pathlib.Path(f"{target}.reports").glob("*.ndjson")))
    return subprocess.run(["imgpipe", "report", *reports]).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
