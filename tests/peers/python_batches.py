#!/usr/bin/env python3
"""JPEGs to 224 x 224 batches on the CPU: imgpipe against Pillow, OpenCV, torchvision and simplejpeg.

    python_batches.py [--images N] [--rounds N] [--threads 1,N] [--size WxH] [--photos DIRECTORY]

Every contestant makes one uint8 array N x 224 x 224 x 3 from bytes and from paths, in turns, with one thread and with
several. Prints medians of images per second and of CPU time per image, and the share of values equal to Pillow's.
The ratio compares with the best contestant whose pixels all equal Pillow's. Skips libraries that are not installed.
"""
import argparse
import concurrent.futures
import importlib
import io
import os
import pathlib
import statistics
import sys
import tempfile
import time

try:
    import imgpipe
    import numpy as np
    from PIL import Image
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

import photo_jpegs
from photo_jpegs import SIDE, STAGES


def content(source):
    return source if isinstance(source, bytes) else pathlib.Path(source).read_bytes()


def with_pillow(source, row):
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    row[...] = Image.open(file).convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)


def with_pillow_draft(source, row):
    """Pillow decodes at a half, a quarter or an eighth of the size if the image stays larger than the result."""
    image = Image.open(io.BytesIO(source) if isinstance(source, bytes) else source)
    image.draft("RGB", (SIDE, SIDE))
    row[...] = image.convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)


def with_opencv(interpolation):
    import cv2

    def make(source, row):
        image = cv2.imdecode(np.frombuffer(content(source), np.uint8), cv2.IMREAD_COLOR)
        cv2.cvtColor(cv2.resize(image, (SIDE, SIDE), interpolation=interpolation), cv2.COLOR_BGR2RGB, dst=row)
    return make


def with_simplejpeg():
    import simplejpeg

    def make(source, row):
        image = Image.fromarray(simplejpeg.decode_jpeg(content(source)))
        row[...] = image.resize((SIDE, SIDE), Image.BILINEAR)
    return make


def with_torchvision():
    import torch
    from torchvision.io import decode_jpeg
    from torchvision.transforms import v2
    torch.set_num_threads(1)
    resize = v2.Resize((SIDE, SIDE), antialias=True)

    def make(source, row):
        image = decode_jpeg(torch.frombuffer(bytearray(content(source)), dtype=torch.uint8), mode="RGB")
        row[...] = resize(image).permute(1, 2, 0).numpy()
    return make


def mapped(make):
    """A contestant that makes one image at a time, on a pool of threads."""
    def batch(sources, pool):
        rows = np.empty((len(sources), SIDE, SIDE, 3), np.uint8)
        if pool:
            list(pool.map(make, sources, rows))
        else:
            for source, row in zip(sources, rows):
                make(source, row)
        return rows
    return lambda threads: batch


def with_imgpipe(threads):
    pipe = imgpipe.Pipeline(STAGES, threads=threads)
    return lambda sources, pool: pipe.batch(sources)


def contestants():
    """(name, function that takes the threads) of what is installed."""
    yield "imgpipe", with_imgpipe
    yield "Pillow", mapped(with_pillow)
    yield "Pillow, draft", mapped(with_pillow_draft)
    for name, module, makers in (
            ("OpenCV", "cv2", {"linear": lambda cv2: with_opencv(cv2.INTER_LINEAR),
                               "area": lambda cv2: with_opencv(cv2.INTER_AREA)}),
            ("simplejpeg + Pillow", "simplejpeg", {"": lambda _: with_simplejpeg()}),
            ("torchvision", "torchvision", {"": lambda _: with_torchvision()})):
        try:
            library = importlib.import_module(module)
        except ImportError as error:
            print(f"SKIPPED: {name}: {error}")
            continue
        if module == "cv2":
            library.setNumThreads(1)
        for label, maker in makers.items():
            yield ", ".join(filter(None, (name, label))), mapped(maker(library))


def measure(found, sources, threads, rounds):
    """{name: (images/s, CPU ms per image, batch)}, medians over interleaved rounds."""
    pool = concurrent.futures.ThreadPoolExecutor(threads) if threads > 1 else None
    batches = {name: start(threads) for name, start in found.items()}
    last, wall, used = {}, {name: [] for name in found}, {name: [] for name in found}
    for make in batches.values():
        make(sources[:8], pool)
    for _ in range(rounds):
        for name, make in batches.items():
            before, cpu = time.perf_counter(), time.process_time()
            last[name] = make(sources, pool)
            wall[name].append(time.perf_counter() - before)
            used[name].append(time.process_time() - cpu)
    return {name: (len(sources) / statistics.median(wall[name]),
                   1e3 * statistics.median(used[name]) / len(sources), last[name]) for name in found}


def report(results, expected):
    equal = {name: np.mean(batch == expected) for name, (_, _, batch) in results.items()}
    exact = [name for name in results if equal[name] == 1 and name != "imgpipe"]
    best = max(results[name][0] for name in exact)
    least = min(results[name][1] for name in exact)
    for name, (rate, cpu, batch) in results.items():
        largest = np.abs(batch.astype(np.int16) - expected).max()
        print(f"{name:22} {rate:7.0f} images/s {cpu:7.2f} CPU ms/image   equal {100 * equal[name]:7.3f} %   largest "
              f"difference {largest:3}   {rate / best:5.2f} x, CPU {least / cpu:5.2f} x the best exact", flush=True)
    return equal["imgpipe"] == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", default=f"1,{len(os.sched_getaffinity(0))}")
    parser.add_argument("--size", default="500x375")
    parser.add_argument("--photos", type=pathlib.Path, help="JPEGs to use instead of synthetic ones")
    options = parser.parse_args()
    if options.photos:
        files = [path.read_bytes() for path in sorted(options.photos.rglob("*.jp*g"))]
    else:
        files = photo_jpegs.jpegs(*map(int, options.size.split("x")), min(options.images, 50))
    files = photo_jpegs.repeated(files, options.images)
    found = dict(contestants())
    expected = np.stack([photo_jpegs.pillow_pixels(file) for file in files])
    print(f"{len(files)} JPEGs of {sum(map(len, files)) / len(files) / 1000:.0f} kB, Pillow {Image.__version__}, "
          f"imgpipe {imgpipe.__version__}, {options.rounds} rounds")
    equal = True
    with tempfile.TemporaryDirectory() as directory:
        paths = [f"{directory}/{number}.jpg" for number in range(len(files))]
        for path, file in zip(paths, files):
            pathlib.Path(path).write_bytes(file)
        for threads in map(int, options.threads.split(",")):
            for kind, sources in (("bytes", files), ("paths", paths)):
                print(f"== {threads} threads, {kind}")
                equal = report(measure(found, sources, threads, options.rounds), expected) and equal
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
