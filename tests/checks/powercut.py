#!/usr/bin/env python3
"""Cuts the power of a file system at random moments of a batch and resumes: no incomplete output counts as done.

  tests/checks/powercut.py IMGPIPE [CUTS [SEED]] [--fs ext4|xfs]... [--scenario NAME]... [--folder FOLDER]

CUTS (default 20) per file system and scenario. A loop device holds a new ext4 or XFS; EXT4_IOC_SHUTDOWN (the same
number in XFS) drops everything that is not on its disk, like a power failure. Half of the cuts write the journal first,
as if its timer had just expired; a third come after the batch has ended. After each cut the file system is mounted
again. Every output must be complete (or the older one), all must exist if the batch ended with 0, and the same command
must make all outputs equal to those of an undisturbed run.

Scenarios: skip (--skip-existing), update (--update), over (new outputs replace complete older ones), pages (numbered
files, --skip-existing). FOLDER (a temporary one by default) holds the images of the disks.

Needs root, loop devices, mount, mkfs.ext4 and mkfs.xfs; exits with 77 and the reason if one is missing."""
import argparse
import collections
import contextlib
import fcntl
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

IMAGES = 60
DISK_BYTES = 400 << 20  # mkfs.xfs needs at least 300 MB
SHUTDOWN = 0x8004587D   # _IOR('X', 125, __u32)
WRITE_JOURNAL, DROP_JOURNAL = 1, 2
# An ext4 that initialises itself in the background could not be mounted after one of more than 300 cuts.
FILE_SYSTEMS = {"ext4": ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
                "xfs": ["mkfs.xfs", "-q", "-f"]}
SCENARIOS = {"skip": ["--skip-existing"], "update": ["--update"], "over": [],
             "pages": ["--skip-existing", "--pages", "all"]}


def skip(reason):
    print(f"powercut.py: skipped: {reason}")
    sys.exit(77)


def call(*command):
    return subprocess.run(command, capture_output=True, text=True)


def must(*command):
    run = call(*command)
    if run.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {run.stderr.strip()}")
    return run


