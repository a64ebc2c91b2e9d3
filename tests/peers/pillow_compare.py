#!/usr/bin/env python3
"""Compares resizing and the canvas stages with Pillow, sample by sample, on every engine.

    pillow_compare.py SERVER [--cases N] [--corpus DIRECTORY] [--version VERSION]... [--environments DIRECTORY]

SERVER is build/release/tests/stage_server. Compares N random cases (default: 10,000; sides of 1 to 3,000 pixels) and
the images of the directory with Pillow's results, on the reference, on the CPU with every instruction set, and on CUDA
if there is a device. Each --version is compared in a separate virtual environment, which is created if it is missing.
Without --version, the installed Pillow is compared.

    --jobs N          share the cases among N processes, each of which prints the totals of its share
    --seed N          other random cases (default: 1)
    --case K          only case K; a difference prints the command
    --engine NAME     reference, cuda, or cpu:TARGET; may be repeated

Exit code 0: all equal; 1: a difference; 77: a version of Pillow is missing.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

from stage_server import StageError, StageServer


MOST_SHOWN = 40  # differences


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--cases", type=int, default=10000)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--version", action="append", default=[])
    parser.add_argument("--environments", type=pathlib.Path, default=pathlib.Path("build/peers"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--share", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int)
    parser.add_argument("--engine", action="append", default=[])
    return parser.parse_args()


# ---- one virtual environment for each version of Pillow ------------------------------------------------------------

def python_with(version, directory):
    """The interpreter of an environment with this Pillow, or None if pip cannot install it."""
    environment = directory / f"pillow-{version}"
    python = environment / "bin" / "python3"
    has_version = [python, "-c", f"import numpy, PIL; assert PIL.__version__ == '{version}'"]
    if python.exists() and subprocess.run(has_version, check=False, capture_output=True).returncode == 0:
        return python
    pip = [python, "-m", "pip", "install", "-q", "--retries", "1", "--timeout", "10", f"pillow=={version}", "numpy"]
    for command in ([sys.executable, "-m", "venv", "--system-site-packages", environment], pip):
        made = subprocess.run(command, check=False, capture_output=True, text=True)
        if made.returncode != 0:
            print(f"SKIPPED: Pillow {version}: {(made.stderr or made.stdout).strip().splitlines()[-1]}")
            return None
    return python


def compare_versions(options):
    """Runs this script once for each version; returns its exit code."""
    codes = []
    left_out = [argument for pair in zip(["--version"] * len(options.version), options.version) for argument in pair]
    others = list(sys.argv[1:])
    for word in left_out:
        if word in others:
            others.remove(word)
    for version in options.version:
        python = python_with(version, options.environments)
        codes.append(77 if python is None else
                     subprocess.run([python, __file__, *others], check=False).returncode)
    return next((code for code in codes if code not in (0, 77)), max(codes))


# ---- comparison ----------------------------------------------------------------------------------------------------

class Comparison:
    def __init__(self, server, engines):
        self.server, self.engines = server, engines
        self.runs = self.samples = self.different = self.failed = 0

    def compare(self, image, stages, expected, name, threads=1):
        """Compares one list of stages on every engine; `name` finds the case again."""
        expected = np.asarray(expected)
        self.server.image(np.asarray(image))
        engines_by_problem = {}
        for engine in self.engines:
            self.runs += 1
            self.samples += expected.size
            problem = self.problem(stages, engine, threads, expected)
            if problem:
                engines_by_problem.setdefault(problem, []).append(engine_name(engine))
        for problem, engines in engines_by_problem.items():
            self.failed += 1
            if self.failed <= MOST_SHOWN:
                print(f"DIFFERENT: {stages}: {problem}\n    {name} --engine {' --engine '.join(engines)}", flush=True)

    def problem(self, stages, engine, threads, expected):
        """Why the result is not the expected one, or an empty string."""
        try:
            got = self.server.run(stages, *engine, threads)
        except StageError as error:
            return f"imgpipe: {error}"
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return f"{got.shape} {got.dtype}, expected {expected.shape} {expected.dtype}"
        if got.tobytes() == expected.tobytes():
            return ""
        away = np.abs(got.astype(np.int64) - expected.astype(np.int64))
        self.different += np.count_nonzero(away)
        first = tuple(map(int, np.argwhere(away)[0]))
        return f"{np.count_nonzero(away)} of {away.size} samples, by up to {away.max()}, first at {first}"


def engine_name(engine):
    device, target = engine
    return f"cpu:{target}" if device == "cpu" else device


def engines_of(server, wanted):
    engines = [("reference", "best"), *(("cpu", target) for target in server.targets())]
    missing = server.why_no_cuda()
    if missing:
        print(f"SKIPPED: cuda: {missing}")
    else:
        engines.append(("cuda", "best"))
    named = {engine_name(engine): engine for engine in engines}
    return [named[name] for name in wanted] if wanted else engines


def compare_random(comparison, options, command):
    from pillow_cases import Case  # pylint: disable=import-outside-toplevel
    numbers = range(options.share, options.cases, options.jobs) if options.case is None else [options.case]
    for number in numbers:
        case = Case(options.seed, number)
        size = "x".join(map(str, case.image.size))
        comparison.compare(case.image, case.stages, case.expected,
                           f"{case.mode} {size}, {case.threads} threads: {command} --seed {options.seed} "
                           f"--case {number}", case.threads)
    return len(numbers)


def compare_files(comparison, options, command):
    from PIL import Image  # pylint: disable=import-outside-toplevel
    from pillow_cases import MODES, file_cases  # pylint: disable=import-outside-toplevel
    count = 0
    paths = sorted(path for path in options.corpus.rglob("*") if path.is_file())
    for path in paths[options.share::options.jobs]:
        try:
            with Image.open(path) as file:
                image = file.copy() if file.mode in MODES else file.convert("RGB")
        except Exception:  # pylint: disable=broad-except
            continue  # Pillow does not open it
        if image.width * image.height > 4_000_000:
            image = image.crop((0, 0, min(image.width, 2000), min(image.height, 2000)))
        count += 1
        for stages, expected in file_cases(image):
            comparison.compare(image, stages, expected, f"{path}: {command} --cases 0 --corpus {path.parent}")
    return count


def share_cases(jobs):
    """Runs this script once for each share; returns its exit code."""
    shares = [subprocess.Popen([sys.executable, __file__, *sys.argv[1:], "--share", str(share)])
              for share in range(jobs)]
    return max(share.wait() for share in shares)


def main():
    options = arguments()
    if options.version:
        return compare_versions(options)
    if options.jobs > 1 and "--share" not in sys.argv:
        return share_cases(options.jobs)
    try:
        from PIL import __version__ as pillow  # pylint: disable=import-outside-toplevel
    except ImportError as missing:
        print(f"SKIPPED: {missing}")
        return 77
    start = time.monotonic()
    server = StageServer(options.server)
    comparison = Comparison(server, engines_of(server, options.engine))
    command = f"{sys.executable} {os.path.relpath(__file__)} {options.server}"
    cases = compare_random(comparison, options, command)
    files = compare_files(comparison, options, command) if options.corpus else 0
    server.close()
    print(f"Pillow {pillow}: {cases} random cases and {files} files on {len(comparison.engines)} engines, "
          f"{comparison.runs} runs: {comparison.failed} problems, {comparison.different} of {comparison.samples} "
          f"samples different ({time.monotonic() - start:.0f} s)")
    return 1 if comparison.failed or not comparison.runs else 0


if __name__ == "__main__":
    sys.exit(main())
