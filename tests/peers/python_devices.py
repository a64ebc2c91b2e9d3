#!/usr/bin/env python3
"""JPEGs in memory to normalised 224 x 224 float16 tensors on a CUDA device: imgpipe, torchvision, nvImageCodec.

    python_devices.py [--sets small,large] [--batches 64,256,1024] [--only TEXT] [--seconds N] [--small N] [--large N]

small: 5,000 images of 500 x 375; large: 2,000 of 3264 x 2448; both from a few hundred different synthetic photographs.
Every contestant runs in a new process, which makes a CUDA context, then waits for the parent to note the memory in
use. Prints images per second (median of whole passes), the share of values equal to Pillow's pixels normalised as
torchvision does, the largest difference in levels, and the most device memory beyond the context and one batch of
results. Exit code 0: imgpipe's values all equal Pillow's; 1: they differ, or it failed; 77: no torch or no device.
"""
import argparse
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SETS = {"small": (500, 375, 300, 5000), "large": (3264, 2448, 48, 2000)}  # width, height, different ones, images


class DeviceMemory:
    """Samples the memory in use on device 0."""

    def __init__(self):
        import pynvml
        pynvml.nvmlInit()
        self.query = lambda handle=pynvml.nvmlDeviceGetHandleByIndex(0): pynvml.nvmlDeviceGetMemoryInfo(handle).used
        self.most, self.running = 0, True
        threading.Thread(target=self.sample, daemon=True).start()

    def sample(self):
        while self.running:
            self.most = max(self.most, self.query())
            time.sleep(0.005)


def run_contestant(options):
    """The child: prints a line when its context exists, and a line of results after its runs."""
    import torch
    from device_contestants import CONTESTANTS, check
    with open(f"{options.work}/{options.set}.pickle", "rb") as file:
        different, expected = pickle.load(file)
    files = [different[i % len(different)] for i in range(options.count)]
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    print("ready", flush=True)
    sys.stdin.readline()
    make = CONTESTANTS[options.contestant]
    tensors = make(files, options.batch)
    for number, _ in enumerate(tensors()):  # warm-up
        if number == 4:
            break
    torch.cuda.synchronize()
    seconds = []
    while not seconds or (sum(seconds) < options.seconds and len(seconds) < 9):
        start = time.perf_counter()
        done = sum(len(tensor) for tensor in tensors())
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
        assert done == len(files), f"{done} of {len(files)} images"
    print("measured", flush=True)
    sys.stdin.readline()
    equal, largest = check(make, different, expected, options.batch)
    rates = [len(files) / each for each in seconds]
    print(json.dumps({"rates": rates, "equal": equal, "largest": largest}), flush=True)
    os._exit(0)  # without waiting for workers


def measure(work, kind, contestant, batch, options):
    """The results of one contestant, with `memory`, or `error`."""
    command = [sys.executable, __file__, "--contestant", contestant, "--set", kind, "--work", work,
               "--batch", str(batch), "--count", str(getattr(options, kind)), "--seconds", str(options.seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as child:
        timer = threading.Timer(options.limit, child.kill)
        timer.start()
        try:
            assert child.stdout.readline() == "ready\n"
            memory = DeviceMemory()
            before = memory.query()
            memory.most = before
            child.stdin.write("\n")
            child.stdin.flush()
            assert child.stdout.readline() == "measured\n"
            memory.running = False
            child.stdin.write("\n")
            child.stdin.flush()
            found = json.loads(child.stdout.readline())
            found["memory"] = memory.most - before - batch * 3 * 224 * 224 * 2
            return found
        except (AssertionError, BrokenPipeError, json.JSONDecodeError):
            child.kill()
            lines = child.stderr.read().strip().splitlines()
            return {"error": lines[-1][:200] if lines else f"not done in {options.limit} s"}
        finally:
            timer.cancel()


def make_sets(work, options):
    import photo_jpegs
    import numpy as np
    for kind in options.sets.split(","):
        width, height, different, _ = SETS[kind]
        start = time.perf_counter()
        files = photo_jpegs.jpegs(width, height, min(different, getattr(options, kind)))
        expected = np.stack([photo_jpegs.normalised(photo_jpegs.pillow_pixels(file)) for file in files])
        with open(f"{work}/{kind}.pickle", "wb") as file:
            pickle.dump((files, expected), file)
        size = sum(map(len, files)) / len(files) / 1000
        print(f"{kind}: {getattr(options, kind)} images of {width} x {height} from {len(files)} different ones of "
              f"{size:.0f} kB (made in {time.perf_counter() - start:.0f} s)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="small,large")
    parser.add_argument("--batches", default="256", help="sizes for imgpipe; the others use the first")
    parser.add_argument("--only", default="", help="contestants whose name has this text")
    parser.add_argument("--seconds", type=float, default=3, help="of whole passes for each contestant")
    parser.add_argument("--limit", type=float, default=60, help="seconds after which a contestant is ended")
    for kind, (_, _, _, count) in SETS.items():
        parser.add_argument(f"--{kind}", type=int, default=count)
    for name in ("contestant", "set", "work", "batch", "count"):
        parser.add_argument(f"--{name}", type=str if name in ("contestant", "set", "work") else int,
                            help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant:
        run_contestant(options)
    try:
        import torch
        from device_contestants import CONTESTANTS
        import imgpipe
    except ImportError as error:
        print(f"SKIPPED: {error}")
        return 77
    if not torch.cuda.is_available():
        print("SKIPPED: torch finds no CUDA device")
        return 77
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, imgpipe {imgpipe.__version__}, "
          f"{len(os.sched_getaffinity(0))} processors")
    batches = list(map(int, options.batches.split(",")))
    equal = True
    with tempfile.TemporaryDirectory(dir="/dev/shm") as work:
        make_sets(work, options)
        for kind in options.sets.split(","):
            for contestant in CONTESTANTS:
                if options.only not in contestant:
                    continue
                ours = contestant.startswith("imgpipe")
                for batch in batches if ours else batches[:1]:
                    found = measure(work, kind, contestant, batch, options)
                    label = f"{kind:6} {contestant:37} batch {batch:4}"
                    if "error" in found:
                        print(f"{label} FAILED: {found['error']}", flush=True)
                        equal = equal and not ours
                        continue
                    equal = equal and (not ours or found["equal"] == 1)
                    print(f"{label} {statistics.median(found['rates']):8.0f} images/s ({min(found['rates']):.0f} to "
                          f"{max(found['rates']):.0f})   equal {100 * found['equal']:7.3f} %   largest difference "
                          f"{found['largest']:5.1f}   {found['memory'] / (1 << 20):6.0f} MiB", flush=True)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
