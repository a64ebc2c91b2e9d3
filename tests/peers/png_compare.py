#!/usr/bin/env python3
"""Compares two builds of the PNG writer by class of images: sizes, and speed on one thread, in turns.

    png_compare.py OLD NEW FOLDER [ROUNDS]

OLD and NEW: png_bench (png_bench.cpp) of two builds. FOLDER: one directory per class, as made by png_classes.py. Prints
a line per class: files, the class's bytes new/old with the least and the greatest ratio of a file, and NEW's speed-up:
the ratios of each file's least times in ROUNDS turns (5), with their median, least and greatest in the class.
"""
import pathlib
import statistics
import subprocess
import sys


def measured(program, files):
    """{file: (bytes, least nanoseconds per byte of samples)}."""
    out = subprocess.run([program, "--rounds", "3", *files], check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: (int(line.split()[2]), float(line.split()[3])) for line in out.splitlines()}


def main():
    programs, folder = sys.argv[1:3], pathlib.Path(sys.argv[3])
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    print(f"{'class':12} {'files':>5} {'size':>6} {'least':>6} {'most':>6} {'faster':>7} {'least':>6} {'most':>6}"
          f" {'old ns':>7} {'new ns':>7}")
    for kind in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted(str(path) for path in kind.iterdir())
        sizes, times = [{}, {}], [{}, {}]
        for _ in range(rounds):
            for side, program in enumerate(programs):
                for name, (size, time) in measured(program, files).items():
                    sizes[side][name] = size
                    times[side][name] = min(time, times[side].get(name, time))
        by_size = [sizes[1][name] / sizes[0][name] for name in files]
        faster = [times[0][name] / times[1][name] for name in files]
        total = sum(sizes[1].values()) / sum(sizes[0].values())
        medians = [statistics.median(side.values()) for side in times]
        print(f"{kind.name:12} {len(files):5} {total:6.3f} {min(by_size):6.3f} {max(by_size):6.3f}"
              f" {statistics.median(faster):7.2f} {min(faster):6.2f} {max(faster):6.2f}"
              f" {medians[0]:7.2f} {medians[1]:7.2f}", flush=True)


if __name__ == "__main__":
    main()
