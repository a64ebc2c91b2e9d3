#!/usr/bin/env python3
"""A training loop of torch over tar shards: does it wait for imgpipe.Loader?

    python_training.py [--images N] [--batch N] [--epochs N] [--shards N] [--prefetch N] [--workers]

Trains a ResNet-18 on 224 x 224 images in mixed precision, with JPEGs of 500 x 375 that the Loader reads from shards,
decodes, resizes, flips and normalises on the device. Prints the images per second of

- the Loader alone,
- the loop over a constant batch, which is on the device already,
- the loop over the Loader,

and where the time of a step goes, in both loops: the wait for next(loader), the time in which the host queues the step,
the time in which the stream of the model has no work, and the time from the start to the end of the step on the device.
The last grows if the device also decodes; "decoding" is the time per batch in which the Loader alone uses the device.
Times are means over an epoch after its first batch. --workers adds torch's DataLoader with Pillow for comparison.
"""
import argparse
import itertools
import pathlib
import statistics
import sys
import tempfile
import time
from typing import NamedTuple

try:
    import imgpipe
    import torch
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

import photo_jpegs
from python_loader import random_flip, write_shards
from photo_jpegs import SIDE, TENSOR_STAGES

CLASSES = 1000


class Block(torch.nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(channels, out, 3, stride, 1, bias=False), torch.nn.BatchNorm2d(out), torch.nn.ReLU(True),
            torch.nn.Conv2d(out, out, 3, 1, 1, bias=False), torch.nn.BatchNorm2d(out))
        self.skip = torch.nn.Identity() if channels == out else torch.nn.Sequential(
            torch.nn.Conv2d(channels, out, 1, stride, bias=False), torch.nn.BatchNorm2d(out))

    def forward(self, images):
        return torch.relu(self.body(images) + self.skip(images))


def resnet18():
    """The network of "Deep Residual Learning for Image Recognition", table 1."""
    layers = [torch.nn.Conv2d(3, 64, 7, 2, 3, bias=False), torch.nn.BatchNorm2d(64), torch.nn.ReLU(True),
              torch.nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for out in (64, 128, 256, 512):
        layers += [Block(channels, out, 1 if out == 64 else 2), Block(out, out, 1)]
        channels = out
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                               torch.nn.Linear(512, CLASSES))


class Training:
    def __init__(self):
        self.model = resnet18().cuda().to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.01, momentum=0.9)
        self.scaler = torch.amp.GradScaler("cuda")
        self.events = []

    def step(self, images, labels):
        """Queues a step, between two events."""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in "se")
        start.record()
        images = images.contiguous(memory_format=torch.channels_last)
        with torch.autocast("cuda", torch.float16):
            loss = torch.nn.functional.cross_entropy(self.model(images), labels)
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        end.record()
        self.events.append((start, end))
        return loss.detach()

    def epoch(self, batches):
        self.events, waits, queueing, done, loss = [], [], [], 0, torch.zeros(())
        torch.cuda.synchronize()
        before = time.perf_counter()
        for images, labels in batches:
            begin = time.perf_counter()
            waits.append(begin - before)
            loss = self.step(images, labels)
            queueing.append(time.perf_counter() - begin)
            if len(self.events) > 2:
                self.events[-3][1].synchronize()  # at most two steps ahead, as a loop that reads its loss
            done += len(images)
            if len(waits) == 1:
                started = begin
            before = time.perf_counter()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - started
        steps = [start.elapsed_time(end) for start, end in self.events]
        gaps = [max(0, end.elapsed_time(start)) for (_, end), (start, _) in itertools.pairwise(self.events)]
        return Epoch(rate=done / seconds, first=1e3 * waits[0], wait=1e3 * statistics.mean(waits[1:]),
                     longest=1e3 * max(waits[1:]), queueing=1e3 * statistics.mean(queueing[1:]),
                     idle=statistics.mean(gaps), device=statistics.mean(steps[1:]), loss=loss.item())


class Epoch(NamedTuple):
    """Images per second after the first batch came, ms until then, and means in ms per step."""

    rate: float
    first: float
    wait: float     # for the next batch, on the host
    longest: float  # of these waits
    queueing: float
    idle: float     # between steps, on the device
    device: float   # in a step
    loss: float

    def __str__(self):
        return (f"{self.rate:.0f} images/s; a step waits {self.wait:.2f} ms (longest {self.longest:.1f}), is queued in "
                f"{self.queueing:.1f}, takes {self.device:.1f} on the device, which idles {self.idle:.2f} before it; "
                f"first batch after {self.first:.0f} ms")


def from_loader(loader):
    for batch in loader:
        labels = [int(members["cls"]) % CLASSES for members in batch.members]
        yield torch.from_dlpack(batch.images), torch.tensor(labels).pin_memory().cuda(non_blocking=True)


def from_workers(files, options):
    from device_contestants import torchvision_pillow
    for images in torchvision_pillow()(files, options.batch)():
        yield images, torch.zeros(len(images), dtype=torch.int64, device="cuda")


def alone(batches):
    torch.cuda.synchronize()
    start, done = time.perf_counter(), sum(len(images) for images, _ in batches)
    torch.cuda.synchronize()
    return done / (time.perf_counter() - start)


def device_time(batches):
    """ms per batch in which the device works, with overlaps counted once; 0 if the profiler records nothing."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        count = sum(1 for _ in batches)
        torch.cuda.synchronize()
    busy, until = 0, 0
    for begin, end in sorted((event.time_range.start, event.time_range.end) for event in recorded.events()
                             if event.device_type == torch.autograd.DeviceType.CUDA):
        busy += max(0, end - max(begin, until))
        until = max(until, end)
    return busy / count / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--prefetch", type=int, help="default: the Loader's")
    parser.add_argument("--workers", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("SKIPPED: torch finds no CUDA device")
        return 77
    torch.backends.cudnn.benchmark = True
    files = photo_jpegs.repeated(photo_jpegs.jpegs(500, 375, 300), options.images)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        shards = write_shards(pathlib.Path(directory), files, options.shards)
        loader = imgpipe.Loader(shards, imgpipe.Pipeline(TENSOR_STAGES, device="cuda"), options.batch, shuffle=True,
                                seed=1, drop_last=True, flips=random_flip, prefetch=options.prefetch)
        print(f"{torch.cuda.get_device_name()}, {options.images} JPEGs of 500 x 375 in {options.shards} shards, "
              f"ResNet-18, batches of {options.batch}")
        training = Training()
        steps = options.images // options.batch
        fixed = torch.randn(options.batch, 3, SIDE, SIDE, device="cuda").half(), torch.zeros(
            options.batch, dtype=torch.int64, device="cuda")
        training.epoch([fixed] * 20)
        for epoch in range(options.epochs):
            loader.set_epoch(epoch)
            loading = alone(from_loader(loader))
            constant = training.epoch([fixed] * steps)
            loader.set_epoch(epoch)
            loop = training.epoch(from_loader(loader))
            print(f"epoch {epoch}: loader alone {loading:.0f} images/s\n  constant batch: {constant}\n"
                  f"  with loader ({100 * loop.rate / constant.rate:.1f} %): {loop}; loss {loop.loss:.3f}", flush=True)
        decoding = device_time(from_loader(loader))
        print(f"decoding takes {decoding:.1f} ms of the device per batch: without any wait, and if the device did one "
              f"after the other, a loop would reach {100 * constant.device / (constant.device + decoding):.1f} %"
              if decoding else "SKIPPED: torch's profiler recorded no work of the device")
        if options.workers:
            print(f"DataLoader, Pillow, 16 workers: {training.epoch(from_workers(files, options))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
