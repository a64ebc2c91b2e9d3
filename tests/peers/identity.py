#!/usr/bin/env python3
"""Runs two builds of imgpipe side by side and compares their results: see identity.sh."""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import identity_cases
import identity_verdict

SECONDS_A_RUN = 120
SHOWN = 40  # differences printed in full


def read_parts(folder):
    """The files below a directory, each as a part of a run."""
    return {f"file {path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(program, arguments, folder, environment):
    """Runs once in a new directory: {part: bytes}."""
    folder.mkdir(parents=True)
    source = subprocess.DEVNULL
    if "<" in arguments:
        arguments, source = arguments[:-2], open(folder / arguments[-1], "rb")
    try:
        done = subprocess.run([program, *arguments], cwd=folder, env=environment, stdin=source, capture_output=True,
                              timeout=SECONDS_A_RUN, check=False)
        parts = {"exit": str(done.returncode).encode(), "stdout": done.stdout, "stderr": done.stderr}
    except subprocess.TimeoutExpired:
        parts = {"exit": b"ran out of time"}
    finally:
        if source != subprocess.DEVNULL:
            source.close()
    return parts | read_parts(folder)


def shown(text):
    return repr(text[:60]) + f" ({len(text)} bytes)" if isinstance(text, bytes) else text


def first_lines(before, after):
    """The first differences between two forms of a part."""
    if isinstance(before, bytes) and isinstance(after, bytes):
        equal = min(len(before), len(after))
        at = next((i for i in range(equal) if before[i] != after[i]), equal)
        return f"      {len(before)} and {len(after)} bytes, the first that differs is byte {at}"
    old, new = str(shown(before)).split("\n"), str(shown(after)).split("\n")
    counts = {"old": collections.Counter(old), "new": collections.Counter(new)}
    lines = [f"      old: {line}" for line in list(counts["old"] - counts["new"])[:4]]
    lines += [f"      new: {line}" for line in list(counts["new"] - counts["old"])[:4]]
    return "\n".join(lines or ["      the same lines in another order"])


class Comparison:
    """Both builds, their images, and the findings so far."""

    def __init__(self, old, new, work, keep):
        self.programs = {"old": old, "new": new}
        self.work, self.keep = work, keep
        self.environment = os.environ | {"LC_ALL": "C", "XDG_CACHE_HOME": str(work / "cache"), "NO_COLOR": "1"}
        self.exits, self.rules = collections.Counter(), collections.Counter()

    def compare(self, number, arguments):
        """Runs number `number` with both builds and returns the differences."""
        folder = self.work / "runs"
        parts = {which: run(program, arguments, folder / f"{number}.{which}", self.environment)
                 for which, program in self.programs.items()}
        if not self.keep:
            for which in parts:
                shutil.rmtree(folder / f"{number}.{which}")
        batch = arguments[0] != "synth" and not pathlib.Path(arguments[0]).suffix and arguments[0] != "-"
        found, used = identity_verdict.differences(parts["old"], parts["new"], batch)
        return found, used, parts["old"]["exit"].decode()


def combinations_of(options, comparison):
    """[(title, [(number, arguments)...])...]: makes the images and numbers all runs, the same in every call."""
    images = comparison.work / "in"

    def make(arguments):
        subprocess.run([comparison.programs["old"], *arguments], check=True, env=comparison.environment)
    synthetic = identity_cases.synthesise(make, images)
    real = identity_cases.deal(os.environ.get("IMGPIPE_CORPUS"), images)
    devices = options.devices.split(",")
    for device in devices:  # a device that rejects everything would seem identical
        make([str(images / synthetic[0]), str(comparison.work / "probe.png"), "--device", device, "-q", "--overwrite"])
    number, all_of_them = 0, []
    makers = (identity_cases.combinations, identity_cases.further)
    for title, runs in (row for maker in makers for row in maker(devices, synthetic, real)):
        all_of_them.append((title, [(number + index, arguments) for index, arguments in enumerate(runs, 1)]))
        number += len(runs)
    print(f"{len(synthetic)} synthetic images, {len(real)} real files, devices {', '.join(devices)}")
    if not real:
        print("SKIPPED: the real files; IMGPIPE_CORPUS is not set")
    if options.only:
        return [(title, [run for run in runs if run[0] == options.only]) for title, runs in all_of_them]
    if options.quick:
        return [(title, runs[:: 1 + len(runs) // 12]) for title, runs in all_of_them[::5] + all_of_them[-6:]]
    return all_of_them


def compare_all(comparison, combinations):
    """Prints each difference; returns the numbers of runs and combinations, and of identical ones."""
    differing, different_titles, started = 0, set(), time.monotonic()
    runs = [(title, number, arguments) for title, numbered in combinations for number, arguments in numbered]
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        results = workers.map(lambda one: comparison.compare(one[1], one[2]), runs)
        for done, ((title, number, arguments), (found, used, code)) in enumerate(zip(runs, results), 1):
            comparison.exits[code] += 1
            comparison.rules.update(used)
            if found:
                differing += 1
                different_titles.add(title)
            if found and differing <= SHOWN:
                print(f"DIFFERENT: run {number}: imgpipe {shlex.join(arguments)}", flush=True)
                for part, before, after in found[:6]:
                    print(f"    {part}\n{first_lines(before, after)}")
            if sys.stderr.isatty() and done % 100 == 0:
                print(f"{done} of {len(runs)} runs, {time.monotonic() - started:.0f} s", file=sys.stderr)
    return len(runs), differing, different_titles


def main():
    parser = argparse.ArgumentParser(prog="identity.sh", description="Two builds of imgpipe give the same.")
    parser.add_argument("old", type=os.path.abspath)
    parser.add_argument("new", type=os.path.abspath)
    parser.add_argument("devices", nargs="?", default="reference,cpu")
    parser.add_argument("--quick", action="store_true", help="a part of it")
    parser.add_argument("--only", type=int, help="this run alone; its files stay")
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="imgpipe-identity-"))
    started = time.monotonic()
    try:
        comparison = Comparison(options.old, options.new, work, bool(options.only))
        combinations = [row for row in combinations_of(options, comparison) if row[1]]
        runs, differing, titles = compare_all(comparison, combinations)
    finally:
        if options.only:
            print(f"files: {work / 'runs'}")
        else:
            shutil.rmtree(work)
    print("exit codes of OLD: " + ", ".join(f"{code}: {n} runs" for code, n in sorted(comparison.exits.items())))
    for name, why, _, _ in identity_verdict.RULES:
        print(f"rule {name}: needed by {comparison.rules[name]} runs ({why})")
    print(f"{len(combinations)} combinations, {len(combinations) - len(titles)} identical; "
          f"{runs} runs, {runs - differing} identical; {time.monotonic() - started:.0f} s")
    sys.exit(2 if not comparison.exits["0"] and not options.only else 1 if differing else 0)


main()
