#!/usr/bin/env python3
"""Runs imgpipe over directories of files that are meant to break readers, and checks every run's contract.

    hostile_files.py IMGPIPE FOLDER... [--seconds N] [--memory MIB] [--lenient] [--to ENDING] [--pixels] [--list]

Every file below the directories is read, whatever its name, and written as .png (--to: another extension), strictly or
with --lenient. A run may exit with 0, an output, and only warnings on stderr. Or it may exit with 1 (or 2: the output's
format cannot hold the image), no output, and one line on stderr that begins with "imgpipe: " and has no control
character. It must stay within --seconds (30) and --memory (2048 MiB of resident memory). Anything else (a signal, a
sanitizer's report, a leftover file) is printed as a finding, and this script exits with 1. --list prints the verdict on
every run; the slowest and the largest runs are named at the end.

--pixels compares strictly read images with Pillow, OpenCV and tifffile, whichever can read the file (like
tiff_compare.py), and prints differences. These need a look, but are not findings, because the peers disagree about
colour spaces and alpha.

Sources of such files: the test images and fuzzing corpora of libtiff, libwebp, Pillow, libvips, Exiv2, image-tiff,
go-fuzz-corpus. Standard library only, except for --pixels.
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile
import time

SANITIZERS = ("AddressSanitizer", "LeakSanitizer", "MemorySanitizer", "ThreadSanitizer", "runtime error:")
Run = collections.namedtuple("Run", "path code seconds mebibytes error late left")


def files_below(folders):
    for top in folders:
        if os.path.isfile(top):
            yield top
        for folder, below, names in os.walk(top):
            below.sort()
            for name in sorted(names):
                if os.path.isfile(os.path.join(folder, name)):
                    yield os.path.join(folder, name)


def wait_for(process, seconds):
    """(exit code, resource usage, late): kills the process if it runs longer than `seconds`."""
    end = time.monotonic() + seconds
    pause = 0.001
    while True:
        found, status, usage = os.wait4(process.pid, os.WNOHANG)
        if found != 0:
            return os.waitstatus_to_exitcode(status), usage, False
        if time.monotonic() > end:
            process.kill()
            _, status, usage = os.wait4(process.pid, 0)
            return os.waitstatus_to_exitcode(status), usage, True
        time.sleep(pause)
        pause = min(0.02, pause * 1.5)


def run(arguments, path, folder):
    target = os.path.join(folder, "out" + arguments.to)
    # hist changes no pixel.
    command = [arguments.program, path, target, "--stages", "hist", "-q", "--device", "cpu"]
    command += ["--lenient"] if arguments.lenient else []
    with open(os.path.join(folder, "stderr"), "w+b") as error:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=error)
        code, usage, late = wait_for(process, arguments.seconds)
        seconds = time.monotonic() - start
        process.returncode = code
        error.seek(0)
        said = error.read()
    left = sorted(set(os.listdir(folder)) - {"stderr"})
    return Run(path, code, seconds, usage.ru_maxrss / 1024, said, late, left)


def faults(done, arguments):
    """The violations of the contract by a run."""
    text = done.error.decode("utf-8", "replace")
    lines = text.splitlines()
    if done.late:
        yield f"was still running after {arguments.seconds:g} s"
    elif done.code not in (0, 1, 2):
        yield f"ended with {done.code}: {text[-200:]!r}"
    if any(word in text for word in SANITIZERS):
        yield "a sanitizer's report:\n" + text[:3000]
    if done.mebibytes > arguments.memory:
        yield f"took {done.mebibytes:.0f} MiB"
    if any(ord(letter) < 32 or ord(letter) == 127 for line in text.split("\n") for letter in line):
        yield f"control characters: {text[:200]!r}"
    expected = ["out" + arguments.to] if done.code == 0 else []
    if done.left != expected:
        yield f"leftover files: {done.left}"
    if done.code in (1, 2) and (len(lines) != 1 or not lines[0].startswith("imgpipe: ")):
        yield f"not one line: {text[:300]!r}"
    if done.code == 0 and any(not line.startswith("imgpipe: ") for line in lines):
        yield f"no warning: {text[:300]!r}"


def reason_of(done):
    text = done.error.decode("utf-8", "replace").strip()
    return text.rsplit(": ", 1)[-1][:70] if done.code != 0 else "read"


def without_alpha(pixels, channels):
    """The first `channels` channels, if the next one is an opaque alpha; else all."""
    opaque = (1 << 8 * pixels.itemsize) - 1
    more = pixels.ndim == 3 and pixels.shape[2] == channels + 1 and (pixels[:, :, channels] == opaque).all()
    return pixels[:, :, :channels] if more else pixels


def compare_pixels(program, paths):
    """(comparisons, differences) with each peer that reads the files. Must run last: the peak memory of a new process
    includes its parent's resident memory at its start."""
    import tiff_compare
    compared = differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            ours, _ = tiff_compare.by_imgpipe(program, path, folder)
            for who, theirs in tiff_compare.others(path) if ours is not None else []:
                compared += 1
                said = tiff_compare.difference(ours, without_alpha(theirs, ours.shape[2]))
                differing += bool(said)
                print(f"DIFFERENT: {path}: {who}: {said}\n" if said else "", end="", flush=True)
    return compared, differing


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("program", type=os.path.realpath)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--memory", type=float, default=2048)
    parser.add_argument("--to", default=".png")
    for name in ("--lenient", "--pixels", "--list"):
        parser.add_argument(name, action="store_true")
    arguments = parser.parse_args()
    runs, findings = [], 0
    for path in files_below(arguments.folders):
        with tempfile.TemporaryDirectory() as folder:
            done = run(arguments, path, folder)
            runs.append(done)
            for fault in faults(done, arguments):
                findings += 1
                print(f"FINDING: {path}: {fault}", flush=True)
            if arguments.list:
                print(f"{done.code} {done.seconds:.2f} s {done.mebibytes:.0f} MiB {path}: "
                      f"{done.error.decode('utf-8', 'replace').strip()}", flush=True)
    if not runs:
        sys.exit("hostile_files: no files found")
    for reason, number in collections.Counter(map(reason_of, runs)).most_common(12):
        print(f"{number:6}  {reason}")
    slow, large = max(runs, key=lambda done: done.seconds), max(runs, key=lambda done: done.mebibytes)
    print(f"slowest: {slow.seconds:.2f} s, {slow.path}\nlargest: {large.mebibytes:.0f} MiB, {large.path}")
    if arguments.pixels:
        compared, differing = compare_pixels(arguments.program, [done.path for done in runs if done.code == 0])
        print(f"{compared} comparisons with peers, {differing} differ")
    print(f"{len(runs)} files, {sum(done.code == 0 for done in runs)} read, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
