"""Processes a directory in parts by Ray's tasks, then prints the summary of all parts.

    ray_directory.py INPUT OUTPUT [PARTS]     exit code 0 only if every image is done

Every node needs the program imgpipe, and sees both directories. A killed part begins again and processes the rest; so
does the whole command. RAY_ADDRESS names a cluster.
"""
import pathlib
import subprocess
import sys

import ray

OPTIONS = ["--recursive", "--format", "png", "--stages", "resize:longest=1024", "--skip-existing", "--quiet"]
LIMITS = ["--threads", "1", "--memory", "1G"]  # as in ray.remote below: Ray does not limit child processes


@ray.remote(num_cpus=1, memory=2**30, max_retries=3, retry_exceptions=True)
def process(part, parts, source, target):
    """Runs a part. An exit code above 1 raises, so that Ray tries again; 1 means that images failed."""
    # The kernel ends the program together with its worker, which another worker's attempt then replaces.
    command = ["setpriv", "--pdeathsig", "TERM", "imgpipe", source, target, *OPTIONS, *LIMITS,
               "--shard", f"{part}/{parts}", "--report", f"{target}.reports/{part}-of-{parts}.ndjson"]
    code = subprocess.run(command).returncode
    if code not in (0, 1):
        raise RuntimeError(f"part {part} of {parts}: exit code {code}")
    return code


def main(source, target, parts="8"):
    source, target = (str(pathlib.Path(path).resolve()) for path in (source, target))  # tasks run in other directories
    pathlib.Path(f"{target}.reports").mkdir(exist_ok=True)
    ray.init()
    tasks = [process.remote(part, parts, source, target) for part in range(1, int(parts) + 1)]
    for task in tasks:
        try:
            ray.get(task)
        except ray.exceptions.RayError as error:  # the other parts continue, and the summary decides
            print(error, file=sys.stderr)
    reports = sorted(map(str, pathlib.Path(f"{target}.reports").glob("*.ndjson")))
    return subprocess.run(["imgpipe", "report", *reports]).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
