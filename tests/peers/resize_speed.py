#!/usr/bin/env python3
"""Measures resizing of 12 MP, RGB, to 224 x 224 and 1024 x 1024: imgpipe, Pillow, Pillow-SIMD, torchvision, OpenCV.

    resize_speed.py SERVER [--rounds N] [--image FILE] [--python PYTHON]...

SERVER is build/release/tests/stage_server. Each PYTHON is the interpreter of an environment whose libraries compete
(default: the one that runs this script). Bicubic, but OpenCV's INTER_AREA. The runs alternate. The table has the
milliseconds per image, decoded, in memory: the median, the fastest, the fewest of all processors; and the share of
pixels that equal those of the first environment's Pillow. With two threads, Pillow resizes two images at once; the time
is half of theirs.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

SIDES = (224, 1024)
THREADS = (1, 2)


# ---- the libraries of an environment, in a separate process ----------------------------------------------------

def measured(call):
    """[wall, processor] milliseconds, and the result."""
    start = time.perf_counter(), time.process_time()
    result = call()
    return [(time.perf_counter() - start[0]) * 1e3, (time.process_time() - start[1]) * 1e3], result


def pillow_run(pixels):
    from PIL import Image  # pylint: disable=import-outside-toplevel
    image = Image.fromarray(pixels)
    pool = ThreadPoolExecutor(2)

    def resized(side):
        return image.resize((side, side), Image.BICUBIC)

    def run(side, threads):
        if threads == 1:
            return measured(lambda: resized(side))
        took, (first, _) = measured(lambda: list(pool.map(resized, (side, side))))
        return [part / 2 for part in took], first

    return run


def torchvision_run(pixels):
    import torch  # pylint: disable=import-outside-toplevel
    from torchvision.transforms import InterpolationMode  # pylint: disable=import-outside-toplevel
    from torchvision.transforms.v2 import functional  # pylint: disable=import-outside-toplevel
    # Its fast path for 8 bits needs channels last in memory.
    image = torch.from_numpy(pixels).permute(2, 0, 1).unsqueeze(0)

    def run(side, threads):
        torch.set_num_threads(threads)
        took, made = measured(lambda: functional.resize(image, [side, side], InterpolationMode.BICUBIC,
                                                            antialias=True))
        return took, made[0].permute(1, 2, 0).numpy()

    return run


def opencv_run(pixels):
    import cv2  # pylint: disable=import-outside-toplevel

    def run(side, threads):
        cv2.setNumThreads(threads)
        return measured(lambda: cv2.resize(pixels, (side, side), interpolation=cv2.INTER_AREA))

    return run


def version_of(module):
    return __import__(module).__version__


CONTESTANTS = {"Pillow": ("PIL", pillow_run), "torchvision": ("torchvision", torchvision_run),
               "OpenCV INTER_AREA": ("cv2", opencv_run)}


def work(pixels_file):
    """Answers requests [contestant, side, threads, file or null] with [wall, processor] milliseconds."""
    pixels = np.load(pixels_file)
    runs = {}
    for name, (module, make) in CONTESTANTS.items():
        try:
            version = version_of(module)
            runs[f"{name} {version}" + ("-SIMD" if name == "Pillow" and "post" in version else "")] = make(pixels)
        except ImportError:
            pass
    print(json.dumps(list(runs)), flush=True)
    for line in sys.stdin:
        name, side, threads, file = json.loads(line)
        took, result = runs[name](side, threads)
        if file:
            np.save(file, np.asarray(result))
        print(json.dumps(took), flush=True)


class Environment:
    def __init__(self, python, pixels_file):
        self._process = subprocess.Popen([python, __file__, "--work", pixels_file], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        self.names = json.loads(self._process.stdout.readline())

    def run(self, name, side, threads, file=None):
        self._process.stdin.write(json.dumps([name, side, threads, file]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait()


# ---- the table -----------------------------------------------------------------------------------------------------

def test_image(file):
    if file:
        from PIL import Image  # pylint: disable=import-outside-toplevel
        with Image.open(file) as image:
            return np.asarray(image.convert("RGB"))
    y, x = np.mgrid[0:3000, 0:4000].astype(np.float32)
    shades = [127 + 100 * np.sin(x / (9 + c) + np.cos(y / 70)) * np.cos(y / (31 + c)) for c in range(3)]
    noise = np.random.Generator(np.random.PCG64(1)).integers(-20, 21, (3000, 4000, 3))
    return np.clip(np.stack(shades, -1) + noise, 0, 255).astype(np.uint8)


def equal_share(result, expected):
    return (result == expected).all(axis=-1).mean()


def contest(server, environments, rounds, directory):
    """Prints a table for each side and number of threads."""
    contestants = {"imgpipe": None}
    for environment in environments:
        contestants.update((name, environment) for name in environment.names)
    for side in SIDES:
        results = {}
        for name, environment in contestants.items():
            if environment is None:
                results[name] = server.run(f"resize:{side}:{side}:bicubic")
            else:
                file = os.path.join(directory, "result.npy")
                environment.run(name, side, 1, file)
                results[name] = np.load(file)
        expected = next(result for name, result in results.items() if name.startswith("Pillow"))
        for threads in THREADS:
            times = {name: [] for name in contestants}
            for _ in range(rounds):
                for name, environment in contestants.items():
                    times[name].append(
                        server.timed_run(f"resize:{side}:{side}:bicubic", threads=threads)[1] if environment is None
                        else environment.run(name, side, threads))
            print(f"\nto {side} x {side}, {threads} thread{'s' if threads > 1 else ''}: median ms, fastest ms, "
                  "processor ms, equal pixels")
            for name, taken in times.items():
                walls, processors = zip(*taken)
                print(f"{name:28} {statistics.median(walls):8.2f} {min(walls):8.2f} {min(processors):8.2f} "
                      f"{equal_share(results[name], expected):8.2%}", flush=True)


def main():
    if sys.argv[1:2] == ["--work"]:
        return work(sys.argv[2])
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--image")
    parser.add_argument("--python", action="append", default=[])
    options = parser.parse_args()
    from stage_server import StageServer  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as directory:
        pixels = test_image(options.image)
        file = os.path.join(directory, "image.npy")
        np.save(file, pixels)
        environments = [Environment(python, file) for python in options.python or [sys.executable]]
        server = StageServer(options.server)
        server.image(pixels)
        contest(server, environments, options.rounds, directory)
        for environment in environments:
            environment.close()
        server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