def outputs_in(folder):
    """The bytes of all files below a directory, by name; hidden files are not outputs."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if not name.startswith("."):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return found


class Disk:
    def __init__(self, folder, kind):
        self.kind, self.image, self.root = kind, os.path.join(folder, "disk"), os.path.join(folder, "mounted")
        os.makedirs(self.root, exist_ok=True)

    def make(self):
        with open(self.image, "wb") as file:
            file.truncate(DISK_BYTES)
        must(*FILE_SYSTEMS[self.kind], self.image)
        self.mount()

    def mount(self):
        must("mount", "-o", "loop", self.image, self.root)

    def unmount(self):
        must("umount", self.root)

    def cut(self, journal):
        descriptor = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", journal))
        finally:
            os.close(descriptor)


class Scenario:
    """The batch on a disk: its command, and its expected outputs."""

    def __init__(self, imgpipe, folder, disk, name):
        self.imgpipe, self.disk, self.name = imgpipe, disk, name
        self.out, self.report = os.path.join(disk.root, "out"), os.path.join(disk.root, "r.ndjson")
        batch = [imgpipe, os.path.join(folder, "in")]
        options = ["-q", "--format", "png", *SCENARIOS[name]]
        self.command = [*batch, self.out, *options, "--report", self.report]
        undisturbed, self.older = os.path.join(folder, "undisturbed"), os.path.join(folder, "older")
        for path, more in (undisturbed, []), (self.older, ["--stages", "invert"]):
            shutil.rmtree(path, ignore_errors=True)
            begin = time.monotonic()
            must(*batch, path, *options, *more)
            self.seconds = time.monotonic() - begin
        self.expected, self.old = outputs_in(undisturbed), outputs_in(self.older)

    def run_and_cut(self, rng, counts):
        self.disk.make()
        if self.name == "over":
            shutil.copytree(self.older, self.out)
            must("sync", "-f", self.disk.root)
        batch = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if rng.random() < 1 / 3:
            batch.wait()
            counts["cuts after the end"] += 1
        else:
            time.sleep(rng.random() * self.seconds)
        self.disk.cut(rng.choice([WRITE_JOURNAL, DROP_JOURNAL]))
        ended = batch.poll() == 0
        batch.kill()
        batch.wait()
        self.disk.unmount()
        self.disk.mount()
        return ended

    def problems_after(self, ended, counts):
        """The problems on the disk after the cut, and after running the same command again."""
        there = outputs_in(self.out)
        incomplete = sorted(name for name, data in there.items()
                            if data != self.expected[name] and (self.name != "over" or data != self.old[name]))
        counts["whole outputs"] += len(there) - len(incomplete)
        counts["incomplete outputs"] += len(incomplete)
        problems = [f"incomplete: {name}, {len(there[name])} bytes" for name in incomplete]
        if ended and there != self.expected:
            problems.append(f"exit 0, and {len(self.expected) - len(there)} outputs are missing or old")
        again = call(*self.command)
        if again.returncode != 0:
            problems.append(f"the same command: exit {again.returncode}: {again.stderr[:300]}")
        resumed = outputs_in(self.out)
        wrong = [name for name in self.expected if resumed.get(name) != self.expected[name]]
        counts["wrong after the same command"] += len(wrong)
        if wrong:
            says = call(self.imgpipe, "report", self.report, "-q").returncode
            problems.append(f"{len(wrong)} outputs are wrong after the same command, imgpipe report exits with {says}")
        return problems


def check(scenario, cuts, rng):
    counts, bad = collections.Counter(), 0
    for number in range(1, cuts + 1):
        try:
            problems = scenario.problems_after(scenario.run_and_cut(rng, counts), counts)
        finally:
            with contextlib.suppress(RuntimeError):
                scenario.disk.unmount()
        bad += bool(problems)
        for problem in problems[:3] if bad <= 3 else []:
            print(f"powercut.py: {scenario.disk.kind}, {scenario.name}, cut {number}: {problem}")
    said = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
    print(f"{scenario.disk.kind}, {scenario.name}: {cuts} cuts, {bad} with problems; {said}", flush=True)
    return bad


def make_inputs(imgpipe, folder):
    os.makedirs(os.path.join(folder, "in"))
    for i in range(IMAGES):
        must(imgpipe, "synth", os.path.join(folder, "in", f"{i:03}.png"), "--pattern", "photo",
             "--size", f"{200 + i * 7 % 300}x{150 + i * 11 % 300}", "--seed", str(i), "-q")


def need_disks(folder, kinds):
    if os.geteuid() != 0:
        skip("needs root")
    for kind in kinds:
        if shutil.which(FILE_SYSTEMS[kind][0]) is None:
            skip(f"{FILE_SYSTEMS[kind][0]} is not installed")
        try:
            disk = Disk(folder, kind)
            disk.make()
            try:
                disk.cut(DROP_JOURNAL)
            finally:
                disk.unmount()
        except (RuntimeError, OSError) as error:
            skip(f"no {kind} on a loop device: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("imgpipe")
    parser.add_argument("cuts", nargs="?", type=int, default=20)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--fs", action="append", choices=FILE_SYSTEMS)
    parser.add_argument("--scenario", action="append", choices=SCENARIOS)
    parser.add_argument("--folder")
    options = parser.parse_args()
    kinds, imgpipe = options.fs or list(FILE_SYSTEMS), os.path.realpath(options.imgpipe)
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        need_disks(folder, kinds)
        make_inputs(imgpipe, folder)
        bad = 0
        for kind in kinds:
            for name in options.scenario or SCENARIOS:
                bad += check(Scenario(imgpipe, folder, Disk(folder, kind), name), options.cuts, rng)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
