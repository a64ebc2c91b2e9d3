#!/usr/bin/env python3
"""Throughput of imgpipe.Loader on this machine: a list of bytes, a list of paths, a directory, tar shards.

    python_loader.py [--images N] [--batch N] [--epochs N] [--device DEVICE] [--size WxH]

Prints images per second and processor time of each source, in turns, of Pipeline.batch() over the same bytes and, where
torch is installed, of a DataLoader whose workers use Pillow. "Not decoded" is the Loader alone: it lists, shuffles and
reads samples and draws flips. Checks that every image arrives once, with the pixels of batch().
"""
import argparse
import io
import os
import pathlib
import statistics
import sys
import tarfile
import tempfile
import time

try:
    import imgpipe
    import numpy as np
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

import photo_jpegs
from photo_jpegs import TENSOR_STAGES


def write_shards(directory, files, shards):
    """Tar archives with a JPEG and a class for each key. Returns their pattern."""
    for number in range(shards):
        with tarfile.open(directory / f"shard-{number:04}.tar", "w") as archive:
            for index in range(number, len(files), shards):
                for extension, data in (("jpg", files[index]), ("cls", str(index).encode())):
                    member = tarfile.TarInfo(f"{index:08}.{extension}")
                    member.size = len(data)
                    archive.addfile(member, io.BytesIO(data))
    return str(directory / f"shard-{{0000..{shards - 1:04}}}.tar")


def as_numpy(images):
    return images.numpy() if hasattr(images, "numpy") else images


class NotDecoded:
    """Instead of a pipeline."""

    on_error = "raise"

    def batch(self, sources, *, boxes=None, flips=None):
        return sources


def random_flip(_height, _width, numbers):
    return numbers.random() < 0.5


def with_loader(sources, pipe, options, **arguments):
    loader = imgpipe.Loader(sources, pipe, options.batch, shuffle=True, seed=1, **arguments)

    def epoch(number):
        loader.set_epoch(number)
        return sum(len(batch.images) for batch in loader)
    return epoch


def with_batch(files, pipe, options):
    def epoch(_):
        done = 0
        for start in range(0, len(files), options.batch):
            done += len(pipe.batch(files[start:start + options.batch]))
        return done
    return epoch


class PillowFiles:
    """A map-style data set of torch."""

    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return photo_jpegs.normalised(photo_jpegs.pillow_pixels(self.files[index]))


def with_torch(files, options):
    import torch.utils.data
    loader = torch.utils.data.DataLoader(PillowFiles(files), options.batch, shuffle=True, persistent_workers=True,
                                         num_workers=len(os.sched_getaffinity(0)))
    return lambda _: sum(len(batch) for batch in loader)


def check(sources, pipe, expected, options):
    """Fails unless each sample of the source comes once, with its pixels."""
    seen = []
    for batch in imgpipe.Loader(sources, pipe, options.batch, shuffle=True, seed=2):
        images = as_numpy(batch.images)
        for row, (key, members) in enumerate(zip(batch.keys, batch.members)):
            index = int(members["cls"]) if "cls" in members else int(pathlib.Path(str(key)).stem)
            seen.append(index)
            assert images[row].tobytes() == expected[index].tobytes(), f"{key}: other pixels than batch()"
    assert sorted(seen) == list(range(len(expected))), f"{len(seen)} images, {len(set(seen))} different"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=600)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--size", default="500x375")
    options = parser.parse_args()
    files = photo_jpegs.repeated(photo_jpegs.jpegs(*map(int, options.size.split("x")), 50), options.images)
    pipe = imgpipe.Pipeline(TENSOR_STAGES, device=options.device)
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "files").mkdir()
        paths = [directory / "files" / f"{number:08}.jpg" for number in range(len(files))]
        for path, file in zip(paths, files):
            path.write_bytes(file)
        shards = write_shards(directory, files, 8)
        expected = as_numpy(pipe.batch(files))
        for sources in (paths, directory / "files", shards):
            check(sources, pipe, expected, options)
        epochs = {"batch() of bytes": with_batch(files, pipe, options)}
        for label, sources in (("list of bytes", files), ("list of paths", paths), ("directory", directory / "files"),
                               ("8 shards", shards)):
            epochs[f"Loader, {label}"] = with_loader(sources, pipe, options)
        for label, flips in (("not decoded", None), ("not decoded, flips", random_flip)):
            repeated = [shards] * -(-20_000 // len(files))
            epochs[f"Loader, 8 shards, {label}"] = with_loader(repeated, NotDecoded(), options, flips=flips)
        try:
            epochs["torch DataLoader, Pillow"] = with_torch(files, options)
        except ImportError as error:
            print(f"SKIPPED: torch DataLoader: {error}")
        rates, processor = {label: [] for label in epochs}, {label: [] for label in epochs}
        for number in range(options.epochs):
            for label, epoch in epochs.items():
                start, used = time.perf_counter(), time.process_time()
                done = epoch(number)
                rates[label].append(done / (time.perf_counter() - start))
                processor[label].append(1e6 * (time.process_time() - used) / done)
                assert done and done % len(files) == 0, f"{label}: {done} images"
        equal = np.array_equal(expected[0], photo_jpegs.normalised(photo_jpegs.pillow_pixels(files[0])))
        print(f"{len(files)} JPEGs of {options.size}, batches of {options.batch}, {options.device}, "
              f"{len(os.sched_getaffinity(0))} processors, pixels {'equal to' if equal else 'OTHER THAN'} Pillow's")
        for label, values in rates.items():
            print(f"{label:36} {statistics.median(values):8.0f} images/s ({min(values):.0f} to {max(values):.0f}), "
                  f"{statistics.median(processor[label]):8.1f} us of this process's processor time per image")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
