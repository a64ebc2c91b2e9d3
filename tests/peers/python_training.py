#!/usr/bin/env python3
"""A training loop of torch over tar shards: does it wait for imgpipe.Loader?

    python_training.py [--images N] [--batch N] [--epochs N] [--shards N] [--workers N]

Trains a ResNet-18 on 224 x 224 images in mixed precision, with JPEGs of 500 x 375 that the Loader reads from shards,
decodes, resizes, flips and normalises on the device. Prints images per second of the Loader alone, of the training on
tensors that are already there, and of both together; for these the time that steps wait for the next batch, and the
share of the time in which the device computes the model. --workers adds torch's DataLoader with Pillow for comparison.
"""
import argparse
import pathlib
import statistics
import sys
import tempfile
import time

try:
    import imgpipe
    import torch
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

import photo_jpegs
from python_loader import write_shards
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
        """(images/s, ms that steps wait for a batch: median and largest, share of the time in steps, last loss)."""
        self.events, waits, done, loss = [], [], 0, torch.zeros(())
        torch.cuda.synchronize()
        begin = before = time.perf_counter()
        for images, labels in batches:
            waits.append(1e3 * (time.perf_counter() - before))
            loss = self.step(images, labels)
            done += len(images)
            if len(self.events) > 2:
                self.events[-3][1].synchronize()  # at most two steps ahead, as a loop that reads its loss
            before = time.perf_counter()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
        busy = sum(start.elapsed_time(end) for start, end in self.events) / 1e3
        return done / seconds, statistics.median(waits), max(waits[1:]), busy / seconds, loss.item()


def random_flip(_height, _width, numbers):
    return numbers.random() < 0.5


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--shards", type=int, default=16)
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
                                seed=1, drop_last=True, flips=random_flip, prefetch=6)
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
            compute = training.epoch([fixed] * steps)
            both = training.epoch(from_loader(loader))
            print(f"epoch {epoch}: loader alone {loading:.0f} images/s, training alone {compute[0]:.0f}, together "
                  f"{both[0]:.0f} ({100 * both[0] / compute[0]:.1f} %); a step waits {both[1]:.2f} ms (largest "
                  f"{both[2]:.1f}), the device trains {100 * both[3]:.1f} % of the time, loss {both[4]:.3f}",
                  flush=True)
        if options.workers:
            slow = training.epoch(from_workers(files, options))
            print(f"DataLoader, Pillow, 16 workers: together {slow[0]:.0f} images/s, a step waits {slow[1]:.2f} ms "
                  f"(largest {slow[2]:.1f}), the device trains {100 * slow[3]:.1f} % of the time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
